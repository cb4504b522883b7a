package io.tercet.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.math.BigInteger;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Writes BER, DER and CER (X.690), from the end to the start, so that every length is known when it is written. For
 * generated code: users have {@link Encoder}.
 *
 * <p>Identifiers are constants: their bytes, and behind these the number of them. {@code 0x9F2102} is [33] of a primitive type.
 */
public final class BerWriter {
    /** Bytes that are free in front of what is written, whatever is written next: a header, or a number. */
    private static final int SLACK = 32;

    private static final long BIT_STRING = 0x0301;
    private static final long OCTET_STRING = 0x0401;

    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private final Rules rules;
    private final boolean ber;
    private final boolean cer;
    private byte[] buffer = new byte[512];
    private int start = buffer.length;
    private int values = Limits.DEFAULT.depth();

    BerWriter(Rules rules) {
        this.rules = rules;
        ber = rules == Rules.BER;
        cer = rules == Rules.CER;
    }

    /**
     * Returns the rules.
     *
     * @return the rules
     */
    public Rules rules() {
        return rules;
    }

    /** Forgets what was written and keeps the memory. */
    public void clear() {
        start = buffer.length;
        values = Limits.DEFAULT.depth();
    }

    /**
     * Returns the number of bytes written.
     *
     * @return the length
     */
    public int length() {
        return buffer.length - start;
    }

    /**
     * Returns a copy of the encoding.
     *
     * @return a new array
     */
    public byte[] toByteArray() {
        return Arrays.copyOfRange(buffer, start, buffer.length);
    }

    /**
     * Returns the encoding without a copy, until the next value is written.
     *
     * @return a view of the writer's memory
     */
    public Octets view() {
        return Octets.known(buffer, start, length());
    }

    // Octets

    private void room(int octets) {
        if (start < octets + SLACK) {
            grow(octets + SLACK);
        }
    }

    private void grow(int octets) {
        int length = length();
        byte[] larger = new byte[length + Math.max(length, octets) + 512];
        System.arraycopy(buffer, start, larger, larger.length - length, length);
        start = larger.length - length;
        buffer = larger;
    }

    private void push(byte[] octets, int from, int length) {
        room(length);
        start -= length;
        System.arraycopy(octets, from, buffer, start, length);
    }

    private void push(int octet) {
        room(1);
        buffer[--start] = (byte) octet;
    }

    private void push(Octets octets) {
        push(octets.array(), octets.start(), octets.length());
    }

    // Headers

    /**
     * Returns where the writer stands.
     *
     * @return the position
     */
    public int mark() {
        return length();
    }

    /**
     * Begins a value with parts.
     *
     * @throws Asn1Exception if there are too many inside one another
     */
    public void beginValue() throws Asn1Exception {
        if (values == 0) {
            throw Asn1Exception.at(ErrorKind.DEPTH_LIMIT, 0);
        }
        values--;
    }

    /** Ends a value with parts. */
    public void endValue() {
        values++;
    }

    /**
     * Begins a constructed element.
     *
     * @return the position, for {@link #close}
     */
    public int open() {
        if (cer) {
            push(0);
            push(0);
        }
        return length();
    }

    /**
     * Puts the header of a constructed element in front of what was written since.
     *
     * @param head its identifier
     * @param mark the position of {@link #open}
     */
    public void close(long head, int mark) {
        if (cer) {
            room(0);
            buffer[--start] = (byte) 0x80;
            identifier(head);
        } else {
            header(head, length() - mark);
        }
    }

    /** Puts a header in front of what is written. */
    private void header(long head, int length) {
        room(0);
        int at = start;
        if (length < 0x80) {
            // The identifier and the length by one store.
            LONGS.set(buffer, at - 8, head & ~0xFFL | length);
            start = at - 1 - (int) (head & 0xFF);
        } else {
            byte[] out = buffer;
            for (int rest = length; rest != 0; rest >>>= 8) {
                out[--at] = (byte) rest;
            }
            out[at - 1] = (byte) (0x80 | start - at);
            start = at - 1;
            identifier(head);
        }
    }

    private void identifier(long head) {
        LONGS.set(buffer, start - 8, head >>> 8);
        start -= (int) (head & 0xFF);
    }

    /** The identifier of an element in segments: its first byte says that it is constructed. */
    private static long constructed(long head) {
        return head | 0x20L << 8 * (head & 0xFF);
    }

    // Primitive types

