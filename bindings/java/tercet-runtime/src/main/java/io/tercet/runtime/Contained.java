package io.tercet.runtime;

import java.util.Objects;

/**
 * A string with CONTAINING (X.682 clause 11): the value inside, or the bits of the string where they are not a value of the
 * type.
 *
 * @param <T> the type of the value
 */
public final class Contained<T> {
    private final @Nullable T value;
    private final @Nullable BitString bits;

    private Contained(@Nullable T value, @Nullable BitString bits) {
        this.value = value;
        this.bits = bits;
    }

    /**
     * Returns a string that contains a value.
     *
     * @param <T> the type of the value
     * @param value the value
     * @return the string
     */
    public static <T> Contained<T> of(T value) {
        return new Contained<>(Objects.requireNonNull(value), null);
    }

    /**
     * Returns a string that contains bytes which are not decoded.
     *
     * @param <T> the type of the value
     * @param octets the bytes
     * @return the string
     */
    public static <T> Contained<T> ofOctets(Octets octets) {
        return new Contained<>(null, BitString.of(octets, 0));
    }

    /**
     * Returns a string that contains bits which are not decoded.
     *
     * @param <T> the type of the value
     * @param bits the bits
     * @return the string
     */
    public static <T> Contained<T> ofBits(BitString bits) {
        return new Contained<>(null, Objects.requireNonNull(bits));
    }

    /**
     * Returns the value inside.
     *
     * @return the value, or null if the string is not decoded
     */
    public @Nullable T value() {
        return value;
    }

    /**
     * Returns the bits of a string that is not decoded.
     *
     * @return the bits, or null if there is a value
     */
    public @Nullable BitString bits() {
        return bits;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Contained<?> contained
                && Objects.equals(value, contained.value)
                && Objects.equals(bits, contained.bits);
    }

    @Override
    public int hashCode() {
        return Objects.hash(value, bits);
    }

    @Override
    public String toString() {
        return value != null ? "CONTAINING " + value : String.valueOf(bits);
    }
}
