package io.tercet.runtime;

import java.nio.charset.StandardCharsets;

/** TIME, DATE, TIME-OF-DAY, DATE-TIME and DURATION (X.680 clause 38). */
final class IsoTimes {
    private static final int TIME = 14;
    private static final int DATE = 31;
    private static final int TIME_OF_DAY = 32;
    private static final int DATE_TIME = 33;

    private final String text;
    private final long offset;
    private int pos;
    // What DER and CER write differently (X.690 11.9).
    private boolean comma;
    private final int[] zeroMinutes = {-1, -1};

    private IsoTimes(String text, long offset) {
        this.text = text;
        this.offset = offset;
    }

    /** The value notation of the types that have one form, 0 for a digit. */
    private static @Nullable String pattern(int kind) {
        return switch (kind) {
            case DATE -> "0000-00-00";
            case TIME_OF_DAY -> "00:00:00";
            case DATE_TIME -> "0000-00-00T00:00:00";
            default -> null;
        };
    }

    /** The value notation for contents that start at an absolute offset. */
    static String decode(int kind, Octets contents, long offset, boolean canonical) throws Asn1Exception {
        String text = Text.timeText(contents, offset);
        String pattern = pattern(kind);
        if (pattern == null) {
            // The P of a DURATION is not in the contents.
            String whole = kind == TIME ? text : "P" + text;
            IsoTimes form = check(kind, whole, kind == TIME ? offset : Math.max(0, offset - 1));
            if (canonical && !form.isCanonical()) {
                throw Asn1Exception.at(ErrorKind.TIME_NOT_CANONICAL, offset);
            }
            return whole;
        }
        StringBuilder out = new StringBuilder(pattern.length());
        int at = 0;
        for (int i = 0; i < pattern.length(); i++) {
            if (pattern.charAt(i) != '0') {
                out.append(pattern.charAt(i));
            } else if (at < text.length()) {
                int c = text.codePointAt(at);
                out.appendCodePoint(c);
                at += Character.charCount(c);
            } else {
                throw Asn1Exception.at(ErrorKind.TIME_SYNTAX, offset + contents.length());
            }
        }
        if (at < text.length()) {
            int rest = text.substring(at).getBytes(StandardCharsets.UTF_8).length;
            throw Asn1Exception.at(ErrorKind.TIME_SYNTAX, offset + contents.length() - rest);
        }
        try {
            check(kind, out.toString(), offset);
        } catch (Asn1Exception fault) {
            throw Asn1Exception.at(ErrorKind.TIME_SYNTAX, offset);
        }
        return out.toString();
    }

