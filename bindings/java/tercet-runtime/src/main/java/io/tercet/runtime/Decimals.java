package io.tercet.runtime;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/** Numbers as decimal digits. */
final class Decimals {
    /** Digits that an integer has at most. */
    private static final int MOST_DIGITS = 1_000_000;

    /** Numbers of fewer digits are converted by the library, which takes quadratic time. */
    private static final int DIRECT_DIGITS = 1024;

    /** Zeros that an exponent adds at most. */
    private static final int MOST_ZEROS = 1000;

    /** Powers of ten between which a {@code double} is written without an exponent. */
    private static final int LEAST_FIXED = -5;

    private static final int MOST_FIXED = 15;

    private Decimals() {}

    /** A number other than zero: sign, digits without zeros at either end, and power of ten. */
    record Parts(boolean negative, String digits, long exponent) {
        /** The parts of a number; null for zero, for an exponent beyond 64 bits, and for text that is not a number. */
        static @Nullable Parts of(String number) {
            String text = number.startsWith(" ") ? number.replaceAll("^ +", "") : number;
            boolean negative = text.startsWith("-");
            if (negative || text.startsWith("+")) {
                text = text.substring(1);
            }
            int e = Math.max(text.indexOf('e'), text.indexOf('E'));
            String mantissa = e < 0 ? text : text.substring(0, e);
            int mark = Math.max(mantissa.indexOf('.'), mantissa.indexOf(','));
            String fraction = mark < 0 ? "" : mantissa.substring(mark + 1);
            String digits = mark < 0 ? mantissa : mantissa.substring(0, mark) + fraction;
            if (digits.isEmpty() || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
                return null;
            }
            int last = digits.length();
            while (last > 0 && digits.charAt(last - 1) == '0') {
                last--;
            }
            int first = 0;
            while (first < last && digits.charAt(first) == '0') {
                first++;
            }
            if (first == last) {
                return null;
            }
            try {
                long exponent = e < 0 ? 0 : Long.parseLong(text.substring(e + 1));
                exponent = Math.subtractExact(exponent, fraction.length());
                exponent = Math.addExact(exponent, digits.length() - last);
                return new Parts(negative, digits.substring(first, last), exponent);
            } catch (NumberFormatException | ArithmeticException fault) {
                return null;
            }
        }

        String scientific() {
            return (negative ? "-" : "") + digits + (exponent == 0 ? "" : "e" + exponent);
        }
    }

    /** An integer without superfluous zeros; null for other text, and for more digits than a million. */
    static @Nullable BigInteger integer(String text) {
        String digits = text.startsWith("-") ? text.substring(1) : text;
        boolean superfluous = digits.length() > 1 && digits.startsWith("0");
        if (digits.isEmpty() || superfluous || digits.length() > MOST_DIGITS) {
            return null;
        }
        if (!digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
            return null;
        }
        BigInteger number = number(digits);
        return text.startsWith("-") ? number.negate() : number;
    }

    /** An integer as a JSON number: {@code 1.0} and {@code 1e2} are integers too; null if a number is none. */
    static @Nullable BigInteger whole(String text) {
        BigInteger integer = integer(text);
        if (integer != null) {
            return integer;
        }
        if (isZero(text)) {
            return BigInteger.ZERO;
        }
        Parts parts = Parts.of(text);
        if (parts == null || parts.exponent < 0 || parts.exponent > MOST_ZEROS) {
            return null;
        }
        return integer((parts.negative ? "-" : "") + parts.digits + "0".repeat((int) parts.exponent));
    }

    /** Whether a number has no digit but zero in front of its exponent. */
    static boolean isZero(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == 'e' || c == 'E') {
                break;
            }
            if (c >= '1' && c <= '9') {
                return false;
            }
        }
        return true;
    }

    /** Splits by powers of ten, so that a million digits take no quadratic time. */
    private static BigInteger number(String digits) {
        if (digits.length() <= DIRECT_DIGITS) {
            return new BigInteger(digits);
        }
        int low = digits.length() / 2;
        BigInteger high = number(digits.substring(0, digits.length() - low));
        return high.multiply(BigInteger.TEN.pow(low)).add(number(digits.substring(digits.length() - low)));
    }

    /** The fewest digits that are read as a finite number again, with a power of ten where it is far from one. */
    static String shortest(double value) {
        if (value == 0) {
            return 1 / value < 0 ? "-0.0" : "0.0";
        }
        BigDecimal exact = new BigDecimal(Math.abs(value));
        BigDecimal found = exact;
        for (int size = 1; size <= 17; size++) {
            BigDecimal near = nearest(exact, size, Math.abs(value));
            if (near != null) {
                found = near.stripTrailingZeros();
                break;
            }
        }
        String digits = found.unscaledValue().toString();
        int power = digits.length() - 1 - found.scale();
        StringBuilder out = new StringBuilder(value < 0 ? "-" : "");
        if (power < LEAST_FIXED || power > MOST_FIXED) {
            out.append(digits.charAt(0));
            if (digits.length() > 1) {
                out.append('.').append(digits, 1, digits.length());
            }
            return out.append(power < 0 ? "e" : "e+").append(power).toString();
        }
        if (power < 0) {
            return out.append("0.").append("0".repeat(-power - 1)).append(digits).toString();
        }
        if (digits.length() <= power + 1) {
            return out.append(digits).append("0".repeat(power + 1 - digits.length())).append(".0").toString();
        }
        return out.append(digits, 0, power + 1).append('.').append(digits, power + 1, digits.length()).toString();
    }

    /** The nearest number of so many digits that is read as the value; null if there is none. */
    private static @Nullable BigDecimal nearest(BigDecimal exact, int size, double value) {
        BigDecimal below = exact.round(new MathContext(size, RoundingMode.DOWN));
        BigDecimal above = exact.round(new MathContext(size, RoundingMode.UP));
        boolean isBelow = below.doubleValue() == value;
        boolean isAbove = above.doubleValue() == value;
        if (isBelow && isAbove) {
            return exact.round(new MathContext(size, RoundingMode.HALF_EVEN));
        }
        return isBelow ? below : isAbove ? above : null;
    }
}
