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
 */
public final class BerWriter {
    /** Bytes that are free in front of what is written, whatever is written next: a header, or a number. */
    private static final int SLACK = 32;

    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
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
        int end = from + length;
        if (length <= 16 && end >= 16) {
            // Always 16 bytes, as branches on short lengths are mispredicted: those in front are overwritten next.
            byte[] out = buffer;
            int at = start;
            LONGS.set(out, at - 8, (long) LONGS.get(octets, end - 8));
            LONGS.set(out, at - 16, (long) LONGS.get(octets, end - 16));
            start = at - length;
        } else {
            copy(octets, from, length);
        }
    }

    /** Copies into the room in front of what is written. */
    private void copy(byte[] octets, int from, int length) {
        byte[] out = buffer;
        int at = start - length;
        if (length < 16) {
            for (int i = 0; i < length; i++) {
                out[at + i] = octets[from + i];
            }
        } else {
            System.arraycopy(octets, from, out, at, length);
        }
        start = at;
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
     * @param tag its tag
     * @param mark the position of {@link #open}
     */
    public void close(int tag, int mark) {
        if (cer) {
            room(0);
            byte[] out = buffer;
            int at = start;
            out[--at] = (byte) 0x80;
            start = putTag(out, at, tag, 0x20);
        } else {
            header(tag, 0x20, length() - mark);
        }
    }

    /**
     * Puts the header of a primitive element in front of what was written since.
     *
     * @param tag its tag
     * @param mark the position of {@link #mark}
     */
    public void primitive(int tag, int mark) {
        header(tag, length() - mark);
    }

    private void header(int tag, int length) {
        header(tag, 0, length);
    }

    /** Puts a header in front of what is written: the usual ones by one store. */
    private void header(int tag, int form, int length) {
        room(0);
        byte[] out = buffer;
        int at = start;
        int number = tag & 0x1FFFFFFF;
        if (length < 0x80 && number < 0x80) {
            int first = tag >>> 24 & 0xC0 | form;
            boolean isLow = number < 31;
            int identifier = isLow ? first | number : (first | 0x1F) << 8 | number;
            INTS.set(out, at - 4, identifier << 8 | length);
            start = at - (isLow ? 2 : 3);
        } else {
            start = putTag(out, putLength(out, at, length), tag, form);
        }
    }

    private static int putLength(byte[] out, int from, int length) {
        int at = from;
        if (length < 0x80) {
            out[--at] = (byte) length;
            return at;
        }
        for (int rest = length; rest != 0; rest >>>= 8) {
            out[--at] = (byte) rest;
        }
        int count = from - at;
        out[--at] = (byte) (0x80 | count);
        return at;
    }

    private static int putTag(byte[] out, int from, int tag, int form) {
        int at = from;
        int first = tag >>> 24 & 0xC0 | form;
        int number = tag & 0x1FFFFFFF;
        if (number < 31) {
            out[--at] = (byte) (first | number);
            return at;
        }
        out[--at] = (byte) (number & 0x7F);
        for (int rest = number >> 7; rest != 0; rest >>= 7) {
            out[--at] = (byte) (rest | 0x80);
        }
        out[--at] = (byte) (first | 0x1F);
        return at;
    }

    // Primitive types

    /**
     * Writes a BOOLEAN.
     *
     * @param tag its tag
     * @param value the value
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void bool(int tag, boolean value) throws Asn1Exception {
        push(value ? 0xFF : 0);
        header(tag, 1);
    }

    /**
     * Writes a NULL.
     *
     * @param tag its tag
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void nothing(int tag) throws Asn1Exception {
        header(tag, 0);
    }

    /**
     * Writes an INTEGER or ENUMERATED.
     *
     * @param tag its tag
     * @param value the value
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void integer(int tag, long value) throws Asn1Exception {
        room(8);
        int at = start;
        // The fewest bytes in which the sign is kept (8.3.2).
        int length = 72 - Long.numberOfLeadingZeros(value ^ value >> 63) >> 3;
        LONGS.set(buffer, at - 8, value);
        start = at - length;
        header(tag, length);
    }

    /**
     * Writes an INTEGER in a range.
     *
     * @param tag its tag
     * @param value the value
     * @param least the least value
     * @param most the greatest value
     * @throws Asn1Exception if the value is out of range
     */
    public void integer(int tag, long value, long least, long most) throws Asn1Exception {
        if (value < least || value > most) {
            throw Asn1Exception.at(ErrorKind.INTEGER_RANGE, 0);
        }
        integer(tag, value);
    }

    /**
     * Writes an INTEGER of any size.
     *
     * @param tag its tag
     * @param value the value
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void bigInteger(int tag, BigInteger value) throws Asn1Exception {
        if (value.bitLength() < 64) {
            integer(tag, value.longValue());
        } else {
            octetsOf(tag, value.toByteArray());
        }
    }

    /**
     * Writes a non-negative INTEGER of 64 bits.
     *
     * @param tag its tag
     * @param value the value
     * @throws Asn1Exception if the value is out of range
     */
    public void unsigned(int tag, BigInteger value) throws Asn1Exception {
        if (value.signum() < 0 || value.bitLength() > 64) {
            throw Asn1Exception.at(ErrorKind.INTEGER_RANGE, 0);
        }
        bigInteger(tag, value);
    }

    private void octetsOf(int tag, byte[] octets) {
        push(octets, 0, octets.length);
        header(tag, octets.length);
    }

    private void string(int tag, byte[] octets, int from, int length) {
        if (cer && length > 1000) {
            int mark = open();
            for (int at = (length - 1) / 1000 * 1000; at >= 0; at -= 1000) {
                int piece = Math.min(1000, length - at);
                push(octets, from + at, piece);
                header(BerTag.OCTET_STRING, piece);
            }
            close(tag, mark);
            return;
        }
        push(octets, from, length);
        header(tag, length);
    }

    /**
     * Writes an OCTET STRING.
     *
     * @param tag its tag
     * @param value the value
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void octets(int tag, Octets value) throws Asn1Exception {
        string(tag, value.array(), value.start(), value.length());
    }

    /**
     * Writes an OCTET STRING of a fixed size.
     *
     * @param tag its tag
     * @param value the value
     * @param size the number of bytes
     * @throws Asn1Exception if the value has another size
     */
    public void octets(int tag, Octets value, int size) throws Asn1Exception {
        if (value.length() != size) {
            throw Asn1Exception.at(ErrorKind.CONSTRAINT_VIOLATED, 0);
        }
        octets(tag, value);
    }

    /**
     * Writes a BIT STRING.
     *
     * @param tag its tag
     * @param value the value
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void bits(int tag, BitString value) throws Asn1Exception {
        Octets octets = value.octets();
        int length = octets.length();
        if (cer && length > 999) {
            int mark = open();
            for (int at = (length - 1) / 999 * 999; at >= 0; at -= 999) {
                int piece = Math.min(999, length - at);
                putBits(octets.array(), octets.start() + at, piece, at + piece == length ? value.unused() : 0);
                header(BerTag.BIT_STRING, piece + 1);
            }
            close(tag, mark);
            return;
        }
        putBits(octets.array(), octets.start(), length, value.unused());
        header(tag, length + 1);
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
     * @param tag its tag
     * @param value the value
     * @param size the number of bits
     * @throws Asn1Exception if the value has another size
     */
    public void bits(int tag, BitString value, int size) throws Asn1Exception {
        if (value.length() != size) {
            throw Asn1Exception.at(ErrorKind.CONSTRAINT_VIOLATED, 0);
        }
        bits(tag, value);
    }

    /**
     * Writes a BIT STRING with named bits: without zero bits at its end in DER and CER (11.2.2).
     *
     * @param tag its tag
     * @param value the value
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void namedBits(int tag, BitString value) throws Asn1Exception {
        bits(tag, ber ? value : value.trimmed(0));
    }

    /**
     * Writes a BIT STRING with named bits of a fixed size.
     *
     * @param tag its tag
     * @param value the value
     * @param size the number of bits
     * @throws Asn1Exception if the value has another size
     */
    public void namedBits(int tag, BitString value, int size) throws Asn1Exception {
        if (value.length() != size) {
            throw Asn1Exception.at(ErrorKind.CONSTRAINT_VIOLATED, 0);
        }
        namedBits(tag, value);
    }

    /**
     * Writes an OBJECT IDENTIFIER.
     *
     * @param tag its tag
     * @param value the value
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void oid(int tag, ObjectIdentifier value) throws Asn1Exception {
        push(value.contents());
        header(tag, value.contents().length());
    }

    /**
     * Writes a RELATIVE-OID.
     *
     * @param tag its tag
     * @param value the value
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void relativeOid(int tag, RelativeObjectIdentifier value) throws Asn1Exception {
        push(value.contents());
        header(tag, value.contents().length());
    }

    /**
     * Writes a REAL as it came, in DER and CER in the normal form (11.3).
     *
     * @param tag its tag
     * @param value the value
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void real(int tag, Asn1Real value) throws Asn1Exception {
        Octets contents = ber ? value.contents() : value.normal();
        push(contents);
        header(tag, contents.length());
    }

    /**
     * Writes a REAL.
     *
     * @param tag its tag
     * @param value the value
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void doubleReal(int tag, double value) throws Asn1Exception {
        real(tag, Asn1Real.of(value));
    }

    /**
     * Writes a character string (8.23).
     *
     * @param tag its tag
     * @param kind the universal number of its type
     * @param value the text
     * @throws Asn1Exception if the text has characters that the type does not have
     */
    public void text(int tag, int kind, String value) throws Asn1Exception {
        if (!(cer && value.length() > 1000) && isCopied(kind, value)) {
            header(tag, value.length());
            return;
        }
        byte[] octets = value.getBytes(StandardCharsets.ISO_8859_1);
        // Other characters became question marks, which the comparison shows.
        if (!Text.isPlain(kind, octets, 0, octets.length) || isReplaced(value, octets)) {
            octets = Text.encode(kind, value, ber);
        }
        if (Text.maySegment(kind)) {
            string(tag, octets, 0, octets.length);
        } else {
            octetsOf(tag, octets);
        }
    }

    /** Copies a text whose characters are all below 128 and of the type in front of the buffer; returns whether it has. */
    @SuppressWarnings("deprecation")
    private boolean isCopied(int kind, String value) {
        int length = value.length();
        room(length);
        int at = start - length;
        // The low byte of each character.
        value.getBytes(0, length, buffer, at);
        if (!Text.isPlain(kind, buffer, at, length)) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if (value.charAt(i) != buffer[at + i]) {
                return false;
            }
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
     * @param tag its tag
     * @param value the text
     * @throws Asn1Exception if the text is not one, or not in the form that DER and CER ask for
     */
    public void utcTime(int tag, String value) throws Asn1Exception {
        byte[] octets = time(value);
        if (octets == null) {
            octets = value.getBytes(StandardCharsets.UTF_8);
            Times.utc(Octets.known(octets, 0, octets.length), 0, !ber);
        }
        string(tag, octets, 0, octets.length);
    }

    /** The bytes of a time that was kept although it is not one. */
    private byte @Nullable [] time(String value) {
        return ber ? Text.escaped(value) : null;
    }

    /**
     * Writes a GeneralizedTime from its text (8.25): in DER and CER without zeros at the end of its fraction (11.7).
     *
     * @param tag its tag
     * @param value the text
     * @throws Asn1Exception if the text is not one, or not in the form that DER and CER ask for
     */
    public void generalizedTime(int tag, String value) throws Asn1Exception {
        byte[] octets = time(value);
        if (octets == null) {
            octets = value.getBytes(StandardCharsets.UTF_8);
            Times.generalized(Octets.known(octets, 0, octets.length), 0, false);
            if (!ber) {
                octets = Times.canonicalFraction(value).getBytes(StandardCharsets.UTF_8);
                Times.generalized(Octets.known(octets, 0, octets.length), 0, true);
            }
        }
        string(tag, octets, 0, octets.length);
    }

    /**
     * Writes a TIME or a useful time type from the text of its value notation (8.26).
     *
     * @param tag its tag
     * @param kind the universal number of its type
     * @param value the text
     * @throws Asn1Exception if the text is not one
     */
    public void time(int tag, int kind, String value) throws Asn1Exception {
        byte[] octets = time(value);
        octetsOf(tag, octets != null ? octets : IsoTimes.encode(kind, value, !ber));
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
     * @param tag the tag of the string
     * @param mark where the value ends
     * @param isBits whether it is a BIT STRING
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void containing(int tag, int mark, boolean isBits) throws Asn1Exception {
        int length = length() - mark;
        if (cer && length >= 1000) {
            byte[] contents = Arrays.copyOfRange(buffer, start, start + length);
            start += length;
            contents(tag, BitString.of(Octets.known(contents, 0, length), 0), isBits);
            return;
        }
        if (isBits) {
            push(0);
        }
        primitive(tag, mark);
    }

    /**
     * Writes a string whose contents are not decoded.
     *
     * @param tag the tag of the string
     * @param value its bits
     * @param isBits whether it is a BIT STRING
     * @throws Asn1Exception never; other types may have values that cannot be written
     */
    public void contents(int tag, BitString value, boolean isBits) throws Asn1Exception {
        if (isBits) {
            bits(tag, value);
        } else {
            octets(tag, value.octets());
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
