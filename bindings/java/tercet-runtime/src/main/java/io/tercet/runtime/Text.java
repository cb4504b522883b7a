package io.tercet.runtime;

import java.nio.charset.StandardCharsets;

/**
 * Character strings (X.680 clause 41) as {@link String}.
 *
 * <p>Equipment sends characters that their type does not have. BER keeps them unless {@link Limits#strictText()} is set:
 * a byte that is not a character of the type becomes the lone low surrogate {@code U+DC00} plus the byte, which no valid text
 * has, and is written again as the same byte. All bytes of a time or OID-IRI that is not one are kept so. {@link #isMarked}
 * finds such text, {@link #shown} shows it. The other rules refuse it, in decoding and in encoding.
 */
public final class Text {
    private static final int UTF8 = 12;
    private static final int NUMERIC = 18;
    private static final int PRINTABLE = 19;
    private static final int IA5 = 22;
    private static final int VISIBLE = 26;
    private static final int UNIVERSAL = 28;
    private static final int BMP = 30;
    private static final int OID_IRI = 35;
    private static final int RELATIVE_OID_IRI = 36;

    private static final String NOTHING = "\uDD00";

    /** For each byte below 128 the types that have it. */
    private static final byte[] CLASSES = new byte[128];

    private static final int IS_NUMERIC = 1;
    private static final int IS_PRINTABLE = 2;
    private static final int IS_VISIBLE = 4;

    static {
        for (int c = 0; c < 128; c++) {
            boolean digit = c >= '0' && c <= '9';
            boolean letter = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z';
            int classes = digit || c == ' ' ? IS_NUMERIC : 0;
            classes |= digit || letter || " '()+,-./:=?".indexOf(c) >= 0 ? IS_PRINTABLE : 0;
            classes |= c >= 0x20 && c <= 0x7E ? IS_VISIBLE : 0;
            CLASSES[c] = (byte) classes;
        }
    }

    private Text() {}

