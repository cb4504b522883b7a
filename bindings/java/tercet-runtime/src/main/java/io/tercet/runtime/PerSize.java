package io.tercet.runtime;

/**
 * How PER writes a number of bytes, bits, characters or elements (X.691 11.9.4). For generated code.
 *
 * @param extensible whether a bit in front says that the size is outside of the root
 * @param least the least size
 * @param most the greatest size, or -1
 * @param whole how the difference to the least size is written; null for a general length determinant
 */
public record PerSize(boolean extensible, long least, long most, @Nullable PerWhole whole) {
    /** Any size. */
    public static final PerSize ANY = new PerSize(false, 0, -1, null);

    /** Whether all sizes of the root are the same, so that nothing is written. */
    boolean isFixed() {
        return least == most && whole != null;
    }

    /** Whether a size is one of the root. */
    boolean holds(long size) {
        return least <= size && (most < 0 || size <= most);
    }

    /** Whether a string of this size has so few units that it is not aligned (16.9, 17.6). */
    boolean isShort(long count, int most) {
        return isFixed() && this.most <= most && count == least;
    }
}
