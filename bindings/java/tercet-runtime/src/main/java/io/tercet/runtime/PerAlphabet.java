package io.tercet.runtime;

/** The characters of a known-multiplier string in PER (X.691 30.5). For generated code. */
public final class PerAlphabet {
    private static final int SMALL = 256;

    final int bits;
    /** Whether strings of the size of the root are not aligned (30.5.6, 30.5.7). */
    final boolean unaligned;
    /** Whether characters are written as their number among the permitted ones (30.5.4). */
    private final boolean indexed;
    /** First, last, number of the first. */
    private final long[] ranges;
    /** By what is written the character, or -1; null where more than eight bits are written. */
    final byte @Nullable [] characters;

    /**
     * Makes an alphabet.
     *
     * @param bits the bits of a character
     * @param unaligned whether strings of the size of the root are not aligned
     * @param indexed whether characters are written as their number among the permitted ones
     * @param ranges of each range the first character, the last one, and the number of the first one
     */
    public PerAlphabet(int bits, boolean unaligned, boolean indexed, long... ranges) {
        this.bits = bits;
        this.unaligned = unaligned;
        this.indexed = indexed;
        this.ranges = ranges;
        boolean isSmall = bits > 0 && bits <= 8 && ranges.length > 0 && ranges[ranges.length - 2] < 128;
        characters = isSmall ? new byte[SMALL] : null;
        if (isSmall) {
            for (int code = 0; code < SMALL; code++) {
                characters[code] = code < 1 << bits ? (byte) character(code) : -1;
            }
        }
    }

    /** Whether characters have 16 bits at most, so that one beyond them is a pair of surrogates. */
    boolean hasPairs() {
        return ranges.length > 0 && ranges[ranges.length - 2] <= 0xFFFF;
    }

    /** What is written for a character, or -1 if it is not permitted. */
    long code(long character) {
        for (int i = 0; i < ranges.length; i += 3) {
            if (character >= ranges[i] && character <= ranges[i + 1]) {
                return indexed ? ranges[i + 2] + (character - ranges[i]) : character;
            }
        }
        return -1;
    }

    /** The character that was written so, or -1 if it is not permitted. */
    long character(long code) {
        if (!indexed) {
            return code(code) < 0 ? -1 : code;
        }
        for (int i = ranges.length - 3; i >= 0; i -= 3) {
            if (ranges[i + 2] <= code) {
                long character = ranges[i] + (code - ranges[i + 2]);
                return character <= ranges[i + 1] ? character : -1;
            }
        }
        return -1;
    }
}
