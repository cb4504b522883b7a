package io.tercet.runtime;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A checked JSON text (RFC 8259): one flat list of tokens that know where their value ends. The whole text is checked here,
 * without recursion. Numbers and strings stay text, hence exact.
 */
final class JsonText {
    static final int NULL = 0;
    static final int FALSE = 1;
    static final int TRUE = 2;
    static final int NUMBER = 3;
    static final int STRING = 4;
    static final int ARRAY = 5;
    static final int OBJECT = 6;

    private static final int ESCAPED = 0x10;

    /** Characters of a name that are shown in a message. */
    private static final int SHOWN = 60;

    private final byte[] text;
    private final int start;
    private final int end;
    private int at;
    private int count;
    private byte[] kinds;
    /** Three for each token: its first byte, the byte after its last, and the token after its value. */
    private int[] places;

    JsonText(byte[] text, int start, int length, int depth) throws Asn1Exception {
        this.text = text;
        this.start = start;
        end = start + length;
        int room = Math.min(length / 4 + 1, 64);
        kinds = new byte[room];
        places = new int[3 * room];
        int bad = Text.invalidUtf8(text, start, length);
        if (bad >= 0) {
            throw fault(start + bad, "the text is not UTF-8");
        }
        at = start;
        // Strings with CONTAINING may have two levels.
        document(2 * Math.min(depth, 500) + 8);
    }

    // Tokens

    int kind(int token) {
        return kinds[token] & ~ESCAPED;
    }

    /** The token after a value. */
    int next(int token) {
        return places[3 * token + 2];
    }

    /** Whether a string is a name of ASCII characters. */
    boolean is(int token, byte[] name) {
        int begin = places[3 * token];
        return kinds[token] == STRING && Arrays.equals(text, begin, places[3 * token + 1], name, 0, name.length);
    }

    /** The characters of a number. */
    String raw(int token) {
        int begin = places[3 * token];
        return new String(text, begin, places[3 * token + 1] - begin, StandardCharsets.UTF_8);
    }

    /** The number of digits, if a token is a whole number of less than 19 digits; else -1. */
    int smallDigits(int token) {
        int begin = places[3 * token];
        int length = places[3 * token + 1] - begin;
        if (length > 18) {
            return -1;
        }
        for (int i = text[begin] == '-' ? 1 : 0; i < length; i++) {
            if (text[begin + i] < '0' || text[begin + i] > '9') {
                return -1;
            }
        }
        return length;
    }

    /** The value of such a number. */
    long small(int token, int length) {
        int begin = places[3 * token];
        boolean negative = text[begin] == '-';
        long value = 0;
        for (int i = negative ? 1 : 0; i < length; i++) {
            value = value * 10 + text[begin + i] - '0';
        }
        return negative ? -value : value;
    }

    /** The characters of a string. */
    String string(int token) {
        return (kinds[token] & ESCAPED) == 0 ? raw(token) : unescape(raw(token));
    }

    /** The bytes of pairs of hexadecimal digits; null if a string is something else. */
    byte @Nullable [] hex(int token) {
        byte[] digits = text;
        int begin = places[3 * token];
        int length = places[3 * token + 1] - begin;
        if ((kinds[token] & ESCAPED) != 0) {
            digits = string(token).getBytes(StandardCharsets.UTF_8);
            begin = 0;
            length = digits.length;
        }
        if (length % 2 != 0) {
            return null;
        }
        byte[] out = new byte[length / 2];
        for (int i = 0; i < out.length; i++) {
            int high = digit(digits[begin + 2 * i]);
            int low = digit(digits[begin + 2 * i + 1]);
            if ((high | low) < 0) {
                return null;
            }
            out[i] = (byte) (high << 4 | low);
        }
        return out;
    }

    private static int digit(byte c) {
        return c < 0 ? -1 : Character.digit(c, 16);
    }

    /** A fault at a token. */
    Asn1Exception fault(int token, ErrorKind kind, String detail) {
        int begin = places[3 * token] - (kind(token) == STRING ? 1 : 0);
        return fault(begin, kind == ErrorKind.TEXT ? detail : kind.message(), kind);
    }

