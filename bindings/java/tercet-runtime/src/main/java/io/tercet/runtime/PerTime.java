package io.tercet.runtime;

import io.tercet.runtime.TimeNumbers.Unit;
import java.math.BigInteger;
import java.util.List;

/** How PER writes a time of X.680 clause 38 (X.691 clause 32). For generated code. */
public final class PerTime {
    private final int kind;
    private final List<Part> parts;

    /**
     * Makes a form.
     *
     * @param kind the universal number of the type
     * @param parts one part, or those of an interval
     */
    public PerTime(int kind, Part... parts) {
        this.kind = kind;
        this.parts = List.of(parts);
    }

    int kind() {
        return kind;
    }

    /**
     * How a number is written; null for an INTEGER without bounds.
     *
     * @param whole how the difference to the least value is written
     * @param least the least value
     * @param span the greatest difference
     * @param extensible whether a bit in front says that the number is outside
     */
    public record Range(PerWhole whole, long least, long span, boolean extensible) {}

    private enum Action {
        PRESENCE,
        NUMBER,
        RANGES,
        ALWAYS,
        UTC
    }

    /** A step in writing a part. */
    public static final class Step {
        private final Action action;
        private final @Nullable Unit unit;
        private final long number;
        private final @Nullable Range[] ranges;

        private Step(Action action, @Nullable String unit, long number, @Nullable Range... ranges) {
            this.action = action;
            this.unit = unit == null ? null : Unit.valueOf(unit);
            this.number = number;
            this.ranges = ranges;
        }
    }

    /** A part of a time, between slashes in its text. */
    public static final class Part {
        private final int form;
        private final @Nullable Range range;
        private final int digits;
        private final List<Step> steps;

        private Part(int form, @Nullable Range range, int digits, Step... steps) {
            this.form = form;
            this.range = range;
            this.digits = digits;
            this.steps = List.of(steps);
        }
    }

    private static final int POINT = 0;
    private static final int DURATION = 1;
    private static final int RECURRENCE = 2;

    /**
     * Returns a date, a time of day or both.
     *
     * @param steps what is written
     * @return the part
     */
    public static Part point(Step... steps) {
        return new Part(POINT, null, 0, steps);
    }

    /**
     * Returns a duration.
     *
     * @param steps what is written
     * @return the part
     */
    public static Part duration(Step... steps) {
        return new Part(DURATION, null, 0, steps);
    }

    /**
     * Returns a presence bit, and how often the interval behind it recurs.
     *
     * @param range how the number is written
     * @param digits how many digits it has in the text at least
     * @return the part
     */
    public static Part recurrence(@Nullable Range range, int digits) {
        return new Part(RECURRENCE, range, digits);
    }

    /**
     * Returns a presence bit for a number.
     *
     * @param unit what it counts
     * @return the step
     */
    public static Step presence(String unit) {
        return new Step(Action.PRESENCE, unit, 0);
    }

    /**
     * Returns a number.
     *
     * @param unit what it counts
     * @param range how it is written
     * @return the step
     */
    public static Step number(String unit, @Nullable Range range) {
        return new Step(Action.NUMBER, unit, 0, new Range[] {range});
    }

    /**
     * Returns a CHOICE of four ranges, the first that has the number (32.2.3).
     *
     * @param unit what it counts
     * @param ranges how it is written
     * @return the step
     */
    public static Step ranges(String unit, @Nullable Range... ranges) {
        return new Step(Action.RANGES, unit, 0, ranges);
    }

    /**
     * Returns a number that is always the same, so that nothing is written.
     *
     * @param unit what it counts
     * @param number the number
     * @return the step
     */
    public static Step always(String unit, long number) {
        return new Step(Action.ALWAYS, unit, number);
    }

    /**
     * Returns UTC, for which nothing is written.
     *
     * @return the step
     */
    public static Step utc() {
        return new Step(Action.UTC, null, 0);
    }

    /** The digits of a fraction are there when it is. */
    private static boolean isAbsent(int absent, Unit unit) {
        Unit known = unit == Unit.FRACTION_DIGITS ? Unit.FRACTION : unit;
        return (absent >> known.ordinal() & 1) != 0;
    }

    private static String recurrence(@Nullable Long times, int digits) {
        String number = times == null ? "" : Long.toString(times);
        return "R" + (times == null ? "" : "0".repeat(Math.max(0, digits - number.length()))) + number;
    }

    /** Reads a time as its text, which is not checked. */
    String read(PerReader r) throws Asn1Exception {
        StringBuilder text = new StringBuilder();
        for (Part part : parts) {
            text.append(text.length() == 0 ? "" : "/");
            switch (part.form) {
                case POINT -> text.append(numbers(part, r).point());
                case DURATION -> {
                    TimeNumbers numbers = numbers(part, r);
                    numbers.leaveOutZeros();
                    text.append(numbers.duration());
                }
                default -> text.append(recurrence(r.bit() ? (Long) number(part.range, r) : null, part.digits));
            }
        }
        return text.toString();
    }

