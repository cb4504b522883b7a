package io.tercet.runtime;

import java.nio.charset.StandardCharsets;

/** UTCTime and GeneralizedTime (X.680 clauses 47 and 46) as their text, checked. */
final class Times {
    private final Octets text;
    private final long offset;
    private final ErrorKind kind;
    private int pos;

    private Times(Octets text, long offset, ErrorKind kind) {
        this.text = text;
        this.offset = offset;
        this.kind = kind;
    }

    /** Checks a UTCTime: {@code YYMMDDhhmm[ss](Z|(+|-)hhmm)}, in the canonical form (X.690 11.8) if that is asked for. */
    static String utc(Octets text, long offset, boolean canonical) throws Asn1Exception {
        Times p = new Times(text, offset, ErrorKind.UTC_TIME_SYNTAX);
        int year = p.two(0, 99);
        int month = p.two(1, 12);
        // A century is not known; 2000 is the one of the two likely ones with a leap day in year 00.
        p.two(1, daysIn(2000 + year, month));
        p.two(0, 23);
        p.two(0, 59);
        boolean seconds = p.isDigit();
        if (seconds) {
            p.two(0, 59);
        }
        int zone = p.zone(false);
        p.finish();
        if (zone == LOCAL) {
            throw p.error();
        }
        if (canonical && (!seconds || zone != UTC)) {
            throw Asn1Exception.at(ErrorKind.UTC_TIME_NOT_CANONICAL, offset);
        }
        return string(text);
    }

    /**
     * Checks a GeneralizedTime: {@code YYYYMMDDhh[mm[ss]][.f](|Z|(+|-)hh[mm])}, in the canonical form (X.690 11.7) if that is
     * asked for.
     */
    static String generalized(Octets text, long offset, boolean canonical) throws Asn1Exception {
        Times p = new Times(text, offset, ErrorKind.GENERALIZED_TIME_SYNTAX);
        int year = p.two(0, 99) * 100 + p.two(0, 99);
        int month = p.two(1, 12);
        p.two(1, daysIn(year, month));
        int hourAt = p.pos;
        int hour = p.two(0, 24);
        int rest = 0;
        boolean seconds = false;
        if (p.isDigit()) {
            rest = p.two(0, 59);
            if (p.isDigit()) {
                rest |= p.two(0, 60);
                seconds = true;
            }
        }
        int mark = p.peek();
        boolean trailingZero = false;
        if (mark == '.' || mark == ',') {
            p.pos++;
            int first = p.pos;
            while (p.isDigit()) {
                rest |= p.peek() - '0';
                trailingZero = p.peek() == '0';
                p.pos++;
            }
            if (p.pos == first) {
                throw p.error();
            }
        }
        int zone = p.zone(true);
        p.finish();
        if (hour == 24 && rest != 0) {
            p.pos = hourAt;
            throw p.error();
        }
        if (canonical && (!seconds || zone != UTC || mark == ',' || hour == 24 || trailingZero)) {
            throw Asn1Exception.at(ErrorKind.GENERALIZED_TIME_NOT_CANONICAL, offset);
        }
        return string(text);
    }

    /** The text with a full stop as decimal mark and no zeros at the end of the fraction (X.690 11.7). */
    static String canonicalFraction(String text) {
        int mark = Math.max(text.indexOf('.'), text.indexOf(','));
        if (mark < 0) {
            return text;
        }
        int end = mark + 1;
        while (end < text.length() && Character.isDigit(text.charAt(end))) {
            end++;
        }
        int last = end;
        while (text.charAt(last - 1) == '0') {
            last--;
        }
        String fraction = last == mark + 1 ? "" : "." + text.substring(mark + 1, last);
        return text.substring(0, mark) + fraction + text.substring(end);
    }

    private static final int LOCAL = 0;
    private static final int UTC = 1;
    private static final int OFFSET = 2;

    private static String string(Octets text) {
        return new String(text.array(), text.start(), text.length(), StandardCharsets.ISO_8859_1);
    }

    /** The days of a month in the Gregorian calendar. */
    static int daysIn(int year, int month) {
        return switch (month) {
            case 4, 6, 9, 11 -> 30;
            case 2 -> year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
            default -> 31;
        };
    }

    private Asn1Exception error() {
        return Asn1Exception.at(kind, offset + pos);
    }

    private int peek() {
        return pos < text.length() ? text.get(pos) & 0xFF : -1;
    }

    private boolean isDigit() {
        return peek() >= '0' && peek() <= '9';
    }

    private int digit() throws Asn1Exception {
        if (!isDigit()) {
            throw error();
        }
        int digit = peek() - '0';
        pos++;
        return digit;
    }

    private int two(int least, int most) throws Asn1Exception {
        int start = pos;
        int value = digit() * 10 + digit();
        if (value < least || value > most) {
            pos = start;
            throw error();
        }
        return value;
    }

    private int zone(boolean shortOffset) throws Asn1Exception {
        int sign = peek();
        if (sign < 0) {
            return LOCAL;
        }
        if (sign != 'Z' && sign != '+' && sign != '-') {
            throw error();
        }
        pos++;
        if (sign == 'Z') {
            return UTC;
        }
        two(0, 23);
        if (!shortOffset || peek() >= 0) {
            two(0, 59);
        }
        return OFFSET;
    }

    private void finish() throws Asn1Exception {
        if (pos != text.length()) {
            throw error();
        }
    }
}