    /**
     * Writes a BOOLEAN.
     *
     * @param head its identifier
     * @param value the value
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void bool(long head, boolean value) throws Asn1Exception {
        push(value ? 0xFF : 0);
        header(head, 1);
    }

    /**
     * Writes a NULL.
     *
     * @param head its identifier
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void nothing(long head) throws Asn1Exception {
        header(head, 0);
    }

    /**
     * Writes an INTEGER or ENUMERATED.
     *
     * @param head its identifier
     * @param value the value
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void integer(long head, long value) throws Asn1Exception {
        room(0);
        byte[] out = buffer;
        int at = start;
        // The fewest bytes in which the sign is kept (8.3.2).
        int length = 72 - Long.numberOfLeadingZeros(value ^ value >> 63) >> 3;
        LONGS.set(out, at - 8, value);
        at -= length;
        LONGS.set(out, at - 8, head & ~0xFFL | length);
        start = at - 1 - (int) (head & 0xFF);
    }

    /**
     * Writes an INTEGER in a range.
     *
     * @param head its identifier
     * @param value the value
     * @param least the least value
     * @param most the greatest value
     * @throws Asn1Exception if the value is out of range
     */
    public void integer(long head, long value, long least, long most) throws Asn1Exception {
        if (value < least || value > most) {
            throw Asn1Exception.at(ErrorKind.INTEGER_RANGE, 0);
        }
        integer(head, value);
    }

    /**
     * Writes an INTEGER of any size.
     *
     * @param head its identifier
     * @param value the value
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void bigInteger(long head, BigInteger value) throws Asn1Exception {
        if (value.bitLength() < 64) {
            integer(head, value.longValue());
        } else {
            octetsOf(head, value.toByteArray());
        }
    }

    /**
     * Writes a non-negative INTEGER of 64 bits.
     *
     * @param head its identifier
     * @param value the value
     * @throws Asn1Exception if the value is out of range
     */
    public void unsigned(long head, BigInteger value) throws Asn1Exception {
        if (value.signum() < 0 || value.bitLength() > 64) {
            throw Asn1Exception.at(ErrorKind.INTEGER_RANGE, 0);
        }
        bigInteger(head, value);
    }

    private void octetsOf(long head, byte[] octets) {
        push(octets, 0, octets.length);
        header(head, octets.length);
    }

    private void string(long head, byte[] octets, int from, int length) {
        if (cer && length > 1000) {
            int mark = open();
            for (int at = (length - 1) / 1000 * 1000; at >= 0; at -= 1000) {
                int piece = Math.min(1000, length - at);
                push(octets, from + at, piece);
                header(OCTET_STRING, piece);
            }
            close(constructed(head), mark);
            return;
        }
        push(octets, from, length);
        header(head, length);
    }

    /**
     * Writes an OCTET STRING.
     *
     * @param head its identifier
     * @param value the value
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void octets(long head, Octets value) throws Asn1Exception {
        byte[] octets = value.array();
        int length = value.length();
        int end = value.start() + length;
        int at = start;
        if (length <= 16 && end >= 8 && at >= SLACK) {
            // Always 16 bytes, as branches on short lengths are mispredicted: those in front are overwritten next.
            byte[] out = buffer;
            int first = Math.max(end - 16, 0);
            LONGS.set(out, at - 8, (long) LONGS.get(octets, end - 8));
            LONGS.set(out, at - 16, (long) LONGS.get(octets, first) >>> 8 * (first + 16 - end));
            at -= length;
            LONGS.set(out, at - 8, head & ~0xFFL | length);
            start = at - 1 - (int) (head & 0xFF);
        } else {
            string(head, octets, value.start(), length);
        }
    }

    /**
     * Writes an OCTET STRING of a fixed size.
     *
     * @param head its identifier
     * @param value the value
     * @param size the number of bytes
     * @throws Asn1Exception if the value has another size
     */
    public void octets(long head, Octets value, int size) throws Asn1Exception {
        if (value.length() != size) {
            throw Asn1Exception.at(ErrorKind.CONSTRAINT_VIOLATED, 0);
        }
        octets(head, value);
    }

