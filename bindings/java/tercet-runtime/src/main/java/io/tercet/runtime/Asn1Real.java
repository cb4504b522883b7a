package io.tercet.runtime;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;

/**
 * A REAL (X.680 clause 21) as it was encoded, so that it is written again by the same bytes.
 *
 * <p>Values of base 10 and of base 2 are not the same, whatever number they are; the way that either was encoded does not
 * matter. NOT-A-NUMBER is equal to itself, minus zero is not zero.
 */
public final class Asn1Real {
    /** Zero. */
    public static final Asn1Real ZERO = new Asn1Real(Octets.EMPTY);

    private static final long FARTHEST = 1L << 60;

    private final Octets contents;

    private Asn1Real(Octets contents) {
        this.contents = contents;
    }

    /**
     * Returns the value of base 2 that a {@code double} is, exactly.
     *
     * @param value the number
     * @return the value
     */
    public static Asn1Real of(double value) {
        if (value == 0) {
            return 1 / value < 0 ? special(0x43) : ZERO;
        }
        if (Double.isNaN(value)) {
            return special(0x42);
        }
        if (Double.isInfinite(value)) {
            return special(value < 0 ? 0x41 : 0x40);
        }
        long bits = Double.doubleToRawLongBits(value);
        long fraction = bits & (1L << 52) - 1;
        int biased = (int) (bits >> 52 & 0x7FF);
        long mantissa = biased == 0 ? fraction : fraction | 1L << 52;
        int exponent = biased == 0 ? -1074 : biased - 1075;
        return binary(value < 0, BigInteger.valueOf(mantissa), BigInteger.valueOf(exponent));
    }

    /**
     * Checks contents (X.690 8.5).
     *
     * @param contents the contents
     * @return the value
     * @throws Asn1Exception if they are not those of a REAL; the offset is zero
     */
    public static Asn1Real ofContents(Octets contents) throws Asn1Exception {
        return checked(contents, 0, true);
    }

    private static Asn1Real special(int octet) {
        return new Asn1Real(Octets.of((byte) octet));
    }

    /**
     * Returns the value of contents that are known. For generated code.
     *
     * @param contents the contents
     * @return the value
     */
    public static Asn1Real constant(Octets contents) {
        return new Asn1Real(contents);
    }

    /**
     * Returns the contents (X.690 8.5).
     *
     * @return the bytes
     */
    public Octets contents() {
        return contents;
    }

    /** Checks contents that start at an absolute offset; in DER and CER they have the normal form (11.3). */
    static Asn1Real checked(Octets contents, long offset, boolean ber) throws Asn1Exception {
        if (contents.isEmpty()) {
            return ZERO;
        }
        int first = contents.get(0) & 0xFF;
        if (first >= 0x80) {
            Binary.of(contents, offset, ber);
        } else if (first >= 1 && first <= 3) {
            checkDecimal(contents, offset, ber);
        } else if (first < 0x40 || first > 0x43 || contents.length() != 1) {
            throw Asn1Exception.at(ErrorKind.REAL_ENCODING, offset);
        }
        return new Asn1Real(contents);
    }

    /** A value of base 2, 8 or 16: mantissa times a power of two. */
    private record Binary(boolean negative, BigInteger mantissa, BigInteger exponent) {
        static Binary of(Octets contents, long offset, boolean ber) throws Asn1Exception {
            int first = contents.get(0) & 0xFF;
            int base = first >> 4 & 3;
            int at = 1;
            int length = (first & 3) + 1;
            boolean isLong = length == 4;
            if (isLong && contents.length() > 1) {
                length = contents.get(at++) & 0xFF;
            }
            if (base == 3 || length == 0 || contents.length() <= at + length) {
                throw Asn1Exception.at(ErrorKind.REAL_ENCODING, offset);
            }
            boolean padded = length > 1
                    && (contents.get(at) == 0 && contents.get(at + 1) >= 0
                            || contents.get(at) == -1 && contents.get(at + 1) < 0);
            if (isLong && padded) {
                throw Asn1Exception.at(ErrorKind.REAL_ENCODING, offset);
            }
            int start = contents.start() + at + length;
            int octets = contents.length() - at - length;
            BigInteger mantissa = new BigInteger(1, contents.array(), start, octets);
            if (mantissa.signum() == 0) {
                throw Asn1Exception.at(ErrorKind.REAL_ZERO, offset);
            }
            int scale = first >> 2 & 3;
            boolean canonical = base == 0
                    && scale == 0
                    && !padded
                    && (!isLong || length > 3)
                    && contents.get(at + length) != 0
                    && mantissa.testBit(0);
            if (!ber && !canonical) {
                throw Asn1Exception.at(ErrorKind.REAL_NOT_CANONICAL, offset);
            }
            BigInteger exponent = new BigInteger(contents.array(), contents.start() + at, length);
            if (exponent.abs().compareTo(BigInteger.valueOf(FARTHEST)) > 0) {
                throw Asn1Exception.at(ErrorKind.LIMIT_EXCEEDED, offset);
            }
            int log = base == 0 ? 1 : base == 1 ? 3 : 4;
            exponent = exponent.multiply(BigInteger.valueOf(log)).add(BigInteger.valueOf(scale));
            return new Binary((first & 0x40) != 0, mantissa, exponent);
        }

