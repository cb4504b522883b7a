package io.tercet.runtime;

/**
 * Bounds on what a decoder accepts, beside those that the input itself gives.
 *
 * @param depth values inside one another, at most {@value #MAX_DEPTH}
 * @param elementLength bytes in the contents of one element
 * @param strictText whether character strings and times that break the rules of their type are errors in BER, as they
 *     are in all other rules; by default BER keeps them (see {@link Text})
 */
public record Limits(int depth, long elementLength, boolean strictText) {
    /** The largest depth. */
    public static final int MAX_DEPTH = 1_000;

    /** A depth of 64, elements of any length, and text that BER keeps. */
    public static final Limits DEFAULT = new Limits(64, Long.MAX_VALUE, false);

    /** Limits the depth to {@value #MAX_DEPTH}. */
    public Limits {
        if (depth < 0 || elementLength < 0) {
            throw new IllegalArgumentException("a limit is negative");
        }
        depth = Math.min(depth, MAX_DEPTH);
    }

    /**
     * Returns these limits with another depth.
     *
     * @param depth values inside one another
     * @return the limits
     */
    public Limits withDepth(int depth) {
        return new Limits(depth, elementLength, strictText);
    }

    /**
     * Returns these limits with another length of elements.
     *
     * @param elementLength bytes in the contents of one element
     * @return the limits
     */
    public Limits withElementLength(long elementLength) {
        return new Limits(depth, elementLength, strictText);
    }

    /**
     * Returns these limits with or without strict text.
     *
     * @param strictText whether text that breaks its type is an error in BER
     * @return the limits
     */
    public Limits withStrictText(boolean strictText) {
        return new Limits(depth, elementLength, strictText);
    }
}