    private static TimeNumbers numbers(Part part, PerReader r) throws Asn1Exception {
        TimeNumbers numbers = new TimeNumbers();
        int absent = 0;
        for (Step step : part.steps) {
            switch (step.action) {
                case PRESENCE -> absent |= r.bit() ? 0 : 1 << step.unit.ordinal();
                case ALWAYS -> numbers.set(step.unit, step.number);
                case UTC -> numbers.utc = true;
                case NUMBER -> {
                    if (!isAbsent(absent, step.unit)) {
                        numbers.set(step.unit, number(step.ranges[0], r));
                    }
                }
                default -> {
                    Range range = step.ranges[(int) r.presence(2)];
                    if (!isAbsent(absent, step.unit)) {
                        numbers.set(step.unit, number(range, r));
                    }
                }
            }
        }
        return numbers;
    }

    private static long number(@Nullable Range range, PerReader r) throws Asn1Exception {
        long start = r.at;
        if (range != null && (!range.extensible || !r.bit())) {
            return range.least + r.whole(range.whole, range.span);
        }
        BigInteger number = r.unconstrained();
        if (number.bitLength() > 63) {
            throw r.errorAt(ErrorKind.LIMIT_EXCEEDED, start);
        }
        return number.longValue();
    }

    /** Writes a time from its text. */
    void write(PerWriter w, String text) throws Asn1Exception {
        String[] texts = text.split("/", -1);
        boolean fits = texts.length == parts.size();
        for (int i = 0; fits && i < texts.length; i++) {
            fits = part(w, parts.get(i), texts[i]);
        }
        if (!fits) {
            throw Asn1Exception.at(ErrorKind.CONSTRAINT_VIOLATED, 0);
        }
    }

    /** Writes a part from its text; returns whether it is one of the settings of the type. */
    private static boolean part(PerWriter w, Part part, String text) throws Asn1Exception {
        switch (part.form) {
            case POINT -> {
                return numbers(w, part, TimeNumbers.ofPoint(text));
            }
            case DURATION -> {
                TimeNumbers numbers = TimeNumbers.ofDuration(text);
                if (numbers != null) {
                    numbers.leaveOutZeros();
                }
                return numbers(w, part, numbers);
            }
            default -> {
                if (!text.startsWith("R")) {
                    return false;
                }
                Long times = null;
                try {
                    times = text.length() == 1 ? null : (Long) Long.parseLong(text.substring(1));
                } catch (NumberFormatException tooLarge) {
                    return false;
                }
                // Zeros in front would be lost.
                if (!recurrence(times, part.digits).equals(text)) {
                    return false;
                }
                w.bit(times != null);
                return times == null || number(w, part.range, times);
            }
        }
    }

    private static boolean numbers(PerWriter w, Part part, @Nullable TimeNumbers numbers) throws Asn1Exception {
        if (numbers == null) {
            return false;
        }
        TimeNumbers left = numbers.copy();
        int absent = 0;
        for (Step step : part.steps) {
            Unit unit = step.unit;
            if (step.action == Action.UTC) {
                if (!numbers.utc) {
                    return false;
                }
                left.utc = false;
                continue;
            }
            Long number = numbers.get(unit);
            switch (step.action) {
                case PRESENCE -> {
                    w.bit(number != null);
                    absent |= number != null ? 0 : 1 << unit.ordinal();
                }
                case ALWAYS -> {
                    if (number == null || number != step.number) {
                        return false;
                    }
                    left.set(unit, null);
                }
                default -> {
                    if (isAbsent(absent, unit)) {
                        continue;
                    }
                    if (number == null) {
                        return false;
                    }
                    Range range = step.ranges[0];
                    if (step.action == Action.RANGES) {
                        int index = 0;
                        while (index < 4 && !has(step.ranges[index], number)) {
                            index++;
                        }
                        if (index == 4) {
                            return false;
                        }
                        w.bits(index, 2);
                        range = step.ranges[index];
                    }
                    if (!number(w, range, number)) {
                        return false;
                    }
                    left.set(unit, null);
                }
            }
        }
        // A number that the form does not have: a value outside of the settings of the type.
        return left.isEmpty();
    }

    private static boolean has(@Nullable Range range, long number) {
        return range == null
                || number >= range.least && Long.compareUnsigned(number - range.least, range.span) <= 0;
    }

    private static boolean number(PerWriter w, @Nullable Range range, long number) throws Asn1Exception {
        if (range == null) {
            w.unconstrained(BigInteger.valueOf(number));
        } else if (range.extensible) {
            w.extensible(range.whole, number, range.least, range.span);
        } else if (has(range, number)) {
            w.integer(range.whole, number, range.least, range.span);
        } else {
            return false;
        }
        return true;
    }
}