        /** Whether a {@code double} has the value exactly. */
        boolean isDouble() {
            int zeros = mantissa.getLowestSetBit();
            int bits = mantissa.bitLength();
            BigInteger low = exponent.add(BigInteger.valueOf(Math.max(zeros, 0)));
            BigInteger high = exponent.add(BigInteger.valueOf(bits));
            return bits > 0
                    && bits - zeros <= 53
                    && low.compareTo(BigInteger.valueOf(-1074)) >= 0
                    && high.compareTo(BigInteger.valueOf(1024)) <= 0;
        }

        double doubleValue() {
            int bits = mantissa.bitLength();
            BigInteger highest = exponent.add(BigInteger.valueOf(bits - 1));
            double magnitude;
            if (highest.compareTo(BigInteger.valueOf(1023)) > 0) {
                magnitude = Double.POSITIVE_INFINITY;
            } else if (highest.compareTo(BigInteger.valueOf(-1075)) < 0) {
                magnitude = 0;
            } else {
                int top = highest.intValue();
                int drop = bits - (top >= -1022 ? 53 : 53 - (-1022 - top));
                BigInteger rounded = mantissa.shiftRight(drop);
                if (drop > 0 && mantissa.testBit(drop - 1) && (mantissa.getLowestSetBit() < drop - 1 || rounded.testBit(0))) {
                    rounded = rounded.add(BigInteger.ONE);
                }
                magnitude = Math.scalb((double) rounded.longValue(), exponent.intValue() + drop);
            }
            return negative ? -magnitude : magnitude;
        }
    }

    /** The parts of a decimal number: sign, digits in front of and behind the mark, exponent with its sign. */
    private record Decimal(boolean negative, String whole, String fraction, String exponent) {
        static Decimal of(String number) {
            String text = number.replaceAll("^ +", "");
            boolean negative = text.startsWith("-");
            if (negative || text.startsWith("+")) {
                text = text.substring(1);
            }
            int e = Math.max(text.indexOf('e'), text.indexOf('E'));
            String exponent = e < 0 ? "" : text.substring(e + 1);
            String mantissa = e < 0 ? text : text.substring(0, e);
            int mark = Math.max(mantissa.indexOf('.'), mantissa.indexOf(','));
            return new Decimal(
                    negative,
                    mark < 0 ? mantissa : mantissa.substring(0, mark),
                    mark < 0 ? "" : mantissa.substring(mark + 1),
                    exponent);
        }
    }

    private static boolean areDigits(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return true;
    }

    private static String number(Octets contents) {
        return new String(contents.array(), contents.start() + 1, contents.length() - 1, StandardCharsets.ISO_8859_1);
    }

    private static void checkDecimal(Octets contents, long offset, boolean ber) throws Asn1Exception {
        int form = contents.get(0);
        String text = number(contents);
        Decimal decimal = Decimal.of(text);
        String digits = decimal.exponent.startsWith("+") || decimal.exponent.startsWith("-")
                ? decimal.exponent.substring(1)
                : decimal.exponent;
        boolean hasMark = text.indexOf('.') >= 0 || text.indexOf(',') >= 0;
        boolean hasExponent = text.indexOf('E') >= 0 || text.indexOf('e') >= 0;
        boolean valid = areDigits(decimal.whole)
                && areDigits(decimal.fraction)
                && areDigits(digits)
                && decimal.whole.length() + decimal.fraction.length() > 0
                && switch (form) {
                    case 1 -> !hasMark && !hasExponent;
                    case 2 -> hasMark && !hasExponent;
                    // ISO 6093 asks for the mark, and senders leave it out.
                    default -> hasExponent && !digits.isEmpty();
                };
        if (!valid) {
            throw Asn1Exception.at(ErrorKind.REAL_DECIMAL, offset);
        }
        if ((decimal.whole + decimal.fraction).chars().allMatch(c -> c == '0')) {
            throw Asn1Exception.at(ErrorKind.REAL_ZERO, offset);
        }
        boolean signed = text.startsWith("-") || text.startsWith("+");
        boolean canonical = form == 3
                && !decimal.whole.startsWith("0")
                && !decimal.whole.endsWith("0")
                && decimal.fraction.isEmpty()
                && text.contains(".E")
                && !text.startsWith(" ")
                && decimal.negative == signed
                && (decimal.exponent.equals("+0") || !decimal.exponent.startsWith("+") && !digits.startsWith("0"));
        if (!ber && !canonical) {
            throw Asn1Exception.at(ErrorKind.REAL_NOT_CANONICAL, offset);
        }
        if (!decimal.exponent.isEmpty() && !isNear(digits)) {
            throw Asn1Exception.at(ErrorKind.LIMIT_EXCEEDED, offset);
        }
    }

