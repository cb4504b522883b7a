package io.tercet.runtime;

import java.util.Arrays;

/** A BIT STRING (X.680 clause 22). Bit 0 is the first, the highest of the first byte. */
public final class BitString {
    /** No bits. */
    public static final BitString EMPTY = new BitString(Octets.EMPTY, 0);

    /** The largest size that zero bits are added for: a value must not take much more memory than its encoding. */
    static final int MOST_ADDED = 1024;

    private final Octets octets;
    private final int unused;

    private BitString(Octets octets, int unused) {
        this.octets = octets;
        this.unused = unused;
    }

    /**
     * Returns the bits of bytes.
     *
     * @param octets the bytes
     * @param unused how many bits of the last byte do not belong to the value, 0 to 7
     * @return the value
     * @throws IllegalArgumentException if so many bits are not there
     */
    public static BitString of(Octets octets, int unused) {
        if (unused < 0 || unused > 7 || unused > 0 && octets.isEmpty()) {
            throw new IllegalArgumentException("unused bits: " + unused);
        }
        return new BitString(octets, unused);
    }

    /**
     * Returns bits one by one.
     *
     * @param bits the bits in order
     * @return the value
     */
    public static BitString of(boolean... bits) {
        byte[] octets = new byte[(bits.length + 7) / 8];
        for (int i = 0; i < bits.length; i++) {
            if (bits[i]) {
                octets[i / 8] |= (byte) (0x80 >>> i % 8);
            }
        }
        return new BitString(Octets.known(octets, 0, octets.length), octets.length * 8 - bits.length);
    }

    /**
     * Returns the bytes; unused bits may have any value.
     *
     * @return the bytes
     */
    public Octets octets() {
        return octets;
    }

    /**
     * Returns how many bits of the last byte do not belong to the value.
     *
     * @return 0 to 7
     */
    public int unused() {
        return unused;
    }

    /**
     * Returns the number of bits.
     *
     * @return the length
     */
    public int length() {
        return octets.length() * 8 - unused;
    }

    /**
     * Returns whether there are no bits.
     *
     * @return whether the length is zero
     */
    public boolean isEmpty() {
        return octets.isEmpty();
    }

    /**
     * Returns a bit.
     *
     * @param index its position
     * @return the bit; false behind the end, as a named bit that is not there is zero
     */
    public boolean get(int index) {
        return index >= 0 && index < length() && (octets.get(index / 8) & 0x80 >>> index % 8) != 0;
    }

    /**
     * Returns the same bits in an array of their own.
     *
     * @return the value
     */
    public BitString detach() {
        return new BitString(octets.detach(), unused);
    }

    boolean isPaddedWithZeros() {
        return unused == 0 || (octets.get(octets.length() - 1) & (1 << unused) - 1) == 0;
    }

    /** The value without zero bits at its end, with {@code least} bits at least. */
    BitString trimmed(int least) {
        int length = length();
        while (length > least && !get(length - 1)) {
            // Whole bytes of zeros at once.
            length = length % 8 == 0 && length - 8 >= least && octets.get(length / 8 - 1) == 0 ? length - 8 : length - 1;
        }
        return length == length() ? this : cut(length);
    }

    private BitString cut(int length) {
        int count = (length + 7) / 8;
        return new BitString(Octets.known(octets.array(), octets.start(), count), count * 8 - length);
    }

    /** The value with the size that is asked for, by zero bits that are added or removed. */
    BitString resized(int least, long most) {
        if (length() < least && least <= MOST_ADDED) {
            byte[] all = Arrays.copyOf(octets.toByteArray(), (least + 7) / 8);
            if (unused > 0) {
                all[octets.length() - 1] &= (byte) (0xFF << unused);
            }
            return new BitString(Octets.known(all, 0, all.length), all.length * 8 - least);
        }
        if (length() > most) {
            return trimmed((int) most);
        }
        return this;
    }

    /**
     * Returns whether the same bits are set, whatever the lengths (X.680 22.7).
     *
     * @param other the other value
     * @return whether they are the same set of named bits
     */
    public boolean isSameSet(BitString other) {
        return trimmed(0).equals(other.trimmed(0));
    }

    @Override
    public boolean equals(@Nullable Object other) {
        if (!(other instanceof BitString bits) || bits.length() != length()) {
            return false;
        }
        int last = octets.length() - 1;
        for (int i = 0; i < last; i++) {
            if (octets.get(i) != bits.octets.get(i)) {
                return false;
            }
        }
        return last < 0 || (octets.get(last) & 0xFF) >> unused == (bits.octets.get(last) & 0xFF) >> unused;
    }

    @Override
    public int hashCode() {
        int hash = unused;
        for (int i = 0; i < octets.length(); i++) {
            int octet = octets.get(i);
            hash = 31 * hash + (i == octets.length() - 1 ? (octet & 0xFF) >> unused : octet);
        }
        return hash;
    }

    /** Returns the bits in value notation: {@code '101'B}. */
    @Override
    public String toString() {
        StringBuilder out = new StringBuilder("'");
        for (int i = 0; i < length(); i++) {
            out.append(get(i) ? '1' : '0');
        }
        return out.append("'B").toString();
    }
}
