package io.tercet.runtime;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads BER, DER and CER (X.690). For generated code.
 *
 * <p>A primitive element with a short length, which nine of ten are, is read by a few comparisons; all others, and all
 * faults, by {@link BerElements}. A reader belongs to one thread.
 */
public final class BerReader extends BerElements {
    /** Elements that a list makes room for at once at most. */
    private static final int ROOM = 8 * 1024;

    BerReader(byte[] input, int start, int length, long base, Rules rules, Limits limits) {
        super(input, start, length, base, rules, limits);
    }

    // Levels

    /**
     * Enters a constructed element.
     *
     * @param tag its tag
     * @return the level around it, for {@link #leave}
     * @throws Asn1Exception if there is no such element
     */
    public long enter(int tag) throws Asn1Exception {
        int length = extent(tag, 0x20);
        if (length >= 0 && !cer && depth > 0) {
            depth--;
            long frame = frame();
            pos = at;
            end = at + length;
            bounded = true;
            indefinite = false;
            return frame;
        }
        expectHeader(tag);
        return enterHeader();
    }

    /**
     * Leaves a constructed element at its end.
     *
     * @param frame the level around it
     * @throws Asn1Exception if elements are left
     */
    public void leave(long frame) throws Asn1Exception {
        if (indefinite || pos != end) {
            leaveLong();
        }
        restore(frame);
    }

    /**
     * Leaves an element of a SEQUENCE whose components have been read in order.
     *
     * @param frame the level around it
     * @param place finds components, of which one that is left comes late or twice
     * @throws Asn1Exception if elements are left
     */
    public void leave(long frame, Components place) throws Asn1Exception {
        try {
            leave(frame);
        } catch (Asn1Exception fault) {
            throw fault.kind() == ErrorKind.UNEXPECTED_ELEMENT ? fault.in(place, place.find(identifier(), 0)) : fault;
        }
    }

    /**
     * Leaves an element of an extensible type, over what the type does not know.
     *
     * @param frame the level around it
     * @param place finds components, which come late or twice here
     * @throws Asn1Exception if what is left is a known component, or cannot be read
     */
    public void leaveExtensible(long frame, Components place) throws Asn1Exception {
        if (indefinite || pos != end) {
            while (hasMore()) {
                passUnknown(place);
            }
        }
        leave(frame);
    }

    /**
     * Passes over an element that a SEQUENCE does not know.
     *
     * @param place finds components, which come late or twice here
     * @throws Asn1Exception if it is a known component, or cannot be read
     */
    public void passUnknown(Components place) throws Asn1Exception {
        checkNotLate(place);
        element();
    }

    /**
     * Returns how many elements a list may have, as far as this can be seen quickly.
     *
     * @return the number of elements to make room for
     */
    public int elements() {
        int count = 0;
        int p = pos;
        while (p < end && count < ROOM) {
            p++;
            if ((input[p - 1] & 0x1F) == 0x1F) {
                while (p < end && input[p] < 0) {
                    p++;
                }
                p++;
            }
            if (p >= end) {
                break;
            }
            int length = input[p++];
            if (length < 0) {
                // Longer elements are few.
                if (length != (byte) 0x81 || p >= end) {
                    return count + 1;
                }
                length = input[p++] & 0xFF;
            }
            p += length;
            count++;
        }
        return count;
    }

    // Primitive types

