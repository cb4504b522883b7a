package io.tercet.runtime;

/**
 * How PER writes a constrained whole number (X.691 11.5). For generated code.
 *
 * @param form what is written
 * @param width the bits of the number, or of the number of its bytes
 * @param most the greatest number of bytes
 */
public record PerWhole(Form form, int width, int most) {
    /** What is written of a number. */
    public enum Form {
        /** One value: nothing. */
        NOTHING,
        /** A bit-field (11.5.6, 11.5.7.1). */
        BITS,
        /** One or two bytes, aligned (11.5.7.2, 11.5.7.3). */
        ALIGNED,
        /** The number of bytes as a bit-field, then these, aligned (11.5.7.4). */
        OCTETS
    }

    /** Nothing is written. */
    public static final PerWhole NOTHING = new PerWhole(Form.NOTHING, 0, 0);

    /** A byte, aligned. */
    public static final PerWhole OCTET = new PerWhole(Form.ALIGNED, 8, 0);

    /** Two bytes, aligned. */
    public static final PerWhole TWO_OCTETS = new PerWhole(Form.ALIGNED, 16, 0);

    /**
     * Returns a bit-field.
     *
     * @param width its bits
     * @return the form
     */
    public static PerWhole bits(int width) {
        return new PerWhole(Form.BITS, width, 0);
    }

    /**
     * Returns bytes behind their number.
     *
     * @param width the bits of the number of bytes
     * @param most the greatest number of bytes
     * @return the form
     */
    public static PerWhole octets(int width, int most) {
        return new PerWhole(Form.OCTETS, width, most);
    }
}