    /**
     * Writes a BIT STRING.
     *
     * @param head its identifier
     * @param value the value
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void bits(long head, BitString value) throws Asn1Exception {
        Octets octets = value.octets();
        int length = octets.length();
        if (cer && length > 999) {
            int mark = open();
            for (int at = (length - 1) / 999 * 999; at >= 0; at -= 999) {
                int piece = Math.min(999, length - at);
                putBits(octets.array(), octets.start() + at, piece, at + piece == length ? value.unused() : 0);
                header(BIT_STRING, piece + 1);
            }
            close(constructed(head), mark);
            return;
        }
        putBits(octets.array(), octets.start(), length, value.unused());
        header(head, length + 1);
    }

    private void putBits(byte[] octets, int from, int length, int unused) {
        push(octets, from, length);
        if (length > 0) {
            buffer[start + length - 1] &= (byte) (0xFF << unused);
        }
        push(unused);
    }

    /**
     * Writes a BIT STRING of a fixed size.
     *
     * @param head its identifier
     * @param value the value
     * @param size the number of bits
     * @throws Asn1Exception if the value has another size
     */
    public void bits(long head, BitString value, int size) throws Asn1Exception {
        if (value.length() != size) {
            throw Asn1Exception.at(ErrorKind.CONSTRAINT_VIOLATED, 0);
        }
        bits(head, value);
    }

    /**
     * Writes a BIT STRING with named bits: without zero bits at its end in DER and CER (11.2.2).
     *
     * @param head its identifier
     * @param value the value
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void namedBits(long head, BitString value) throws Asn1Exception {
        bits(head, ber ? value : value.trimmed(0));
    }

    /**
     * Writes a BIT STRING with named bits of a fixed size.
     *
     * @param head its identifier
     * @param value the value
     * @param size the number of bits
     * @throws Asn1Exception if the value has another size
     */
    public void namedBits(long head, BitString value, int size) throws Asn1Exception {
        if (value.length() != size) {
            throw Asn1Exception.at(ErrorKind.CONSTRAINT_VIOLATED, 0);
        }
        namedBits(head, value);
    }

    /**
     * Writes an OBJECT IDENTIFIER.
     *
     * @param head its identifier
     * @param value the value
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void oid(long head, ObjectIdentifier value) throws Asn1Exception {
        push(value.contents());
        header(head, value.contents().length());
    }

    /**
     * Writes a RELATIVE-OID.
     *
     * @param head its identifier
     * @param value the value
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void relativeOid(long head, RelativeObjectIdentifier value) throws Asn1Exception {
        push(value.contents());
        header(head, value.contents().length());
    }

    /**
     * Writes a REAL as it came, in DER and CER in the normal form (11.3).
     *
     * @param head its identifier
     * @param value the value
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void real(long head, Asn1Real value) throws Asn1Exception {
        Octets contents = ber ? value.contents() : value.normal();
        push(contents);
        header(head, contents.length());
    }

    /**
     * Writes a REAL.
     *
     * @param head its identifier
     * @param value the value
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void doubleReal(long head, double value) throws Asn1Exception {
        real(head, Asn1Real.of(value));
    }

    /**
     * Writes a character string (8.23).
     *
     * @param head its identifier
     * @param kind the universal number of its type
     * @param value the text
     * @throws Asn1Exception if the text has characters that the type does not have
     */
    public void text(long head, int kind, String value) throws Asn1Exception {
        if (!(cer && value.length() > 1000) && isPut(kind, value)) {
            header(head, value.length());
            return;
        }
        byte[] octets = value.getBytes(StandardCharsets.ISO_8859_1);
        // Other characters became question marks, which the comparison shows.
        if (!Text.isPlain(kind, octets, 0, octets.length) || isReplaced(value, octets)) {
            octets = Text.encode(kind, value, ber);
        }
        if (Text.maySegment(kind)) {
            string(head, octets, 0, octets.length);
        } else {
            octetsOf(head, octets);
        }
    }

    /** Puts a text in front of what is written if its characters are all below 128 and of the type; returns whether they are. */
    private boolean isPut(int kind, String value) {
        int length = value.length();
        room(length);
        int at = start - length;
        if (!Text.put(kind, value, buffer, at)) {
            return false;
        }
        start = at;
        return true;
    }

    private static boolean isReplaced(String text, byte[] octets) {
        for (int i = 0; i < octets.length; i++) {
            if (octets[i] == '?' && text.charAt(i) != '?') {
                return true;
            }
        }
        return octets.length != text.length();
    }

    /**
     * Writes a UTCTime from its text (8.25).
     *
     * @param head its identifier
     * @param value the text
     * @throws Asn1Exception if the text is not one, or not in the form that DER and CER ask for
     */
    public void utcTime(long head, String value) throws Asn1Exception {
        byte[] octets = time(value);
        if (octets == null) {
            octets = value.getBytes(StandardCharsets.UTF_8);
            Times.utc(Octets.known(octets, 0, octets.length), 0, !ber);
        }
        string(head, octets, 0, octets.length);
    }

    /** The bytes of a time that was kept although it is not one. */
    private byte @Nullable [] time(String value) {
        return ber ? Text.escaped(value) : null;
    }