    /**
     * Reads a BOOLEAN (8.2).
     *
     * @param tag its tag
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public boolean bool(int tag) throws Asn1Exception {
        if (extent(tag, 0) == 1) {
            byte octet = input[at];
            if (octet == 0 || octet == -1) {
                pos = at + 1;
                return octet != 0;
            }
        }
        expectHeader(tag);
        long offset = offset();
        int length = contents();
        if (length != 1) {
            throw Asn1Exception.at(ErrorKind.BOOLEAN_LENGTH, offset);
        }
        byte octet = input[at];
        if (octet != 0 && octet != -1 && !ber) {
            throw Asn1Exception.at(ErrorKind.BOOLEAN_NOT_CANONICAL, offset);
        }
        return octet != 0;
    }

    /**
     * Reads a NULL (8.8).
     *
     * @param tag its tag
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public Null nothing(int tag) throws Asn1Exception {
        expectHeader(tag);
        long offset = offset();
        if (contents() != 0) {
            throw Asn1Exception.at(ErrorKind.NULL_NOT_EMPTY, offset);
        }
        return Null.NULL;
    }

    /**
     * Reads an INTEGER or ENUMERATED in 64 bits (8.3, 8.4).
     *
     * @param tag its tag
     * @return the value
     * @throws Asn1Exception if there is none, or it does not fit
     */
    public long integer(int tag) throws Asn1Exception {
        int length = extent(tag, 0);
        if (length > 0 && length <= 8 && !isPadded(at, length)) {
            int p = at;
            long value = input[p++];
            for (int last = at + length; p < last; p++) {
                value = value << 8 | input[p] & 0xFF;
            }
            pos = p;
            return value;
        }
        return longInteger(tag);
    }

    /**
     * Reads an INTEGER in a range.
     *
     * @param tag its tag
     * @param least the least value
     * @param most the greatest value
     * @return the value
     * @throws Asn1Exception if there is none, or it is out of range
     */
    public long integer(int tag, long least, long most) throws Asn1Exception {
        int start = pos;
        long value = integer(tag);
        if (value < least || value > most) {
            pos = start;
            throw error(ErrorKind.INTEGER_RANGE);
        }
        return value;
    }

    /**
     * Reads an INTEGER in a range of 32 bits.
     *
     * @param tag its tag
     * @param least the least value
     * @param most the greatest value
     * @return the value
     * @throws Asn1Exception if there is none, or it is out of range
     */
    public int integer(int tag, int least, int most) throws Asn1Exception {
        return (int) integer(tag, (long) least, (long) most);
    }

    /**
     * Reads the number of an ENUMERATED without later versions.
     *
     * @param tag its tag
     * @return the number
     * @throws Asn1Exception if there is none
     */
    public long enumerated(int tag) throws Asn1Exception {
        try {
            return integer(tag);
        } catch (Asn1Exception fault) {
            // What takes no other numbers has no place for such a large one.
            throw fault.kind() == ErrorKind.INTEGER_RANGE
                    ? Asn1Exception.at(ErrorKind.UNKNOWN_ENUMERATION, fault.offset())
                    : fault;
        }
    }

    /**
     * Returns the fault of a number that is not one of an ENUMERATED.
     *
     * @param position where its element begins
     * @return the fault
     */
    public Asn1Exception unknownEnumeration(int position) {
        pos = position;
        return error(ErrorKind.UNKNOWN_ENUMERATION);
    }

    /**
     * Reads an INTEGER of any size (8.3).
     *
     * @param tag its tag
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public BigInteger bigInteger(int tag) throws Asn1Exception {
        expectHeader(tag);
        long offset = offset();
        int length = minimal(contents(), offset);
        return length <= 8 ? BigInteger.valueOf(number(at, length)) : new BigInteger(input, at, length);
    }

    /**
     * Reads a non-negative INTEGER of 64 bits (8.3).
     *
     * @param tag its tag
     * @return the value
     * @throws Asn1Exception if there is none, or it is out of range
     */
    public BigInteger unsigned(int tag) throws Asn1Exception {
        long element = offset();
        BigInteger value = bigInteger(tag);
        if (value.signum() < 0 || value.bitLength() > 64) {
            throw Asn1Exception.at(ErrorKind.INTEGER_RANGE, element);
        }
        return value;
    }

