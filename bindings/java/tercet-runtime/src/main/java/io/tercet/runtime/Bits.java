package io.tercet.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** A cursor over bits (X.691 11.1), the first bit first. Positions are counted from the begin of the array. */
public abstract class Bits {
    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    final byte[] input;
    final boolean aligned;
    /** The first byte of the input and the one behind it. */
    final int first;
    final int last;

    long at;
    /** Where reading ends, in bits. */
    long end;

    Bits(byte[] input, int start, int length, boolean aligned) {
        this.input = input;
        this.aligned = aligned;
        first = start;
        last = start + length;
        at = start * 8L;
        end = last * 8L;
    }

    /**
     * Returns the position in bits from the begin of the input.
     *
     * @return the position
     */
    public final long position() {
        return at - first * 8L;
    }

    final long left() {
        return end - at;
    }

    final Asn1Exception errorAt(ErrorKind kind, long at) {
        return Asn1Exception.atBit(kind, at - first * 8L);
    }

    private Asn1Exception incomplete(long bits) {
        long missing = Math.max(bits - (end - at), 0);
        return Asn1Exception.incompleteAtBit(end - first * 8L, (missing + 7) / 8);
    }

    final void skip(long bits) throws Asn1Exception {
        if (bits > end - at) {
            throw incomplete(bits);
        }
        at += bits;
    }

    /** Moves to the next byte (aligned variant); the padding bits are not looked at. */
    final void align() {
        if (aligned) {
            at = Math.min(at + 7 & ~7L, end);
        }
    }

    /**
     * Reads a bit.
     *
     * @return the bit
     * @throws Asn1Exception if it is not there
     */
    public final boolean bit() throws Asn1Exception {
        if (at >= end) {
            throw incomplete(1);
        }
        boolean bit = (input[(int) (at >> 3)] & 0x80 >> (at & 7)) != 0;
        at++;
        return bit;
    }

    /** Reads up to 64 bits as a number. */
    final long bits(int count) throws Asn1Exception {
        if (count > end - at) {
            throw incomplete(count);
        }
        if (count == 0) {
            return 0;
        }
        long word = word(at);
        int shift = (int) (at & 7);
        if (shift + count > 64) {
            // Across nine bytes.
            word |= (input[(int) (at >> 3) + 8] & 0xFFL) >> 8 - shift;
        }
        at += count;
        return word >>> 64 - count;
    }

    /** The bits from a position on, the first the highest: 57 of them at least, zeros behind the array. */
    final long word(long at) {
        int octet = (int) (at >> 3);
        if (octet + 8 <= input.length) {
            return (long) LONGS.get(input, octet) << (at & 7);
        }
        long word = 0;
        for (int i = 0; i < 8; i++) {
            word = word << 8 | (octet + i < input.length ? input[octet + i] & 0xFF : 0);
        }
        return word << (at & 7);
    }

    /** Takes bytes: a view where they begin at a byte. */
    final Octets take(int count) throws Asn1Exception {
        if (count > left() / 8) {
            throw incomplete(count * 8L);
        }
        long start = at;
        at += count * 8L;
        if ((start & 7) == 0) {
            return Octets.known(input, (int) (start >> 3), count);
        }
        return Octets.known(shifted(start, count * 8), 0, count);
    }

    final BitString takeBits(int count) throws Asn1Exception {
        long start = at;
        skip(count);
        int octets = (count + 7) / 8;
        int unused = octets * 8 - count;
        if ((start & 7) == 0 && unused == 0) {
            return BitString.of(Octets.known(input, (int) (start >> 3), octets), 0);
        }
        return BitString.of(Octets.known(shifted(start, count), 0, octets), unused);
    }

    /** Bits that are known to be there; the last byte is filled with zeros. */
    private byte[] shifted(long start, int count) {
        byte[] out = new byte[(count + 7) / 8];
        int i = 0;
        for (; i + 7 <= out.length; i += 7) {
            long word = word(start + i * 8L);
            for (int k = 0; k < 7; k++) {
                out[i + k] = (byte) (word >>> 56 - 8 * k);
            }
        }
        for (; i < out.length; i++) {
            out[i] = (byte) (word(start + i * 8L) >>> 56);
        }
        if (count % 8 != 0) {
            out[out.length - 1] &= (byte) (0xFF << 8 - count % 8);
        }
        return out;
    }
}