    /** The contents for the text of a value; in DER and CER in the form of X.690 11.9. */
    static byte[] encode(int kind, String text, boolean canonical) throws Asn1Exception {
        String pattern = pattern(kind);
        StringBuilder out = new StringBuilder(text.length());
        if (pattern != null) {
            boolean fits = text.length() == pattern.length();
            for (int i = 0; fits && i < pattern.length(); i++) {
                char c = text.charAt(i);
                fits = pattern.charAt(i) == '0' ? c >= '0' && c <= '9' : c == pattern.charAt(i);
                out.append(pattern.charAt(i) == '0' ? String.valueOf(c) : "");
            }
            if (!fits) {
                throw Asn1Exception.at(ErrorKind.TIME_SYNTAX, 0);
            }
            check(kind, text, 0);
        } else {
            IsoTimes form = check(kind, text, 0);
            for (int i = kind == TIME ? 0 : 1; i < text.length(); i++) {
                boolean cut = false;
                for (int at : form.zeroMinutes) {
                    cut |= canonical && at >= 0 && i >= at && i < at + 3;
                }
                char c = text.charAt(i);
                if (!cut) {
                    out.append(canonical && c == ',' ? '.' : c);
                }
            }
        }
        return out.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static IsoTimes check(int kind, String text, long offset) throws Asn1Exception {
        IsoTimes p = new IsoTimes(text, offset);
        if (kind == TIME || pattern(kind) != null) {
            p.whole();
        } else {
            p.duration();
        }
        p.require(p.pos == text.length());
        return p;
    }

    private boolean isCanonical() {
        return !comma && zeroMinutes[0] < 0;
    }

    private void whole() throws Asn1Exception {
        boolean recurring = eat('R');
        if (recurring) {
            run();
            require(eat('/'));
        }
        boolean first = intervalPart();
        if (eat('/')) {
            boolean second = intervalPart();
            require(!first || !second);
        } else {
            require(!recurring || first);
        }
    }

    private void require(boolean condition) throws Asn1Exception {
        if (!condition) {
            throw Asn1Exception.at(ErrorKind.TIME_SYNTAX, offset + pos);
        }
    }

    private int peek() {
        return peek(0);
    }

    private int peek(int further) {
        return pos + further < text.length() ? text.charAt(pos + further) : -1;
    }

    private boolean eat(char c) {
        boolean there = peek() == c;
        pos += there ? 1 : 0;
        return there;
    }

    private static boolean isDigit(int c) {
        return c >= '0' && c <= '9';
    }

    private int digits() {
        int count = 0;
        while (isDigit(peek(count))) {
            count++;
        }
        return count;
    }

    private int run() {
        int count = digits();
        pos += count;
        return count;
    }

    private int number(int length, int least, int most) throws Asn1Exception {
        require(digits() >= length);
        int value = 0;
        for (int i = 0; i < length; i++) {
            value = value * 10 + peek(i) - '0';
        }
        require(value >= least && value <= most);
        pos += length;
        return value;
    }

    private boolean fraction() throws Asn1Exception {
        boolean isComma = peek() == ',';
        if (!isComma && peek() != '.') {
            return false;
        }
        comma |= isComma;
        pos++;
        int some = run();
        require(some > 0);
        return true;
    }

    /** A point in time or a duration; tells whether it was a duration. */
    private boolean intervalPart() throws Asn1Exception {
        if (peek() == 'P') {
            duration();
            return true;
        }
        boolean signed = peek() == '+' || peek() == '-';
        if (!signed && digits() == 2 && peek(2) != 'C') {
            time();
        } else {
            date();
            if (eat('T')) {
                time();
            }
        }
        return false;
    }

    /** {@code YYYY}, {@code YYYY-MM}, {@code YYYY-MM-DD}, {@code YYYY-DDD}, {@code YYYY-Www}, {@code YYYY-Www-D}, {@code YYC}. */
    private void date() throws Asn1Exception {
        boolean signed = eat('+') || eat('-');
        int count = digits();
        boolean century = peek(count) == 'C';
        int least = century ? 2 : 4;
        require(count == least || signed && count > least);
        pos += count + (century ? 1 : 0);
        if (century) {
            return;
        }
        // The calendar repeats after 400 years, so that four digits tell the leap years.
        int year = Integer.parseInt(text.substring(pos - 4, pos));
        if (!eat('-')) {
            return;
        }
        if (eat('W')) {
            number(2, 1, 53);
            if (eat('-')) {
                number(1, 1, 7);
            }
        } else if (digits() == 3) {
            number(3, 1, Times.daysIn(year, 2) == 29 ? 366 : 365);
        } else {
            int month = number(2, 1, 12);
            if (eat('-')) {
                number(2, 1, Times.daysIn(year, month));
            }
        }
    }

    /** {@code hh[:mm[:ss]][.f](|Z|(+|-)hh[:mm])}. */
    private void time() throws Asn1Exception {
        int start = pos;
        int hour = number(2, 0, 24);
        if (eat(':')) {
            number(2, 0, 59);
            if (eat(':')) {
                number(2, 0, 60);
            }
        }
        fraction();
        if (hour == 24) {
            for (int i = start + 2; i < pos; i++) {
                require("0:.,".indexOf(text.charAt(i)) >= 0);
            }
        }
        if (!eat('Z') && (eat('+') || eat('-'))) {
            number(2, 0, 23);
            int colon = pos;
            if (eat(':') && number(2, 0, 59) == 0) {
                zeroMinutes[zeroMinutes[0] < 0 ? 0 : 1] = colon;
            }
        }
    }

    /** Units in order, each at most once, one at least; a fraction in the last only. */
    private void duration() throws Asn1Exception {
        require(eat('P'));
        String units = "YMWD";
        boolean some = false;
        boolean inTime = false;
        boolean weeks = false;
        while (true) {
            if (peek() == 'T' && !inTime) {
                pos++;
                inTime = true;
                units = "HMS";
                require(isDigit(peek()));
            }
            if (digits() == 0) {
                break;
            }
            require(!weeks);
            run();
            boolean fraction = fraction();
            int place = peek() < 0 ? -1 : units.indexOf(peek());
            require(place >= 0);
            weeks = peek() == 'W';
            require(!weeks || !some);
            units = units.substring(place + 1);
            pos++;
            some = true;
            if (fraction) {
                break;
            }
        }
        require(some);
    }
}