    /**
     * Reads an OCTET STRING (8.7).
     *
     * @param tag its tag
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public Octets octets(int tag) throws Asn1Exception {
        int length = extent(tag, 0);
        if (length >= 0) {
            pos = at + length;
            return Octets.known(input, at, length);
        }
        expectHeader(tag);
        return string(BerTag.OCTET_STRING);
    }

    /**
     * Reads an OCTET STRING of a fixed size.
     *
     * @param tag its tag
     * @param size the number of bytes
     * @return the value
     * @throws Asn1Exception if there is none, or it has another size
     */
    public Octets octets(int tag, int size) throws Asn1Exception {
        long element = offset();
        Octets octets = octets(tag);
        if (octets.length() != size) {
            throw Asn1Exception.at(ErrorKind.CONSTRAINT_VIOLATED, element);
        }
        return octets;
    }

    /**
     * Reads a BIT STRING (8.6).
     *
     * @param tag its tag
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public BitString bits(int tag) throws Asn1Exception {
        expectHeader(tag);
        return bitString();
    }

    /**
     * Reads a BIT STRING of a fixed size.
     *
     * @param tag its tag
     * @param size the number of bits
     * @return the value
     * @throws Asn1Exception if there is none, or it has another size
     */
    public BitString bits(int tag, int size) throws Asn1Exception {
        long element = offset();
        BitString bits = bits(tag);
        if (bits.length() != size) {
            throw Asn1Exception.at(ErrorKind.CONSTRAINT_VIOLATED, element);
        }
        return bits;
    }

    /**
     * Reads a BIT STRING with named bits (11.2.2).
     *
     * @param tag its tag
     * @param least the least number of bits, for which zero bits are added
     * @param most the greatest number of bits, for which zero bits are removed
     * @return the value
     * @throws Asn1Exception if there is none, or it ends with a zero bit in DER or CER
     */
    public BitString namedBits(int tag, int least, long most) throws Asn1Exception {
        expectHeader(tag);
        long offset = offset();
        BitString bits = bitString();
        if (!ber && bits.trimmed(0).length() != bits.length()) {
            throw Asn1Exception.at(ErrorKind.BIT_STRING_TRAILING_ZERO, offset);
        }
        return bits.resized(least, most);
    }

    /**
     * Reads a BIT STRING with named bits of a fixed size.
     *
     * @param tag its tag
     * @param size the number of bits
     * @return the value
     * @throws Asn1Exception as {@link #namedBits(int, int, long)}, or for a one bit behind the size
     */
    public BitString namedBits(int tag, int size) throws Asn1Exception {
        long element = offset();
        BitString bits = namedBits(tag, size, size);
        if (bits.length() != size) {
            throw Asn1Exception.at(ErrorKind.CONSTRAINT_VIOLATED, element);
        }
        return bits;
    }

    /**
     * Reads an OBJECT IDENTIFIER (8.19).
     *
     * @param tag its tag
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public ObjectIdentifier oid(int tag) throws Asn1Exception {
        return ObjectIdentifier.known(arcs(tag));
    }

    /**
     * Reads a RELATIVE-OID (8.20).
     *
     * @param tag its tag
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public RelativeObjectIdentifier relativeOid(int tag) throws Asn1Exception {
        return RelativeObjectIdentifier.known(arcs(tag));
    }

    private Octets arcs(int tag) throws Asn1Exception {
        expectHeader(tag);
        long offset = offset();
        int length = contents();
        Arcs.check(input, at, length, offset);
        return Octets.known(input, at, length);
    }

    /**
     * Reads a REAL as it was encoded (8.5).
     *
     * @param tag its tag
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public Asn1Real real(int tag) throws Asn1Exception {
        expectHeader(tag);
        long offset = offset();
        int length = contents();
        return Asn1Real.checked(Octets.known(input, at, length), offset, ber);
    }

    /**
     * Reads a REAL as the nearest {@code double} (8.5).
     *
     * @param tag its tag
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public double doubleReal(int tag) throws Asn1Exception {
        return real(tag).doubleValue();
    }

    /**
     * Reads a character string (8.23).
     *
     * @param tag its tag
     * @param kind the universal number of its type
     * @return the text; see {@link Text} for characters that are not of the type
     * @throws Asn1Exception if there is none
     */
    public String text(int tag, int kind) throws Asn1Exception {
        int length = extent(tag, 0);
        if (length >= 0 && Text.isPlain(kind, input, at, length)) {
            pos = at + length;
            return new String(input, at, length, StandardCharsets.ISO_8859_1);
        }
        expectHeader(tag);
        long offset = offset();
        Octets octets = Text.maySegment(kind) ? string(kind) : primitive();
        try {
            return Text.decode(kind, octets.array(), octets.start(), octets.length(), offset);
        } catch (Asn1Exception fault) {
            return keep(fault, Text.keep(kind, octets));
        }
    }