    /**
     * Writes a GeneralizedTime from its text (8.25): in DER and CER without zeros at the end of its fraction (11.7).
     *
     * @param head its identifier
     * @param value the text
     * @throws Asn1Exception if the text is not one, or not in the form that DER and CER ask for
     */
    public void generalizedTime(long head, String value) throws Asn1Exception {
        byte[] octets = time(value);
        if (octets == null) {
            octets = value.getBytes(StandardCharsets.UTF_8);
            Times.generalized(Octets.known(octets, 0, octets.length), 0, false);
            if (!ber) {
                octets = Times.canonicalFraction(value).getBytes(StandardCharsets.UTF_8);
                Times.generalized(Octets.known(octets, 0, octets.length), 0, true);
            }
        }
        string(head, octets, 0, octets.length);
    }

    /**
     * Writes a TIME or a useful time type from the text of its value notation (8.26).
     *
     * @param head its identifier
     * @param kind the universal number of its type
     * @param value the text
     * @throws Asn1Exception if the text is not one
     */
    public void time(long head, int kind, String value) throws Asn1Exception {
        byte[] octets = time(value);
        octetsOf(head, octets != null ? octets : IsoTimes.encode(kind, value, !ber));
    }

    /**
     * Writes a complete element.
     *
     * @param element the element
     * @throws Asn1Exception if it has no bytes
     */
    public void any(Octets element) throws Asn1Exception {
        if (element.isEmpty()) {
            throw Asn1Exception.at(ErrorKind.VALUE_MISMATCH, 0);
        }
        push(element);
    }

    /**
     * Ends a string with a value inside.
     *
     * @param head the identifier of the string
     * @param mark where the value ends
     * @param isBits whether it is a BIT STRING
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void containing(long head, int mark, boolean isBits) throws Asn1Exception {
        int length = length() - mark;
        if (cer && length >= 1000) {
            byte[] contents = Arrays.copyOfRange(buffer, start, start + length);
            start += length;
            contents(head, BitString.of(Octets.known(contents, 0, length), 0), isBits);
            return;
        }
        if (isBits) {
            push(0);
        }
        header(head, length() - mark);
    }

    /**
     * Writes a string whose contents are not decoded.
     *
     * @param head the identifier of the string
     * @param value its bits
     * @param isBits whether it is a BIT STRING
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void contents(long head, BitString value, boolean isBits) throws Asn1Exception {
        if (isBits) {
            bits(head, value);
        } else {
            octets(head, value.octets());
        }
    }

    /**
     * Writes elements that a type does not know.
     *
     * @param additions the elements
     * @throws Asn1Exception if they were read by other rules
     */
    public void additions(UnknownAdditions additions) throws Asn1Exception {
        List<UnknownAdditions.Addition> list = additions.of(Rules.Family.BER);
        for (int i = list.size() - 1; i >= 0; i--) {
            push(list.get(i).encoding());
        }
    }

    // Order

    /**
     * Sorts the elements of a SET OF in DER and CER (11.6).
     *
     * @param mark where they end
     * @throws Asn1Exception if what was written since are not whole elements
     */
    public void sortSetOf(int mark) throws Asn1Exception {
        if (!ber) {
            sort(mark, Comparator.naturalOrder());
        }
    }

    /**
     * Sorts the elements of a SET by their tags in DER (10.3).
     *
     * @param mark where they end
     * @param inCer whether to do so in CER too
     * @throws Asn1Exception if what was written since are not whole elements
     */
    public void sortSet(int mark, boolean inCer) throws Asn1Exception {
        if (rules == Rules.DER || cer && inCer) {
            sort(mark, (a, b) -> Integer.compareUnsigned(tagOf(a), tagOf(b)));
        }
    }

    private int tagOf(Octets element) {
        return new BerReader(element.array(), element.start(), element.length(), 0, Rules.BER, Limits.DEFAULT).identifier();
    }

    private void sort(int mark, Comparator<Octets> order) throws Asn1Exception {
        int length = length() - mark;
        byte[] copy = Arrays.copyOfRange(buffer, start, start + length);
        BerReader reader = new BerReader(copy, 0, length, 0, rules, Limits.DEFAULT);
        List<Octets> elements = new ArrayList<>();
        while (reader.hasMore()) {
            elements.add(reader.element());
        }
        elements.sort(order);
        int at = start;
        for (Octets element : elements) {
            System.arraycopy(element.array(), element.start(), buffer, at, element.length());
            at += element.length();
        }
    }
}