    private Asn1Exception fault(int position, String detail) {
        return fault(position, detail, ErrorKind.TEXT);
    }

    private Asn1Exception fault(int position, String detail, ErrorKind kind) {
        int line = 1;
        int column = 1;
        for (int i = start; i < position; i++) {
            if (text[i] == '\n') {
                line++;
                column = 1;
            } else if ((text[i] & 0xC0) != 0x80) {
                column++;
            }
        }
        return Asn1Exception.text(kind, position - start, detail, line, column);
    }

    /** A name for a message, cut if it is long. */
    static String cut(String name) {
        if (name.codePointCount(0, name.length()) <= SHOWN) {
            return name;
        }
        return name.substring(0, name.offsetByCodePoints(0, SHOWN)) + "\u2026";
    }

    // The scanner

    private void document(int levels) throws Asn1Exception {
        int[] open = new int[Math.min(levels, 32)];
        int opened = 0;
        while (true) {
            int container = value();
            if (container >= 0) {
                if (opened >= levels) {
                    throw fault(at - 1, ErrorKind.DEPTH_LIMIT.message(), ErrorKind.DEPTH_LIMIT);
                }
                if (opened == open.length) {
                    open = Arrays.copyOf(open, Math.min(2 * opened, levels));
                }
                open[opened++] = container;
                if (!first(container)) {
                    continue;
                }
                opened--;
            }
            // After a value: close what ends here, or go on to the next item.
            while (true) {
                if (opened == 0) {
                    if (peek() >= 0) {
                        throw fault(at, "text after the value");
                    }
                    return;
                }
                if (!following(open[opened - 1])) {
                    break;
                }
                opened--;
            }
        }
    }

    /** Goes to the first item; returns whether there is none. */
    private boolean first(int container) throws Asn1Exception {
        boolean object = kinds[container] == OBJECT;
        if (peek() == (object ? '}' : ']')) {
            return close(container);
        }
        key(object);
        return false;
    }

    /** Goes to the next item; returns whether there is none. */
    private boolean following(int container) throws Asn1Exception {
        boolean object = kinds[container] == OBJECT;
        int c = peek();
        if (c == ',') {
            at++;
            key(object);
            return false;
        }
        if (c == (object ? '}' : ']')) {
            return close(container);
        }
        throw fault(at, object ? "`,` or `}` expected" : "`,` or `]` expected");
    }

    private boolean close(int container) {
        at++;
        places[3 * container + 1] = at;
        places[3 * container + 2] = count;
        return true;
    }

    private void key(boolean object) throws Asn1Exception {
        if (!object) {
            return;
        }
        if (peek() != '"') {
            throw fault(at, "the name of a member expected, in double quotation marks");
        }
        quoted();
        if (peek() != ':') {
            throw fault(at, "`:` expected");
        }
        at++;
    }