    /**
     * Reads a UTCTime (8.25).
     *
     * @param tag its tag
     * @return its text
     * @throws Asn1Exception if there is none
     */
    public String utcTime(int tag) throws Asn1Exception {
        expectHeader(tag);
        long offset = offset();
        Octets octets = string(23);
        try {
            return Times.utc(octets, offset, !ber);
        } catch (Asn1Exception fault) {
            return keep(fault, Text.escape(octets));
        }
    }

    /**
     * Reads a GeneralizedTime (8.25).
     *
     * @param tag its tag
     * @return its text
     * @throws Asn1Exception if there is none
     */
    public String generalizedTime(int tag) throws Asn1Exception {
        expectHeader(tag);
        long offset = offset();
        Octets octets = string(24);
        try {
            return Times.generalized(octets, offset, !ber);
        } catch (Asn1Exception fault) {
            return keep(fault, Text.escape(octets));
        }
    }

    /**
     * Reads a TIME or a useful time type (8.26).
     *
     * @param tag its tag
     * @param kind the universal number of its type
     * @return the text of its value notation
     * @throws Asn1Exception if there is none
     */
    public String time(int tag, int kind) throws Asn1Exception {
        expectHeader(tag);
        long offset = offset();
        Octets octets = primitive();
        try {
            return IsoTimes.decode(kind, octets, offset, !ber);
        } catch (Asn1Exception fault) {
            return keep(fault, Text.escape(octets));
        }
    }

    /** Returns the text of what breaks the rules of its type, if BER is read and not strictly. */
    private String keep(Asn1Exception fault, String kept) throws Asn1Exception {
        if (!ber || strict) {
            throw fault;
        }
        return kept;
    }

    /**
     * Reads a complete element of any type.
     *
     * @return the element
     * @throws Asn1Exception if there is none, or it cannot be read
     */
    public Octets any() throws Asn1Exception {
        int start = pos;
        anyHeader();
        skipChecked();
        return Octets.known(input, start, pos - start);
    }

    /** Reads a complete element that no type is known of. */
    Octets element() throws Asn1Exception {
        int start = pos;
        if (!nextHeader()) {
            throw missing();
        }
        skipChecked();
        return Octets.known(input, start, pos - start);
    }

    /**
     * Reads an alternative of a later version.
     *
     * @return the alternative
     * @throws Asn1Exception as {@link #any()}
     */
    public UnknownAlternative unknownAlternative() throws Asn1Exception {
        return new UnknownAlternative(-1, element());
    }

    /**
     * Reads an OCTET STRING or BIT STRING whose contents are a value.
     *
     * @param tag its tag
     * @param isBits whether it is a BIT STRING
     * @return the string
     * @throws Asn1Exception if there is none
     */
    public BitString containing(int tag, boolean isBits) throws Asn1Exception {
        expectHeader(tag);
        return isBits ? bitString() : BitString.of(string(BerTag.OCTET_STRING), 0);
    }

    /**
     * Returns a reader of the value in a string that was just read.
     *
     * @param string the string
     * @return the reader, or null if the string does not stand in one piece
     */
    public @Nullable BerReader inside(BitString string) {
        Octets octets = string.octets();
        if (octets.array() != input || string.unused() != 0) {
            return null;
        }
        // What is in the string ends where the reader stands, unless the string had an indefinite length.
        BerReader inner = new BerReader(input, octets.start(), octets.length(), base, this);
        return inner;
    }

