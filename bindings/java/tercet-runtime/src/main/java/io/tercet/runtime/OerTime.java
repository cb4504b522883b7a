package io.tercet.runtime;

import io.tercet.runtime.TimeNumbers.Unit;
import java.util.List;

/** How OER writes a time of X.680 clause 38 in numbers (X.696 clause 29). For generated code. */
public final class OerTime {
    /** The units of a DURATION in the order of their presence bits. */
    private static final Unit[] UNITS = {
        Unit.YEAR, Unit.MONTH, Unit.WEEK, Unit.DAY, Unit.HOUR, Unit.MINUTE, Unit.SECOND
    };

    /** Minutes that a local time may be from UTC. */
    private static final long MOST_DIFFERENCE = 900;

    private final int kind;
    private final List<Step> steps;

    /**
     * Makes a form.
     *
     * @param kind the universal number of the type
     * @param steps the steps in writing a value
     */
    public OerTime(int kind, Step... steps) {
        this.kind = kind;
        this.steps = List.of(steps);
    }

    int kind() {
        return kind;
    }

    private enum Action {
        NUMBER,
        DIFFERENCE,
        ALWAYS,
        UTC
    }

    /** A step in writing a time. */
    public static final class Step {
        private final Action action;
        private final @Nullable Unit unit;
        private final boolean signed;
        /** Bytes of the number, or 0 for one behind its length. */
        private final int octets;
        private final long number;

        private Step(Action action, @Nullable String unit, boolean signed, int octets, long number) {
            this.action = action;
            this.unit = unit == null ? null : Unit.valueOf(unit);
            this.signed = signed;
            this.octets = octets;
            this.number = number;
        }
    }

    /**
     * Returns a number.
     *
     * @param unit what it counts
     * @param signed whether it has a sign
     * @param octets its bytes, or 0 for one behind its length
     * @return the step
     */
    public static Step number(String unit, boolean signed, int octets) {
        return new Step(Action.NUMBER, unit, signed, octets, 0);
    }

    /**
     * Returns the difference to UTC in minutes.
     *
     * @return the step
     */
    public static Step difference() {
        return new Step(Action.DIFFERENCE, null, true, 2, 0);
    }

    /**
     * Returns a number that is always the same, so that nothing is written.
     *
     * @param unit what it counts
     * @param number the number
     * @return the step
     */
    public static Step always(String unit, long number) {
        return new Step(Action.ALWAYS, unit, false, 0, number);
    }

    /**
     * Returns UTC, for which nothing is written.
     *
     * @return the step
     */
    public static Step utc() {
        return new Step(Action.UTC, null, false, 0, 0);
    }

    TimeNumbers read(OerReader r) throws Asn1Exception {
        TimeNumbers numbers = new TimeNumbers();
        for (Step step : steps) {
            switch (step.action) {
                case ALWAYS -> numbers.set(step.unit, step.number);
                case UTC -> numbers.utc = true;
                case NUMBER -> {
                    long number = step.octets == 0
                            ? r.variableLong(step.signed)
                            : step.signed ? r.signed(step.octets) : r.unsigned(step.octets);
                    numbers.set(step.unit, number);
                }
                default -> {
                    int start = r.position();
                    long minutes = r.signed(2);
                    if (Math.abs(minutes) > MOST_DIFFERENCE) {
                        throw r.error(ErrorKind.CONSTRAINT_VIOLATED, start);
                    }
                    long rest = Math.abs(minutes) % 60;
                    numbers.set(Unit.ZONE_SIGN, minutes < 0 ? 1L : 0L);
                    numbers.set(Unit.ZONE_HOUR, Math.abs(minutes) / 60);
                    numbers.set(Unit.ZONE_MINUTE, rest == 0 ? null : (Long) rest);
                }
            }
        }
        return numbers;
    }

    static TimeNumbers readDuration(OerReader r) throws Asn1Exception {
        TimeNumbers numbers = new TimeNumbers();
        int preamble = (int) r.unsigned(1);
        for (int bit = 0; bit < UNITS.length; bit++) {
            if ((preamble & 0x80 >> bit) != 0) {
                numbers.set(UNITS[bit], r.variableLong(false));
            }
        }
        if ((preamble & 1) != 0) {
            int start = r.position();
            long digits = r.variableLong(false);
            long fraction = r.variableLong(false);
            if (digits < 1 || digits > 18 || fraction >= (long) Math.pow(10, digits)) {
                throw r.error(ErrorKind.CONSTRAINT_VIOLATED, start);
            }
            numbers.set(Unit.FRACTION_DIGITS, digits);
            numbers.set(Unit.FRACTION, fraction);
        }
        return numbers;
    }

    private static Asn1Exception outside() {
        return Asn1Exception.at(ErrorKind.CONSTRAINT_VIOLATED, 0);
    }

    private static long take(TimeNumbers left, @Nullable Unit unit) throws Asn1Exception {
        Long number = left.get(unit);
        if (number == null) {
            throw outside();
        }
        left.set(unit, null);
        return number;
    }

    /** Writes a time from its text: from the last step, as the writer does. */
    void write(OerWriter w, String text) throws Asn1Exception {
        TimeNumbers left = TimeNumbers.ofPoint(text);
        if (left == null) {
            throw outside();
        }
        for (int i = steps.size() - 1; i >= 0; i--) {
            Step step = steps.get(i);
            switch (step.action) {
                case UTC -> {
                    if (!left.utc) {
                        throw outside();
                    }
                    left.utc = false;
                }
                case ALWAYS -> {
                    if (take(left, step.unit) != step.number) {
                        throw outside();
                    }
                }
                case NUMBER -> {
                    long number = take(left, step.unit);
                    if (step.octets == 0) {
                        w.variable(java.math.BigInteger.valueOf(step.signed ? number : Math.abs(number)), step.signed);
                    } else {
                        w.fixed(number, step.octets);
                    }
                }
                default -> {
                    Long minute = left.get(Unit.ZONE_MINUTE);
                    left.set(Unit.ZONE_MINUTE, null);
                    long minutes = (minute == null ? 0 : minute) + 60 * take(left, Unit.ZONE_HOUR);
                    minutes = take(left, Unit.ZONE_SIGN) == 0 ? minutes : -minutes;
                    if (Math.abs(minutes) > MOST_DIFFERENCE) {
                        throw outside();
                    }
                    w.fixed(minutes, 2);
                }
            }
        }
        // A number that the form does not have: a value outside of the settings of the type.
        if (!left.isEmpty()) {
            throw outside();
        }
    }

    static void writeDuration(OerWriter w, String text) throws Asn1Exception {
        TimeNumbers numbers = TimeNumbers.ofDuration(text);
        if (numbers == null) {
            throw outside();
        }
        int preamble = 0;
        Long digits = numbers.get(Unit.FRACTION_DIGITS);
        Long fraction = numbers.get(Unit.FRACTION);
        if (digits != null && fraction != null) {
            w.variable(java.math.BigInteger.valueOf(fraction), false);
            w.variable(java.math.BigInteger.valueOf(digits), false);
            preamble |= 1;
        }
        for (int bit = UNITS.length - 1; bit >= 0; bit--) {
            Long number = numbers.get(UNITS[bit]);
            if (number != null) {
                w.variable(java.math.BigInteger.valueOf(number), false);
                preamble |= 0x80 >> bit;
            }
        }
        w.fixed(preamble, 1);
    }
}