    /** The next byte that is not white space, or -1. */
    private int peek() {
        while (at < end) {
            byte c = text[at];
            if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
                return c & 0xFF;
            }
            at++;
        }
        return -1;
    }

    /** Reads a scalar and returns -1, or the first character of an array or object and returns its token. */
    private int value() throws Asn1Exception {
        int c = peek();
        switch (c) {
            case '{', '[' -> {
                push(c == '{' ? OBJECT : ARRAY, at, at + 1);
                at++;
                return count - 1;
            }
            case '"' -> quoted();
            case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> number();
            case 't' -> word("true", TRUE);
            case 'f' -> word("false", FALSE);
            case 'n' -> word("null", NULL);
            default -> throw fault(at, c < 0 ? "a value expected, but the text ends" : "a value expected");
        }
        return -1;
    }

    private void push(int kind, int begin, int stop) {
        if (count == kinds.length) {
            int room = (int) Math.min((long) count * 2, (end - start) / 2 + 2);
            kinds = Arrays.copyOf(kinds, Math.max(room, count + 1));
            places = Arrays.copyOf(places, 3 * kinds.length);
        }
        kinds[count] = (byte) kind;
        places[3 * count] = begin;
        places[3 * count + 1] = stop;
        places[3 * count + 2] = count + 1;
        count++;
    }

    private void word(String word, int kind) throws Asn1Exception {
        for (int i = 0; i < word.length(); i++) {
            if (at + i >= end || text[at + i] != word.charAt(i)) {
                throw fault(at, "a value expected");
            }
        }
        push(kind, at, at + word.length());
        at += word.length();
    }

    private int current() {
        return at < end ? text[at] : -1;
    }

    private int digits() {
        int begin = at;
        while (at < end && text[at] >= '0' && text[at] <= '9') {
            at++;
        }
        return at - begin;
    }

    private void someDigits() throws Asn1Exception {
        if (digits() == 0) {
            throw fault(at, "a digit expected");
        }
    }

    private void number() throws Asn1Exception {
        int begin = at;
        if (current() == '-') {
            at++;
        }
        boolean zero = current() == '0';
        int whole = digits();
        if (whole == 0) {
            throw fault(at, "a digit expected");
        }
        if (whole > 1 && zero) {
            throw fault(begin, "a number with superfluous zeros before it");
        }
        if (current() == '.') {
            at++;
            someDigits();
        }
        if (current() == 'e' || current() == 'E') {
            at++;
            if (current() == '+' || current() == '-') {
                at++;
            }
            someDigits();
        }
        push(NUMBER, begin, at);
    }

    private void quoted() throws Asn1Exception {
        int begin = ++at;
        int kind = STRING;
        while (true) {
            if (at >= end) {
                throw fault(begin - 1, "a string without end");
            }
            byte c = text[at];
            if (c == '"') {
                break;
            }
            if (c == '\\') {
                kind = STRING | ESCAPED;
                escape();
            } else if (c >= 0 && c < 0x20) {
                throw fault(at, "a control character in a string");
            } else {
                at++;
            }
        }
        push(kind, begin, at);
        at++;
    }

    /** Passes an escape; a low surrogate has to follow a high one. */
    private void escape() throws Asn1Exception {
        int c = at + 1 < end ? text[at + 1] : -1;
        if (c == 'u') {
            int unit = unit(at);
            if (unit < 0) {
                throw fault(at, "four hexadecimal digits expected");
            }
            boolean high = unit >= 0xD800 && unit < 0xDC00;
            boolean low = unit >= 0xDC00 && unit < 0xE000;
            int second = high ? unit(at + 6) : -1;
            if (low || high && (second < 0xDC00 || second >= 0xE000)) {
                throw fault(at, "half a surrogate pair");
            }
            at += high ? 12 : 6;
        } else if (c >= 0 && "\"\\/bfnrt".indexOf(c) >= 0) {
            at += 2;
        } else {
            throw fault(at, "an unknown escape");
        }
    }

    /** The number of an escape with four digits, or -1. */
    private int unit(int position) {
        if (position + 6 > end || text[position] != '\\' || text[position + 1] != 'u') {
            return -1;
        }
        int unit = 0;
        for (int i = 2; i < 6; i++) {
            int digit = digit(text[position + i]);
            if (digit < 0) {
                return -1;
            }
            unit = unit << 4 | digit;
        }
        return unit;
    }

    private static String unescape(String raw) {
        StringBuilder out = new StringBuilder(raw.length());
        for (int i = 0; i < raw.length(); i++) {
            char c = raw.charAt(i);
            if (c != '\\') {
                out.append(c);
                continue;
            }
            c = raw.charAt(++i);
            switch (c) {
                case 'b' -> out.append('\b');
                case 'f' -> out.append('\f');
                case 'n' -> out.append('\n');
                case 'r' -> out.append('\r');
                case 't' -> out.append('\t');
                case 'u' -> {
                    out.append((char) Integer.parseInt(raw, i + 1, i + 5, 16));
                    i += 4;
                }
                default -> out.append(c);
            }
        }
        return out.toString();
    }
}
