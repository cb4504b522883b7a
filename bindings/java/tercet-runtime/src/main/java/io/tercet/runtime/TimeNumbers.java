package io.tercet.runtime;

/** The numbers in the text of a time of X.680 clause 38: what PER (X.691 clause 32) and OER (X.696 clause 29) write. */
final class TimeNumbers {
    /** Digits in a fraction; longer ones do not fit. */
    private static final int DIGITS = 18;

    /** What a number counts. The parts of a duration have the units of a point in time. */
    enum Unit {
        CENTURY,
        YEAR,
        MONTH,
        WEEK,
        DAY,
        DAY_OF_YEAR,
        DAY_OF_WEEK,
        HOUR,
        MINUTE,
        SECOND,
        /** The digits behind the decimal mark as a number. */
        FRACTION,
        /** How many digits these are. */
        FRACTION_DIGITS,
        /** 0 for a local time ahead of UTC, 1 for one behind it. */
        ZONE_SIGN,
        ZONE_HOUR,
        /** Not there when zero. */
        ZONE_MINUTE
    }

    private final @Nullable Long[] numbers = new Long[Unit.values().length];
    /** Whether the time is UTC. */
    boolean utc;

    @Nullable Long get(Unit unit) {
        return numbers[unit.ordinal()];
    }

    void set(Unit unit, @Nullable Long number) {
        numbers[unit.ordinal()] = number;
    }

    boolean isEmpty() {
        for (Long number : numbers) {
            if (number != null) {
                return false;
            }
        }
        return !utc;
    }

    TimeNumbers copy() {
        TimeNumbers copy = new TimeNumbers();
        System.arraycopy(numbers, 0, copy.numbers, 0, numbers.length);
        copy.utc = utc;
        return copy;
    }