    private static boolean isNear(String digits) {
        String significant = digits.replaceAll("^0+", "");
        return significant.length() < 20
                && new BigInteger("0" + significant).compareTo(BigInteger.valueOf(FARTHEST)) <= 0;
    }

    /**
     * Returns the nearest {@code double}, ties to even.
     *
     * @return the number; infinite beyond the range
     */
    public double doubleValue() {
        if (contents.isEmpty()) {
            return 0;
        }
        int first = contents.get(0) & 0xFF;
        switch (first) {
            case 0x40 -> {
                return Double.POSITIVE_INFINITY;
            }
            case 0x41 -> {
                return Double.NEGATIVE_INFINITY;
            }
            case 0x42 -> {
                return Double.NaN;
            }
            case 0x43 -> {
                return -0.0;
            }
            default -> {
                return first < 0x40 ? Double.parseDouble(number(contents).trim().replace(',', '.')) : parts().doubleValue();
            }
        }
    }

    // Text

    /** Bits that a binary number with decimal digits has at most. */
    private static final int MOST_BITS = 20_000;

    /**
     * The value of a decimal number: of base 2 if a {@code double} prints the same digits, else of base 10. Null for a number
     * whose exponent is too large.
     */
    static @Nullable Asn1Real ofNumber(String text) {
        if (Decimals.isZero(text)) {
            return text.startsWith("-") ? special(0x43) : ZERO;
        }
        Decimals.Parts parts = Decimals.Parts.of(text);
        double near = Double.parseDouble(text);
        boolean finite = near != 0 && !Double.isInfinite(near);
        if (parts == null) {
            return null;
        }
        if (finite && parts.equals(Decimals.Parts.of(Decimals.shortest(near)))) {
            return of(near);
        }
        return ofDecimal(parts);
    }

    /** The value of base 10 of a decimal number. */
    static Asn1Real ofDecimal(String text) throws Asn1Exception {
        byte[] contents = ("\3" + text).getBytes(StandardCharsets.UTF_8);
        Octets octets = Octets.known(contents, 0, contents.length);
        Decimal decimal = Decimal.of(text);
        String digits = decimal.exponent.replaceFirst("^[+-]", "");
        boolean hasExponent = text.indexOf('E') >= 0 || text.indexOf('e') >= 0;
        boolean valid = areDigits(decimal.whole)
                && areDigits(decimal.fraction)
                && areDigits(digits)
                && !(hasExponent && digits.isEmpty())
                && decimal.whole.length() + decimal.fraction.length() > 0;
        if (!valid) {
            throw Asn1Exception.at(ErrorKind.REAL_DECIMAL, 0);
        }
        if (!digits.isEmpty() && !isNear(digits)) {
            throw Asn1Exception.at(ErrorKind.LIMIT_EXCEEDED, 0);
        }
        if (Decimals.isZero(text)) {
            return decimal.negative ? special(0x43) : ZERO;
        }
        return new Asn1Real(new Asn1Real(octets).normal());
    }

    private static @Nullable Asn1Real ofDecimal(Decimals.Parts parts) {
        return Math.abs(parts.exponent()) > FARTHEST
                ? null
                : new Asn1Real(new Asn1Real(Octets.of(("\3" + parts.scientific()).getBytes(StandardCharsets.UTF_8))).normal());
    }

    /** The value of base 2 with a mantissa and an exponent. */
    static Asn1Real ofBinary(BigInteger mantissa, long exponent) {
        return mantissa.signum() == 0
                ? ZERO
                : binary(mantissa.signum() < 0, mantissa.abs(), BigInteger.valueOf(exponent));
    }

    /** The special value in the words of JER; null for a number. */
    @Nullable String word() {
        if (contents.isEmpty()) {
            return null;
        }
        return switch (contents.get(0)) {
            case 0x40 -> "INF";
            case 0x41 -> "-INF";
            case 0x42 -> "NaN";
            case 0x43 -> "-0";
            default -> null;
        };
    }

