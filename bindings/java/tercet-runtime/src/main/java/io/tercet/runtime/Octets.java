package io.tercet.runtime;

import java.util.Arrays;
import java.util.HexFormat;

/**
 * Bytes of an OCTET STRING, of an open type without a known type, and of what a type does not know.
 *
 * <p>Decoded values are views of the input array, which they keep in memory and which must not be changed while they are
 * used. {@link #detach()} copies a view that is to outlive its input.
 */
public final class Octets implements Comparable<Octets> {
    /** No bytes. */
    public static final Octets EMPTY = new Octets(new byte[0], 0, 0);

    private final byte[] array;
    private final int start;
    private final int length;

    private Octets(byte[] array, int start, int length) {
        this.array = array;
        this.start = start;
        this.length = length;
    }

    /**
     * Returns a copy of an array.
     *
     * @param octets the bytes
     * @return the value
     */
    public static Octets of(byte... octets) {
        return new Octets(octets.clone(), 0, octets.length);
    }

    /**
     * Returns a view of a part of an array, which must not be changed any more.
     *
     * @param array the array
     * @param start the position of the first byte
     * @param length the number of bytes
     * @return the value
     */
    public static Octets view(byte[] array, int start, int length) {
        java.util.Objects.checkFromIndexSize(start, length, array.length);
        return new Octets(array, start, length);
    }

    /** The same for positions that have been checked. */
    static Octets known(byte[] array, int start, int length) {
        return new Octets(array, start, length);
    }

    /**
     * Reads hexadecimal digits, two for each byte.
     *
     * @param digits the digits
     * @return the value
     * @throws IllegalArgumentException if the text has an odd length or other characters
     */
    public static Octets ofHex(CharSequence digits) {
        byte[] octets = HexFormat.of().parseHex(digits);
        return new Octets(octets, 0, octets.length);
    }

    /**
     * Returns the number of bytes.
     *
     * @return the length
     */
    public int length() {
        return length;
    }

    /**
     * Returns whether there are no bytes.
     *
     * @return whether the length is zero
     */
    public boolean isEmpty() {
        return length == 0;
    }

    /**
     * Returns a byte.
     *
     * @param index its position
     * @return the byte
     * @throws IndexOutOfBoundsException if there is none at this position
     */
    public byte get(int index) {
        java.util.Objects.checkIndex(index, length);
        return array[start + index];
    }

    /**
     * Returns a copy of the bytes.
     *
     * @return a new array
     */
    public byte[] toByteArray() {
        return Arrays.copyOfRange(array, start, start + length);
    }

    /**
     * Writes the bytes.
     *
     * @param out where to
     * @throws java.io.IOException if they cannot be written
     */
    public void writeTo(java.io.OutputStream out) throws java.io.IOException {
        out.write(array, start, length);
    }

    /**
     * Returns the same bytes in an array of their own, so that a large input is not kept in memory.
     *
     * @return the value
     */
    public Octets detach() {
        return array.length == length ? this : new Octets(toByteArray(), 0, length);
    }

    /**
     * Returns the bytes as hexadecimal digits in lower case.
     *
     * @return the digits
     */
    public String toHex() {
        return HexFormat.of().formatHex(array, start, start + length);
    }

    byte[] array() {
        return array;
    }

    int start() {
        return start;
    }

    @Override
    public int compareTo(Octets other) {
        return Arrays.compareUnsigned(
                array, start, start + length, other.array, other.start, other.start + other.length);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Octets octets
                && Arrays.equals(array, start, start + length, octets.array, octets.start, octets.start + octets.length);
    }

    @Override
    public int hashCode() {
        int hash = 1;
        for (int i = start; i < start + length; i++) {
            hash = 31 * hash + array[i];
        }
        return hash;
    }

    /** Returns the bytes in value notation: {@code '4A6F'H}. */
    @Override
    public String toString() {
        return "'" + HexFormat.of().withUpperCase().formatHex(array, start, start + length) + "'H";
    }
}