    /** The text has a number that does not fit, or another form. */
    private static final class Unfit extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Unfit() {
            super(null, null, false, false);
        }
    }

    private static long number(String digits) {
        if (digits.isEmpty() || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
            throw new Unfit();
        }
        try {
            return Long.parseLong(digits);
        } catch (NumberFormatException tooLarge) {
            throw new Unfit();
        }
    }

    /** The numbers of a checked date, time of day, or both; null for an interval, or where a number does not fit. */
    static @Nullable TimeNumbers ofPoint(String text) {
        try {
            TimeNumbers numbers = new TimeNumbers();
            int t = text.indexOf('T');
            boolean isClock = text.length() >= 2
                    && text.charAt(0) >= '0'
                    && text.charAt(0) <= '9'
                    && (text.length() == 2 || ":.,Z+-".indexOf(text.charAt(2)) >= 0);
            if (t >= 0 || !isClock) {
                numbers.date(t >= 0 ? text.substring(0, t) : text);
            }
            if (t >= 0 || isClock) {
                numbers.clock(text.substring(t + 1));
            }
            return numbers;
        } catch (Unfit unfit) {
            return null;
        }
    }

    private void date(String text) {
        long sign = text.startsWith("-") ? -1 : 1;
        String rest = text.startsWith("-") || text.startsWith("+") ? text.substring(1) : text;
        String[] parts = rest.split("-", -1);
        if (parts[0].endsWith("C")) {
            set(Unit.CENTURY, sign * number(parts[0].substring(0, parts[0].length() - 1)));
        } else {
            set(Unit.YEAR, sign * number(parts[0]));
        }
        if (parts.length == 1) {
            return;
        }
        Unit third = Unit.DAY;
        if (parts[1].startsWith("W")) {
            set(Unit.WEEK, number(parts[1].substring(1)));
            third = Unit.DAY_OF_WEEK;
        } else {
            set(parts[1].length() == 3 ? Unit.DAY_OF_YEAR : Unit.MONTH, number(parts[1]));
        }
        if (parts.length > 2) {
            set(third, number(parts[2]));
        }
        if (parts.length > 3) {
            throw new Unfit();
        }
    }

    private void clock(String text) {
        int at = 0;
        while (at < text.length() && "Z+-".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String local = text.substring(0, at);
        String zone = text.substring(at);
        int mark = Math.max(local.indexOf('.'), local.indexOf(','));
        String[] units = (mark < 0 ? local : local.substring(0, mark)).split(":", -1);
        if (units.length > 3) {
            throw new Unfit();
        }
        Unit[] known = {Unit.HOUR, Unit.MINUTE, Unit.SECOND};
        for (int i = 0; i < units.length; i++) {
            set(known[i], number(units[i]));
        }
        if (mark >= 0) {
            fraction(local.substring(mark + 1));
        }
        utc = zone.equals("Z");
        if (!utc && !zone.isEmpty()) {
            int colon = zone.indexOf(':');
            set(Unit.ZONE_SIGN, zone.startsWith("-") ? 1L : 0L);
            set(Unit.ZONE_HOUR, number(colon < 0 ? zone.substring(1) : zone.substring(1, colon)));
            long minutes = colon < 0 ? 0 : number(zone.substring(colon + 1));
            set(Unit.ZONE_MINUTE, minutes == 0 ? null : (Long) minutes);
        }
    }

    private void fraction(String digits) {
        if (digits.length() > DIGITS) {
            throw new Unfit();
        }
        set(Unit.FRACTION, number(digits));
        set(Unit.FRACTION_DIGITS, (long) digits.length());
    }

    /** The numbers of a checked duration; null where one does not fit. */
    static @Nullable TimeNumbers ofDuration(String text) {
        try {
            TimeNumbers numbers = new TimeNumbers();
            if (!text.startsWith("P")) {
                return null;
            }
            boolean clock = false;
            int at = 1;
            while (at < text.length()) {
                if (text.charAt(at) == 'T') {
                    clock = true;
                    at++;
                }
                int end = at;
                while (end < text.length() && (text.charAt(end) < 'A' || text.charAt(end) > 'Z')) {
                    end++;
                }
                if (end == text.length()) {
                    return null;
                }
                String digits = text.substring(at, end);
                Unit unit = switch (text.charAt(end)) {
                    case 'Y' -> Unit.YEAR;
                    case 'M' -> clock ? Unit.MINUTE : Unit.MONTH;
                    case 'W' -> Unit.WEEK;
                    case 'D' -> Unit.DAY;
                    case 'H' -> Unit.HOUR;
                    case 'S' -> Unit.SECOND;
                    default -> throw new Unfit();
                };
                int mark = Math.max(digits.indexOf('.'), digits.indexOf(','));
                numbers.set(unit, number(mark < 0 ? digits : digits.substring(0, mark)));
                if (mark >= 0) {
                    numbers.fraction(digits.substring(mark + 1));
                }
                at = end + 1;
            }
            return numbers;
        } catch (Unfit unfit) {
            return null;
        }
    }

    private static String padded(long number, int width) {
        String digits = Long.toString(number);
        return "0".repeat(Math.max(0, width - digits.length())) + digits;
    }

    /** The text of a point in time. */
    String point() {
        StringBuilder out = new StringBuilder();
        year(out, Unit.CENTURY, 2, "C");
        year(out, Unit.YEAR, 4, "");
        part(out, Unit.MONTH, "-", 2);
        part(out, Unit.DAY_OF_YEAR, "-", 3);
        part(out, Unit.WEEK, "-W", 2);
        part(out, Unit.DAY, "-", 2);
        part(out, Unit.DAY_OF_WEEK, "-", 1);
        part(out, Unit.HOUR, out.length() == 0 ? "" : "T", 2);
        part(out, Unit.MINUTE, ":", 2);
        part(out, Unit.SECOND, ":", 2);
        writeFraction(out);
        out.append(utc ? "Z" : "");
        Long hour = get(Unit.ZONE_HOUR);
        if (hour != null) {
            Long sign = get(Unit.ZONE_SIGN);
            out.append(sign != null && sign == 1 ? '-' : '+').append(padded(hour, 2));
            part(out, Unit.ZONE_MINUTE, ":", 2);
        }
        return out.toString();
    }

    private void year(StringBuilder out, Unit unit, int width, String behind) {
        Long number = get(unit);
        if (number != null) {
            String digits = Long.toUnsignedString(Math.abs(number));
            digits = "0".repeat(Math.max(0, width - digits.length())) + digits;
            out.append(number < 0 ? "-" : digits.length() > width ? "+" : "").append(digits).append(behind);
        }
    }

    private void part(StringBuilder out, Unit unit, String before, int width) {
        Long number = get(unit);
        if (number != null) {
            out.append(before).append(padded(number, width));
        }
    }

    private static final Unit[] PARTS = {
        Unit.YEAR, Unit.MONTH, Unit.WEEK, Unit.DAY, Unit.HOUR, Unit.MINUTE, Unit.SECOND
    };

    /** The text of a duration. */
    String duration() {
        StringBuilder out = new StringBuilder("P");
        int last = -1;
        for (int i = 0; i < PARTS.length; i++) {
            last = get(PARTS[i]) == null ? last : i;
        }
        for (int i = 0; i < PARTS.length; i++) {
            Long number = get(PARTS[i]);
            if (number == null) {
                continue;
            }
            if (i >= 4 && out.indexOf("T") < 0) {
                out.append('T');
            }
            out.append(number.longValue());
            if (i == last) {
                writeFraction(out);
            }
            out.append("YMWDHMS".charAt(i));
        }
        return out.toString();
    }

    private void writeFraction(StringBuilder out) {
        Long fraction = get(Unit.FRACTION);
        Long digits = get(Unit.FRACTION_DIGITS);
        if (fraction != null && digits != null) {
            int width = (int) Math.max(0, Math.min(digits < 0 ? 0 : digits, DIGITS));
            out.append('.').append(padded(fraction, width));
        }
    }

    /** Only the last part of a duration may be zero (X.691 32.6). */
    void leaveOutZeros() {
        boolean last = true;
        for (int i = PARTS.length - 1; i >= 0; i--) {
            Long number = get(PARTS[i]);
            if (number != null) {
                if (number == 0 && !last) {
                    set(PARTS[i], null);
                }
                last = false;
            }
        }
    }
}