    private BerReader(byte[] input, int start, int length, long base, BerReader around) {
        super(input, start, length, base, around);
    }

    /**
     * Returns whether nothing follows the value that was read.
     *
     * @return whether the reader is at its end
     */
    public boolean isFinished() {
        return pos == end;
    }

    // Components in order or by tag

    /**
     * Checks that an element comes in the order of a SEQUENCE: each position once, not behind a later one, and not before the
     * last of those required before it.
     *
     * @param last the position of the element before, from 1
     * @param position the position of the element
     * @param least the position of the last required component before it, or 0
     * @param required the positions of required components
     * @param place the names of all components
     * @return the position
     * @throws Asn1Exception if the element is out of order
     */
    public int inOrder(int last, int position, int least, int[] required, Components place) throws Asn1Exception {
        if (position <= last || last < least) {
            throw outOfOrder(last, position, required, place);
        }
        return position;
    }

    /**
     * Checks that an unknown element stands where the additions of a SEQUENCE do.
     *
     * @param last the position of the element before, from 1
     * @param additions the position of the component in front of the additions
     * @param required the positions of required components
     * @param place the names of all components
     * @return the position
     * @throws Asn1Exception if the element stands elsewhere
     */
    public int inAdditions(int last, int additions, int[] required, Components place) throws Asn1Exception {
        peekHeader();
        boolean isLate = last > additions;
        for (int number : required) {
            if (number > last && (isLate || number <= additions)) {
                throw error(ErrorKind.MISSING_COMPONENT).in(place, number - 1);
            }
        }
        if (isLate) {
            throw error(ErrorKind.UNEXPECTED_ELEMENT);
        }
        return additions;
    }

    /**
     * Checks that an element of a SET comes once, and in DER and CER in the order of the tags.
     *
     * @param present whether the component has been there
     * @param last the tag of the element before
     * @param tag the tag of the element
     * @param component the name of the component
     * @return the tag
     * @throws Asn1Exception if the element comes twice or out of order
     */
    public int inSet(boolean present, int last, int tag, String component) throws Asn1Exception {
        if (present || !ber && Integer.compareUnsigned(tag, last) < 0) {
            peekHeader(component);
            throw error(present ? ErrorKind.DUPLICATE_COMPONENT : ErrorKind.SET_ORDER).in(component);
        }
        return tag;
    }

    private void peekHeader(String component) throws Asn1Exception {
        try {
            peekHeader();
        } catch (Asn1Exception fault) {
            throw fault.in(component);
        }
    }

    /**
     * Returns the tag by which an untagged CHOICE stands in a SET: the least of its alternatives in CER (9.3), in DER that of
     * the chosen one (10.3).
     *
     * @param tag the tag of the chosen one
     * @param least the least tag
     * @return the tag that counts
     */
    public int setKey(int tag, int least) {
        return cer ? least : tag;
    }

    /**
     * Checks that a component is left out in DER and CER if it equals its DEFAULT (11.5).
     *
     * @param equal whether it does
     * @param start where it began
     * @throws Asn1Exception if it is there although it equals its DEFAULT
     */
    public void notDefault(boolean equal, int start) throws Asn1Exception {
        if (equal && !ber) {
            pos = start;
            throw error(ErrorKind.DEFAULT_ENCODED);
        }
    }

    /**
     * Checks that the elements of a SET OF come in order in DER and CER (11.6).
     *
     * @param previous where the element before begins, or -1
     * @param start where the element that was just read begins, and the one before ends
     * @return {@code start}
     * @throws Asn1Exception if it is less than the one before
     */
    public int inSetOf(int previous, int start) throws Asn1Exception {
        if (!ber && previous >= 0 && Arrays.compareUnsigned(input, previous, start, input, start, pos) > 0) {
            pos = start;
            throw error(ErrorKind.SET_OF_ORDER);
        }
        return start;
    }
}