    /**
     * Returns whether a text has bytes that are not characters of its type.
     *
     * @param text the text
     * @return whether it has
     */
    public static boolean isMarked(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (isEscape(text, i)) {
                return true;
            }
        }
        return text.equals(NOTHING);
    }

    /**
     * Returns a text in which each byte that is not a character of its type is the character with its number.
     *
     * @param text the text
     * @return the text without lone surrogates
     */
    public static String shown(String text) {
        if (!isMarked(text)) {
            return text;
        }
        StringBuilder out = new StringBuilder(text.equals(NOTHING) ? "" : text);
        for (int i = 0; i < out.length(); i++) {
            if (isEscape(text, i)) {
                out.setCharAt(i, (char) (text.charAt(i) & 0xFF));
            }
        }
        return out.toString();
    }

    /** Whether the character at an index is a lone low surrogate that stands for a byte. */
    private static boolean isEscape(String text, int index) {
        char c = text.charAt(index);
        return c >= 0xDC00 && c <= 0xDCFF && (index == 0 || !Character.isHighSurrogate(text.charAt(index - 1)));
    }

    /** The text of which every character stands for a byte; that of no bytes is another lone surrogate. */
    static String escape(Octets octets) {
        if (octets.isEmpty()) {
            return NOTHING;
        }
        char[] out = new char[octets.length()];
        for (int i = 0; i < out.length; i++) {
            out[i] = (char) (0xDC00 | octets.get(i) & 0xFF);
        }
        return new String(out);
    }

    /** The bytes of a text of which every character stands for one; null for other texts. */
    static byte @Nullable [] escaped(String text) {
        if (text.equals(NOTHING)) {
            return new byte[0];
        }
        byte[] out = new byte[text.length()];
        for (int i = 0; i < out.length; i++) {
            if (!isEscape(text, i)) {
                return null;
            }
            out[i] = (byte) text.charAt(i);
        }
        return out.length == 0 ? null : out;
    }

    /** Whether an encoding in BER may be constructed (X.690 8.23): not that of OID-IRI and RELATIVE-OID-IRI. */
    static boolean maySegment(int kind) {
        return kind != OID_IRI && kind != RELATIVE_OID_IRI;
    }

    private static int mask(int kind) {
        return switch (kind) {
            case NUMERIC -> IS_NUMERIC;
            case PRINTABLE -> IS_PRINTABLE;
            case VISIBLE -> IS_VISIBLE;
            default -> 0;
        };
    }

    /** Whether bytes are characters of the type that are all below 128; false if that takes longer to tell. */
    static boolean isPlain(int kind, byte[] octets, int start, int length) {
        switch (kind) {
            case UTF8, IA5 -> {
                int all = 0;
                for (int i = start; i < start + length; i++) {
                    all |= octets[i];
                }
                return all >= 0;
            }
            case NUMERIC, PRINTABLE, VISIBLE -> {
                int mask = mask(kind);
                int all = mask;
                for (int i = start; i < start + length; i++) {
                    all &= octets[i] < 0 ? 0 : CLASSES[octets[i]];
                }
                return (all & mask) != 0;
            }
            default -> {
                return false;
            }
        }
    }

    /** Puts a text into an array if its characters are of the type and all below 128; returns whether they are. */
    static boolean put(int kind, String text, byte[] out, int start) {
        int length = text.length();
        switch (kind) {
            case UTF8, IA5 -> {
                int all = 0;
                for (int i = 0; i < length; i++) {
                    char c = text.charAt(i);
                    out[start + i] = (byte) c;
                    all |= c;
                }
                return all < 128;
            }
            case NUMERIC, PRINTABLE, VISIBLE -> {
                int mask = mask(kind);
                int all = mask;
                for (int i = 0; i < length; i++) {
                    char c = text.charAt(i);
                    out[start + i] = (byte) c;
                    all &= c < 128 ? CLASSES[c] : 0;
                }
                return (all & mask) != 0;
            }
            default -> {
                return false;
            }
        }
    }

    private static boolean isAllowed(int kind, byte octet) {
        return switch (kind) {
            case NUMERIC, PRINTABLE, VISIBLE -> octet >= 0 && (CLASSES[octet] & mask(kind)) != 0;
            case IA5 -> octet >= 0;
            default -> true;
        };
    }

    /** The text of contents that start at an absolute offset. */
    static String decode(int kind, byte[] octets, int start, int length, long offset) throws Asn1Exception {
        switch (kind) {
            case UTF8, OID_IRI, RELATIVE_OID_IRI -> {
                int bad = invalidUtf8(octets, start, length);
                if (bad >= 0) {
                    throw Asn1Exception.at(ErrorKind.UTF8_INVALID, offset + bad);
                }
                String text = new String(octets, start, length, StandardCharsets.UTF_8);
                if (kind != UTF8) {
                    checkIri(text, kind == OID_IRI, offset);
                }
                return text;
            }
            case BMP -> {
                if (length % 2 != 0) {
                    throw Asn1Exception.at(ErrorKind.CHARACTER_TRUNCATED, offset + length);
                }
                String text = new String(octets, start, length, StandardCharsets.UTF_16BE);
                int bad = loneSurrogate(octets, start, length);
                if (bad >= 0) {
                    throw Asn1Exception.at(ErrorKind.CHARACTER_INVALID, offset + bad);
                }
                return text;
            }
            case UNIVERSAL -> {
                if (length % 4 != 0) {
                    throw Asn1Exception.at(ErrorKind.CHARACTER_TRUNCATED, offset + length);
                }
                StringBuilder out = new StringBuilder(length / 4);
                for (int i = 0; i < length; i += 4) {
                    int c = scalar(octets, start + i);
                    if (c < 0) {
                        throw Asn1Exception.at(ErrorKind.CHARACTER_INVALID, offset + i);
                    }
                    out.appendCodePoint(c);
                }
                return out.toString();
            }
            default -> {
                for (int i = 0; i < length; i++) {
                    if (!isAllowed(kind, octets[start + i])) {
                        throw Asn1Exception.at(ErrorKind.CHARACTER_INVALID, offset + i);
                    }
                }
                return new String(octets, start, length, StandardCharsets.ISO_8859_1);
            }
        }
    }

    /** The text of a time, which has to be UTF-8 before anything else is checked. */
    static String timeText(Octets contents, long offset) throws Asn1Exception {
        int bad = invalidUtf8(contents.array(), contents.start(), contents.length());
        if (bad >= 0) {
            throw Asn1Exception.at(ErrorKind.TIME_SYNTAX, offset + bad);
        }
        return new String(contents.array(), contents.start(), contents.length(), StandardCharsets.UTF_8);
    }

    private static int unit(byte[] octets, int at) {
        return (octets[at] & 0xFF) << 8 | octets[at + 1] & 0xFF;
    }

    private static int scalar(byte[] octets, int at) {
        int c = unit(octets, at) << 16 | unit(octets, at + 2);
        return c < 0 || c > 0x10FFFF || c >= 0xD800 && c <= 0xDFFF ? -1 : c;
    }

    private static int loneSurrogate(byte[] octets, int start, int length) {
        for (int i = 0; i < length; i += 2) {
            int unit = unit(octets, start + i);
            if (unit >= 0xD800 && unit <= 0xDFFF) {
                boolean pair = unit < 0xDC00
                        && i + 4 <= length
                        && unit(octets, start + i + 2) >= 0xDC00
                        && unit(octets, start + i + 2) <= 0xDFFF;
                if (!pair) {
                    return i;
                }
                i += 2;
            }
        }
        return -1;
    }

    /** The index of the first byte that is not part of a character in UTF-8, or -1. */
    static int invalidUtf8(byte[] octets, int start, int length) {
        for (int i = 0; i < length; ) {
            int size = utf8Size(octets, start + i, start + length);
            if (size == 0) {
                return i;
            }
            i += size;
        }
        return -1;
    }

    /** The bytes of the character at a position, or 0 if there is none. */
    private static int utf8Size(byte[] octets, int at, int end) {
        int first = octets[at];
        if (first >= 0) {
            return 1;
        }
        first &= 0xFF;
        int size = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
        if (size == 0 || at + size > end) {
            return 0;
        }
        int second = octets[at + 1] & 0xFF;
        int least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
        int most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
        if (second < least || second > most) {
            return 0;
        }
        for (int i = 2; i < size; i++) {
            if ((octets[at + i] & 0xC0) != 0x80) {
                return 0;
            }
        }
        return size;
    }

    /** The text of contents that are not all characters of the type. */
    static String keep(int kind, Octets octets) {
        byte[] array = octets.array();
        int start = octets.start();
        int end = start + octets.length();
        StringBuilder out = new StringBuilder(octets.length());
        switch (kind) {
            case OID_IRI, RELATIVE_OID_IRI -> {
                return escape(octets);
            }
            case UTF8 -> {
                for (int i = start; i < end; ) {
                    int size = utf8Size(array, i, end);
                    if (size == 0) {
                        out.append((char) (0xDC00 | array[i++] & 0xFF));
                    } else {
                        out.append(new String(array, i, size, StandardCharsets.UTF_8));
                        i += size;
                    }
                }
            }
            case BMP, UNIVERSAL -> {
                int unit = kind == BMP ? 2 : 4;
                for (int i = start; i < end; ) {
                    int left = Math.min(unit, end - i);
                    boolean whole = left == unit
                            && (kind == BMP ? unit(array, i) < 0xD800 || unit(array, i) > 0xDFFF : scalar(array, i) >= 0);
                    boolean pair = kind == BMP && end - i >= 4 && loneSurrogate(array, i, 4) < 0;
                    if (pair && !whole) {
                        out.append((char) unit(array, i)).append((char) unit(array, i + 2));
                        left = 4;
                    } else if (whole) {
                        out.appendCodePoint(kind == BMP ? unit(array, i) : scalar(array, i));
                    } else {
                        for (int k = 0; k < left; k++) {
                            out.append((char) (0xDC00 | array[i + k] & 0xFF));
                        }
                    }
                    i += left;
                }
            }
            default -> {
                for (int i = start; i < end; i++) {
                    out.append((char) (isAllowed(kind, array[i]) ? array[i] & 0xFF : 0xDC00 | array[i] & 0xFF));
                }
            }
        }
        return out.toString();
    }

    /** The contents of a text; lone surrogates that stand for bytes are those bytes where {@code kept} says so. */
    static byte[] encode(int kind, String text, boolean kept) throws Asn1Exception {
        if ((kind == OID_IRI || kind == RELATIVE_OID_IRI) && kept) {
            byte[] octets = escaped(text);
            if (octets != null) {
                return octets;
            }
        }
        int length = text.length();
        java.io.ByteArrayOutputStream out = new java.io.ByteArrayOutputStream(length + length / 2);
        long at = 0;
        for (int i = 0; i < length; ) {
            int c = text.codePointAt(i);
            if (c >= 0xD800 && c <= 0xDFFF) {
                if (!kept || c < 0xDC00 || c > 0xDCFF) {
                    throw Asn1Exception.at(ErrorKind.CHARACTER_INVALID, at);
                }
                out.write(c);
            } else {
                put(kind, c, out, at);
            }
            i += Character.charCount(c);
            at += c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        }
        if (kind == OID_IRI || kind == RELATIVE_OID_IRI) {
            checkIri(text, kind == OID_IRI, 0);
        }
        return out.toByteArray();
    }

    private static void put(int kind, int c, java.io.ByteArrayOutputStream out, long at) throws Asn1Exception {
        switch (kind) {
            case UTF8, OID_IRI, RELATIVE_OID_IRI -> {
                if (c < 0x80) {
                    out.write(c);
                } else {
                    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
                    out.write(0xF00 >> more + 1 & 0xFF | c >> 6 * more);
                    for (int i = more - 1; i >= 0; i--) {
                        out.write(0x80 | c >> 6 * i & 0x3F);
                    }
                }
            }
            case BMP -> {
                for (char unit : Character.toChars(c)) {
                    out.write(unit >> 8);
                    out.write(unit);
                }
            }
            case UNIVERSAL -> {
                for (int shift = 24; shift >= 0; shift -= 8) {
                    out.write(c >> shift);
                }
            }
            default -> {
                if (c > 0xFF || !isAllowed(kind, (byte) c)) {
                    throw Asn1Exception.at(ErrorKind.CHARACTER_INVALID, at);
                }
                out.write(c);
            }
        }
    }

    /** Arcs between slashes: integers without leading zeros, or labels of unreserved characters (X.660 7.5). */
    private static void checkIri(String text, boolean absolute, long offset) throws Asn1Exception {
        if (absolute && !text.startsWith("/")) {
            throw Asn1Exception.at(ErrorKind.OID_IRI_SYNTAX, offset);
        }
        long at = absolute ? 1 : 0;
        for (String arc : text.substring((int) at).split("/", -1)) {
            boolean number = arc.chars().allMatch(c -> c >= '0' && c <= '9');
            boolean bad = arc.isEmpty()
                    || number && arc.length() > 1 && arc.charAt(0) == '0'
                    || arc.startsWith("-")
                    || arc.endsWith("-")
                    || !arc.codePoints().allMatch(Text::isLabel);
            if (bad) {
                throw Asn1Exception.at(ErrorKind.OID_IRI_SYNTAX, offset + at);
            }
            at += arc.getBytes(StandardCharsets.UTF_8).length + 1;
        }
    }

    private static boolean isLabel(int c) {
        return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || "-._~".indexOf(c) >= 0 || c >= 0xA0;
    }
}