    /** Whether the base is 10. */
    boolean isDecimal() {
        return !contents.isEmpty() && contents.get(0) >= 0 && contents.get(0) < 0x40;
    }

    /**
     * Returns the number in decimal digits, or the special value as JER has it: {@code INF}, {@code -INF}, {@code NaN}, {@code -0}.
     *
     * @return the text
     */
    public String text() {
        String word = word();
        return word == null ? number() : word;
    }

    /** A number as JSON has it (RFC 8259 clause 6); the parts of its associated type if it has too many digits. */
    String number() {
        if (contents.isEmpty()) {
            return "0";
        }
        if (isDecimal()) {
            Decimals.Parts parts = Decimals.Parts.of(number(contents));
            double near = doubleValue();
            if (parts == null) {
                return "0";
            }
            if (parts.digits().length() <= 17 && near != 0 && !Double.isInfinite(near)) {
                String text = Decimals.shortest(near);
                if (parts.equals(Decimals.Parts.of(text))) {
                    return text;
                }
            }
            return parts.scientific();
        }
        Binary parts = parts();
        if (parts.isDouble()) {
            return Decimals.shortest(parts.doubleValue());
        }
        BigInteger mantissa = parts.mantissa;
        if (mantissa.bitLength() > MOST_BITS || parts.exponent.abs().compareTo(BigInteger.valueOf(MOST_BITS)) > 0) {
            return "{\"mantissa\":" + (parts.negative ? "-" : "") + mantissa + ",\"base\":2,\"exponent\":" + parts.exponent + "}";
        }
        int power = parts.exponent.intValue();
        // n * 2^-e = n * 5^e * 10^-e
        BigInteger digits = power >= 0 ? mantissa.shiftLeft(power) : mantissa.multiply(BigInteger.valueOf(5).pow(-power));
        String text = (parts.negative ? "-" : "") + digits + (power < 0 ? "e" + power : "");
        Decimals.Parts found = Decimals.Parts.of(text);
        return found == null ? "0" : found.scientific();
    }

    private Binary parts() {
        try {
            return Binary.of(contents, 0, true);
        } catch (Asn1Exception fault) {
            throw new IllegalStateException(fault);
        }
    }

    /** The contents in the normal form (X.690 11.3), which all rules but BER have. */
    Octets normal() {
        if (contents.isEmpty() || (contents.get(0) & 0xC0) == 0x40) {
            return contents;
        }
        if (contents.get(0) < 0) {
            Binary parts = parts();
            return binary(parts.negative, parts.mantissa, parts.exponent).contents;
        }
        Decimal decimal = Decimal.of(number(contents));
        String digits = decimal.whole + decimal.fraction;
        String kept = digits.replaceAll("0+$", "");
        BigInteger exponent = (decimal.exponent.isEmpty() ? BigInteger.ZERO : new BigInteger(decimal.exponent))
                .subtract(BigInteger.valueOf(decimal.fraction.length()))
                .add(BigInteger.valueOf(digits.length() - kept.length()));
        String text = (char) 3
                + (decimal.negative ? "-" : "")
                + kept.replaceAll("^0+", "")
                + ".E"
                + (exponent.signum() == 0 ? "+" : "")
                + exponent;
        return Octets.of(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static Asn1Real binary(boolean negative, BigInteger mantissa, BigInteger exponent) {
        int zeros = mantissa.getLowestSetBit();
        byte[] digits = mantissa.shiftRight(zeros).toByteArray();
        int lead = digits[0] == 0 && digits.length > 1 ? 1 : 0;
        byte[] power = exponent.add(BigInteger.valueOf(zeros)).toByteArray();
        int form = Math.min(power.length, 4) - 1;
        int head = form == 3 ? 2 : 1;
        byte[] out = new byte[head + power.length + digits.length - lead];
        out[0] = (byte) (0x80 | (negative ? 0x40 : 0) | form);
        if (form == 3) {
            out[1] = (byte) power.length;
        }
        System.arraycopy(power, 0, out, head, power.length);
        System.arraycopy(digits, lead, out, head + power.length, digits.length - lead);
        return new Asn1Real(Octets.known(out, 0, out.length));
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Asn1Real real && (contents.equals(real.contents) || normal().equals(real.normal()));
    }

    @Override
    public int hashCode() {
        return normal().hashCode();
    }

    /** Returns the nearest number that a {@code double} has, or the special value in value notation. */
    @Override
    public String toString() {
        double value = doubleValue();
        if (Double.isNaN(value)) {
            return "NOT-A-NUMBER";
        }
        return Double.isInfinite(value) ? (value < 0 ? "MINUS-INFINITY" : "PLUS-INFINITY") : Double.toString(value);
    }
}
