package io.tercet.runtime;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** Reads PER, aligned and unaligned (X.691). For generated code. A reader belongs to one thread. */
public final class PerReader extends Bits {
    /** Elements of no bits in one value: they cost nothing to announce, so they are counted. */
    private static final int EMPTY_ELEMENTS = 65_536;

    /** Bytes of strings in fragments that are joined; longer ones are refused. */
    private static final int LONGEST = 1 << 28;

    private static final int FRAGMENT = 16 * 1024;

    private static final Octets ZERO = Octets.of((byte) 0);

    private final boolean canonical;
    private int depth;
    private int empty = EMPTY_ELEMENTS;

    /** Whether the length that was read last is that of a fragment. */
    private boolean more;

    PerReader(byte[] input, int start, int length, Rules rules, Limits limits) {
        super(input, start, length, rules.isAligned());
        canonical = rules.isCanonical();
        depth = limits.depth();
    }

    /**
     * Reads one element of a list.
     *
     * @param <T> the type of the element
     */
    @FunctionalInterface
    public interface Element<T> {
        /**
         * Reads the element.
         *
         * @param r the reader
         * @return the element
         * @throws Asn1Exception if there is none
         */
        T read(PerReader r) throws Asn1Exception;
    }

    /** The bytes that a whole value took, at least one (11.1). */
    int finish() throws Asn1Exception {
        if (last == first) {
            throw Asn1Exception.incompleteAtBit(0, 1);
        }
        return (int) Math.max((position() + 7) / 8, 1);
    }

    /**
     * Begins a value with parts.
     *
     * @throws Asn1Exception if there are too many inside one another
     */
    public void beginValue() throws Asn1Exception {
        if (depth == 0) {
            throw error(ErrorKind.DEPTH_LIMIT);
        }
        depth--;
    }

    /** Ends a value with parts. */
    public void endValue() {
        depth++;
    }

    /**
     * Returns the fault of a kind at this place.
     *
     * @param kind what is wrong
     * @return the fault
     */
    public Asn1Exception error(ErrorKind kind) {
        return errorAt(kind, at);
    }

    // Numbers

    /**
     * Reads a constrained whole number less its least value (11.5).
     *
     * @param whole how it is written
     * @param span the greatest number, without a sign
     * @return the number
     * @throws Asn1Exception if it is greater, or not there
     */
    public long whole(PerWhole whole, long span) throws Asn1Exception {
        long start = at;
        long number;
        switch (whole.form()) {
            case NOTHING -> number = 0;
            case BITS -> number = bits(whole.width());
            case ALIGNED -> {
                align();
                number = bits(whole.width());
            }
            default -> {
                long octets = bits(whole.width()) + 1;
                if (octets > whole.most()) {
                    throw error(ErrorKind.CONSTRAINT_VIOLATED);
                }
                align();
                number = bits((int) octets * 8);
            }
        }
        if (Long.compareUnsigned(number, span) > 0) {
            throw errorAt(ErrorKind.CONSTRAINT_VIOLATED, start);
        }
        return number;
    }

    /**
     * Reads a constrained whole number of a few bits less its least value (11.5).
     *
     * @param width its bits, at most 56
     * @param span the greatest number
     * @return the number
     * @throws Asn1Exception if it is greater, or not there
     */
    public long whole(int width, long span) throws Asn1Exception {
        long start = at;
        long number = bits(width);
        if (number > span) {
            throw errorAt(ErrorKind.CONSTRAINT_VIOLATED, start);
        }
        return number;
    }

    /**
     * Reads the number of an alternative of the root (23.4).
     *
     * @param whole how it is written
     * @param count how many there are
     * @param extensible whether an extension bit in front belongs to it
     * @return the number
     * @throws Asn1Exception if there is no such alternative
     */
    public int alternative(PerWhole whole, int count, boolean extensible) throws Asn1Exception {
        return numbered(whole, count, extensible, ErrorKind.UNKNOWN_ALTERNATIVE);
    }

    /**
     * Reads the number of an item of the root (14.2).
     *
     * @param whole how it is written
     * @param count how many there are
     * @param extensible whether an extension bit in front belongs to it
     * @return the number
     * @throws Asn1Exception if there is no such item
     */
    public int item(PerWhole whole, int count, boolean extensible) throws Asn1Exception {
        return numbered(whole, count, extensible, ErrorKind.UNKNOWN_ENUMERATION);
    }

    private int numbered(PerWhole whole, int count, boolean extensible, ErrorKind kind) throws Asn1Exception {
        long start = at;
        long number = whole(whole, -1);
        if (number < 0 || number >= count) {
            throw errorAt(kind, extensible ? start - 1 : start);
        }
        return (int) number;
    }

    /**
     * Reads a normally small non-negative whole number (11.6).
     *
     * @return the number
     * @throws Asn1Exception if it is not there, or too large
     */
    public int smallNumber() throws Asn1Exception {
        if (!bit()) {
            return (int) bits(6);
        }
        long start = at - 1;
        int count = length();
        if (more || count > 8) {
            throw error(ErrorKind.LIMIT_EXCEEDED);
        }
        long number = bits(count * 8);
        if (number < 0 || number > Integer.MAX_VALUE) {
            throw errorAt(ErrorKind.LIMIT_EXCEEDED, start);
        }
        return (int) number;
    }

    /**
     * Reads an INTEGER without a lower bound (11.8).
     *
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public BigInteger unconstrained() throws Asn1Exception {
        long start = at;
        Octets octets = contents();
        if (octets.isEmpty()) {
            throw errorAt(ErrorKind.INTEGER_EMPTY, start);
        }
        return new BigInteger(octets.array(), octets.start(), octets.length());
    }

    /**
     * Reads an INTEGER with a lower bound alone (11.7).
     *
     * @param least the lower bound
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public BigInteger semiConstrained(BigInteger least) throws Asn1Exception {
        long start = at;
        Octets octets = contents();
        if (octets.isEmpty()) {
            throw errorAt(ErrorKind.INTEGER_EMPTY, start);
        }
        return new BigInteger(1, octets.array(), octets.start(), octets.length()).add(least);
    }

    /**
     * Reads an INTEGER with bounds of any size (11.5).
     *
     * @param whole how the difference to the lower bound is written
     * @param least the lower bound
     * @param span the greatest difference, without a sign
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public BigInteger constrained(PerWhole whole, BigInteger least, long span) throws Asn1Exception {
        return unsigned(whole(whole, span)).add(least);
    }

    private static BigInteger unsigned(long number) {
        BigInteger value = BigInteger.valueOf(number);
        return number < 0 ? value.add(BigInteger.ONE.shiftLeft(64)) : value;
    }

    /**
     * Reads an INTEGER with bounds of more than 64 bits (11.5).
     *
     * @param least the lower bound
     * @param span the greatest difference to it
     * @param octets the bytes that the difference is given in
     * @return the value
     * @throws Asn1Exception if there is none, or it is too large
     */
    public BigInteger large(BigInteger least, BigInteger span, int octets) throws Asn1Exception {
        long start = at;
        byte[] number;
        if (aligned) {
            int count = (int) bits(32 - Integer.numberOfLeadingZeros(octets - 1)) + 1;
            align();
            number = copy(count);
        } else {
            int width = span.bitLength() - (octets - 1) * 8;
            long high = bits(Math.max(width, 0));
            byte[] rest = copy(octets - 1);
            number = new byte[rest.length + 1];
            number[0] = (byte) high;
            System.arraycopy(rest, 0, number, 1, rest.length);
        }
        BigInteger difference = new BigInteger(1, number);
        if (difference.compareTo(span) > 0) {
            throw errorAt(ErrorKind.CONSTRAINT_VIOLATED, start);
        }
        return difference.add(least);
    }

    private byte[] copy(int count) throws Asn1Exception {
        return take(count).toByteArray();
    }

    /**
     * Returns a number in a range that it may be too large for.
     *
     * @param number the number
     * @param least the least value
     * @param most the greatest value
     * @return the number
     * @throws Asn1Exception if it is out of range
     */
    public long narrow(BigInteger number, long least, long most) throws Asn1Exception {
        if (number.bitLength() > 63 || number.longValue() < least || number.longValue() > most) {
            throw error(ErrorKind.INTEGER_RANGE);
        }
        return number.longValue();
    }

    /**
     * Returns a number that has to be one of 64 bits without a sign.
     *
     * @param number the number
     * @return the number
     * @throws Asn1Exception if it is out of range
     */
    public BigInteger narrow(BigInteger number) throws Asn1Exception {
        if (number.signum() < 0 || number.bitLength() > 64) {
            throw error(ErrorKind.INTEGER_RANGE);
        }
        return number;
    }

    // Lengths

    /** Reads a general length determinant (11.9.3.5 to 11.9.3.8); sets whether it is one of a fragment. */
    private int length() throws Asn1Exception {
        if (aligned) {
            align();
        }
        more = false;
        long start = at;
        int first = (int) bits(8);
        if (first < 0x80) {
            return first;
        }
        if (first < 0xC0) {
            at = start;
            return (int) bits(16) & 0x3FFF;
        }
        int blocks = first & 0x3F;
        if (blocks < 1 || blocks > 4) {
            throw errorAt(ErrorKind.FRAGMENT_COUNT, start);
        }
        more = true;
        return blocks * FRAGMENT;
    }

    /** Reads a size (11.9.4); sets whether it is one of a fragment. */
    private int size(PerSize size) throws Asn1Exception {
        more = false;
        boolean outside = size.extensible() && bit();
        PerWhole whole = size.whole();
        if (whole == null || outside) {
            return length();
        }
        return (int) (size.least() + whole(whole, size.most() - size.least()));
    }

    private Octets contents() throws Asn1Exception {
        return octetsOf(length());
    }

    private Octets octetsOf(int length) throws Asn1Exception {
        if (!more) {
            return take(length);
        }
        long start = at;
        java.io.ByteArrayOutputStream joined = new java.io.ByteArrayOutputStream();
        while (true) {
            boolean again = more;
            Octets octets = take(length);
            joined.write(octets.array(), octets.start(), octets.length());
            if (joined.size() > LONGEST) {
                throw errorAt(ErrorKind.LIMIT_EXCEEDED, start);
            }
            if (!again) {
                byte[] all = joined.toByteArray();
                return Octets.known(all, 0, all.length);
            }
            length = length();
        }
    }

    // Strings

    /**
     * Reads a BOOLEAN (12).
     *
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public boolean bool() throws Asn1Exception {
        return bit();
    }

    /**
     * Reads an OCTET STRING (17).
     *
     * @param size its size
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public Octets octets(PerSize size) throws Asn1Exception {
        int count = size(size);
        if (aligned && count > 0 && !size.isShort(count, 2)) {
            align();
        }
        return octetsOf(count);
    }

    /**
     * Reads an OCTET STRING of a fixed size, for which no size is written.
     *
     * @param count the number of bytes
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public Octets octets(int count) throws Asn1Exception {
        if (aligned && count > 2) {
            align();
        }
        return take(count);
    }

    /**
     * Reads an OCTET STRING for which a size is written, but only one is allowed.
     *
     * @param size the size that is written
     * @param count the number of bytes
     * @return the value
     * @throws Asn1Exception if there is none, or it has another size
     */
    public Octets octets(PerSize size, int count) throws Asn1Exception {
        Octets octets = octets(size);
        if (octets.length() != count) {
            throw error(ErrorKind.CONSTRAINT_VIOLATED);
        }
        return octets;
    }

    /**
     * Reads a BIT STRING (16).
     *
     * @param size its size
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public BitString bitString(PerSize size) throws Asn1Exception {
        int count = size(size);
        if (aligned && count > 0 && !size.isShort(count, 16)) {
            align();
        }
        if (!more) {
            return takeBits(count);
        }
        java.io.ByteArrayOutputStream joined = new java.io.ByteArrayOutputStream();
        while (true) {
            boolean again = more;
            BitString piece = takeBits(count);
            joined.write(piece.octets().array(), piece.octets().start(), piece.octets().length());
            if (!again) {
                byte[] all = joined.toByteArray();
                return BitString.of(Octets.known(all, 0, all.length), piece.unused());
            }
            count = length();
        }
    }

    /**
     * Reads a BIT STRING of a fixed size, for which no size is written.
     *
     * @param count the number of bits
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public BitString bitString(int count) throws Asn1Exception {
        if (aligned && count > 16) {
            align();
        }
        return takeBits(count);
    }

    /**
     * Reads a BIT STRING for which a size is written, but only one is allowed.
     *
     * @param size the size that is written
     * @param count the number of bits
     * @return the value
     * @throws Asn1Exception if there is none, or it has another size
     */
    public BitString bitString(PerSize size, int count) throws Asn1Exception {
        BitString bits = bitString(size);
        if (bits.length() != count) {
            throw error(ErrorKind.CONSTRAINT_VIOLATED);
        }
        return bits;
    }

    /**
     * Reads a known-multiplier character string (30.5).
     *
     * @param size its size
     * @param alphabet its characters
     * @return the text
     * @throws Asn1Exception if there is none
     */
    public String characters(PerSize size, PerAlphabet alphabet) throws Asn1Exception {
        int count = size(size);
        if (aligned && count > 0 && !(alphabet.unaligned && size.holds(count))) {
            align();
        }
        byte[] table = alphabet.characters;
        if (more || table == null) {
            return longText(count, alphabet);
        }
        long start = at;
        int width = alphabet.bits;
        skip((long) count * width);
        byte[] text = new byte[count];
        int inWord = 56 / width;
        for (int done = 0; done < count; ) {
            long word = word(start + (long) done * width);
            int here = Math.min(inWord, count - done);
            for (int i = 0; i < here; i++) {
                byte character = table[(int) (word >>> 64 - width)];
                if (character < 0) {
                    throw errorAt(ErrorKind.CHARACTER_INVALID, start + (long) (done + i) * width);
                }
                text[done + i] = character;
                word <<= width;
            }
            done += here;
        }
        return new String(text, StandardCharsets.ISO_8859_1);
    }

    /** Characters above 127, or in fragments. */
    private String longText(int count, PerAlphabet alphabet) throws Asn1Exception {
        StringBuilder text = new StringBuilder();
        long high = -1;
        long highAt = 0;
        while (true) {
            boolean again = more;
            // No character is looked at before all are there.
            long start = at;
            skip((long) count * alphabet.bits);
            at = start;
            for (int i = 0; i < count; i++) {
                long place = at;
                long character = alphabet.character(bits(alphabet.bits));
                if (high >= 0) {
                    boolean isPair = character >= 0xDC00 && character <= 0xDFFF;
                    place = highAt;
                    character = isPair ? 0x1_0000 + (high - 0xD800 << 10) + (character - 0xDC00) : -1;
                    high = -1;
                } else if (character >= 0xD800 && character <= 0xDBFF && alphabet.hasPairs()) {
                    high = character;
                    highAt = place;
                    continue;
                } else if (character >= 0xD800 && character <= 0xDFFF || character > 0x10FFFF) {
                    character = -1;
                }
                if (character < 0) {
                    throw errorAt(ErrorKind.CHARACTER_INVALID, place);
                }
                text.appendCodePoint((int) character);
            }
            if (!again) {
                if (high >= 0) {
                    throw errorAt(ErrorKind.CHARACTER_INVALID, highAt);
                }
                return text.toString();
            }
            count = length();
        }
    }

    /**
     * Reads a UTCTime (31).
     *
     * @param size its size
     * @param alphabet its characters
     * @return its text
     * @throws Asn1Exception if there is none
     */
    public String utcTime(PerSize size, PerAlphabet alphabet) throws Asn1Exception {
        String text = characters(size, alphabet);
        try {
            return Times.utc(ascii(text), 0, canonical);
        } catch (Asn1Exception fault) {
            throw placed(text, alphabet, fault);
        }
    }

    /**
     * Reads a GeneralizedTime (31).
     *
     * @param size its size
     * @param alphabet its characters
     * @return its text
     * @throws Asn1Exception if there is none
     */
    public String generalizedTime(PerSize size, PerAlphabet alphabet) throws Asn1Exception {
        String text = characters(size, alphabet);
        try {
            return Times.generalized(ascii(text), 0, canonical);
        } catch (Asn1Exception fault) {
            throw placed(text, alphabet, fault);
        }
    }

    static Octets ascii(String text) {
        byte[] octets = text.getBytes(StandardCharsets.UTF_8);
        return Octets.known(octets, 0, octets.length);
    }

    private Asn1Exception placed(String text, PerAlphabet alphabet, Asn1Exception fault) {
        long start = at - (long) text.length() * alphabet.bits;
        return errorAt(fault.kind(), start + fault.offset() * alphabet.bits);
    }

    /** Contents behind a general length determinant, and where a fault in them is. */
    @FunctionalInterface
    private interface Decoder<T> {
        T decode(Octets contents) throws Asn1Exception;
    }

    private <T> T decoded(Decoder<T> decoder) throws Asn1Exception {
        int length = length();
        boolean isFragment = more;
        long start = at;
        Octets contents = octetsOf(length);
        try {
            return decoder.decode(contents);
        } catch (Asn1Exception fault) {
            long end = at;
            at = start;
            int unit = (int) fault.offset();
            while (isFragment && unit >= length) {
                skip(length * 8L);
                unit -= length;
                length = length();
                isFragment = more;
            }
            long place = at + unit * 8L;
            at = end;
            throw errorAt(fault.kind(), place);
        }
    }

    /**
     * Reads a character string behind a general length determinant (30.6).
     *
     * @param kind the universal number of its type
     * @return the text
     * @throws Asn1Exception if there is none
     */
    public String text(int kind) throws Asn1Exception {
        return decoded(octets -> Text.decode(kind, octets.array(), octets.start(), octets.length(), 0));
    }

    /**
     * Reads a REAL (15).
     *
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public Asn1Real real() throws Asn1Exception {
        return decoded(octets -> Asn1Real.checked(octets, 0, true));
    }

    /**
     * Reads a REAL as the nearest {@code double} (15).
     *
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public double doubleReal() throws Asn1Exception {
        return real().doubleValue();
    }

    /**
     * Reads an OBJECT IDENTIFIER (24).
     *
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public ObjectIdentifier oid() throws Asn1Exception {
        return decoded(ObjectIdentifier::ofContents);
    }

    /**
     * Reads a RELATIVE-OID (25).
     *
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public RelativeObjectIdentifier relativeOid() throws Asn1Exception {
        return decoded(RelativeObjectIdentifier::ofContents);
    }

    /**
     * Reads a time of X.680 clause 38 (32).
     *
     * @param form how it is written
     * @return the text of its value notation
     * @throws Asn1Exception if there is none
     */
    public String time(PerTime form) throws Asn1Exception {
        long start = at;
        String text = form.read(this);
        try {
            IsoTimes.encode(form.kind(), text, false);
        } catch (Asn1Exception fault) {
            throw errorAt(fault.kind(), start);
        }
        return text;
    }

    /**
     * Reads an open type that nothing is known of: its complete encoding.
     *
     * @return the encoding
     * @throws Asn1Exception if there is none
     */
    public Octets any() throws Asn1Exception {
        Octets octets = contents();
        // An empty one, which 11.1.3 does not allow, stands for a value of no bits.
        return octets.isEmpty() ? ZERO : octets;
    }

    // Lists

    /**
     * Reads a SEQUENCE OF or SET OF (20).
     *
     * @param <T> the type of the elements
     * @param size its size
     * @param element reads an element
     * @return the list
     * @throws Asn1Exception if there is none
     */
    public <T> List<T> list(PerSize size, Element<T> element) throws Asn1Exception {
        int count = size(size);
        Object[] elements = new Object[(int) Math.min(count, Math.min(left(), 8 * 1024))];
        int done = 0;
        while (true) {
            boolean again = more;
            long start = at;
            for (int i = 0; i < count; i++) {
                elements = Lists.room(elements, done);
                try {
                    elements[done] = element.read(this);
                } catch (Asn1Exception fault) {
                    throw fault.inElement(done);
                }
                done++;
            }
            long taken = at - start;
            if (count > taken) {
                empty -= (int) (count - taken);
                if (empty < 0) {
                    throw error(ErrorKind.LIMIT_EXCEEDED);
                }
            }
            if (!again) {
                return Lists.of(elements, done);
            }
            count = length();
        }
    }

    // Open types and extensions

    /**
     * Enters an open type (11.2).
     *
     * @return where reading ends behind it, for {@link #close}
     * @throws Asn1Exception if there is none
     */
    public long open() throws Asn1Exception {
        int count = length();
        if (more) {
            octetsOf(count);
            throw error(ErrorKind.UNSUPPORTED);
        }
        return enter(count * 8L);
    }

    /**
     * Enters an open type that need not be resolved.
     *
     * @return where reading ends behind it, for {@link #close}; -1 for one in fragments, which {@link #any()} reads
     * @throws Asn1Exception if there is none
     */
    public long openType() throws Asn1Exception {
        long start = at;
        int count = length();
        if (more) {
            at = start;
            return -1;
        }
        return enter(count * 8L);
    }

    /**
     * Reports a value that the rules have no codec for here.
     *
     * @param <T> the type of the value
     * @return nothing
     * @throws Asn1Exception always
     */
    public <T> T unsupported() throws Asn1Exception {
        throw error(ErrorKind.UNSUPPORTED);
    }

    private long enter(long bits) throws Asn1Exception {
        long start = at;
        skip(bits);
        long around = end;
        end = at;
        at = start;
        return around;
    }

    /**
     * Goes on behind an open type, whatever is left in it.
     *
     * @param around what {@link #open} returned
     */
    public void close(long around) {
        at = end;
        end = around;
    }

    /**
     * Reads what is left of an open type.
     *
     * @return its bytes
     * @throws Asn1Exception never
     */
    public Octets rest() throws Asn1Exception {
        Octets octets = take((int) (left() / 8));
        return octets.isEmpty() ? ZERO : octets;
    }

    /**
     * Reads a string with CONTAINING.
     *
     * @param <T> the type of the value inside
     * @param size its size
     * @param isBits whether it is a BIT STRING
     * @param element reads the value inside
     * @return the value, or the string where it does not decode
     * @throws Asn1Exception if there is no string
     */
    public <T> Contained<T> containing(PerSize size, boolean isBits, Element<T> element) throws Asn1Exception {
        long start = at;
        int unit = isBits ? 1 : 8;
        int spared = depth;
        int count = size(size);
        if (!more) {
            if (aligned && count > 0 && !size.isShort(count, isBits ? 16 : 2)) {
                align();
            }
            long around = enter((long) count * unit);
            long from = at;
            // A complete encoding is whole bytes, and bits in it are aligned from its begin on.
            if ((end - from) % 8 == 0 && (!aligned || from % 8 == 0)) {
                try {
                    beginValue();
                    T value = element.read(this);
                    long rest = end - at;
                    // A value of no bits takes one byte (11.1.3).
                    if (rest < 8 || rest == 8 && at == from) {
                        close(around);
                        endValue();
                        return Contained.of(value);
                    }
                } catch (Asn1Exception fault) {
                    if (fault.kind() == ErrorKind.DEPTH_LIMIT) {
                        throw fault;
                    }
                }
            }
            end = around;
            depth = spared;
        }
        at = start;
        return isBits ? Contained.ofBits(bitString(size)) : Contained.ofOctets(octets(size));
    }

    /**
     * Reads presence bits.
     *
     * @param count how many, at most 64
     * @return the bits, the first the highest of {@code count}
     * @throws Asn1Exception if they are not there
     */
    public long presence(int count) throws Asn1Exception {
        return bits(count);
    }

    /**
     * Reads more presence bits than a number has.
     *
     * @param count how many
     * @return the bits
     * @throws Asn1Exception if they are not there
     */
    public boolean[] presences(int count) throws Asn1Exception {
        boolean[] all = new boolean[count];
        for (int i = 0; i < count; i++) {
            all[i] = bit();
        }
        return all;
    }

    /**
     * Reads the bitmap of extension additions (19.7, 19.8).
     *
     * @return the bitmap
     * @throws Asn1Exception if there is none
     */
    public PerAdditions additions() throws Asn1Exception {
        int count;
        if (!bit()) {
            count = (int) bits(6) + 1;
        } else {
            count = length();
            if (more) {
                throw error(ErrorKind.FRAGMENT_COUNT);
            }
        }
        long start = at;
        skip(count);
        return new PerAdditions(start, count);
    }

    /**
     * Returns whether the next addition is there.
     *
     * @param additions the bitmap
     * @return whether it is
     */
    public boolean isNext(PerAdditions additions) {
        if (additions.left == 0) {
            return false;
        }
        additions.left--;
        long bit = additions.at++;
        return (input[(int) (bit >> 3)] & 0x80 >> (bit & 7)) != 0;
    }

    /**
     * Steps over the additions that a type does not know.
     *
     * @param additions the bitmap
     * @throws Asn1Exception if they cannot be read
     */
    public void skip(PerAdditions additions) throws Asn1Exception {
        while (additions.left > 0) {
            if (isNext(additions)) {
                contents();
            }
        }
    }

    /**
     * Takes the additions that a type does not know.
     *
     * @param known how many it knows
     * @param additions the bitmap
     * @return the additions
     * @throws Asn1Exception if they cannot be read
     */
    public UnknownAdditions unknown(int known, PerAdditions additions) throws Asn1Exception {
        UnknownAdditions all = UnknownAdditions.NONE;
        Rules.Family family = aligned ? Rules.Family.APER : Rules.Family.UPER;
        if (additions.left == 0) {
            // What a sender of an earlier version writes is compared with what it would be.
            return canonical && additions.count < known ? all.reaching(family, additions.count) : all;
        }
        for (int number = known; additions.left > 0; number++) {
            if (isNext(additions)) {
                all = all.and(family, number, any());
            } else if (additions.left == 0) {
                all = all.reaching(family, number + 1);
            }
        }
        return all;
    }

    /**
     * Reads an alternative of a later version.
     *
     * @param number its number among the additions
     * @return the alternative
     * @throws Asn1Exception if it cannot be read
     */
    public UnknownAlternative unknownAlternative(int number) throws Asn1Exception {
        return new UnknownAlternative(number, any());
    }

    /**
     * Ends a value that may have no parts.
     *
     * @throws Asn1Exception never
     */
    public void done() throws Asn1Exception {
        // Nothing is left to do: what has been read has been checked.
    }

    /**
     * Returns many numbers, for which an array in the source would need too much code.
     *
     * @param parts the numbers, separated by spaces
     * @return the numbers
     */
    public static int[] numbers(String... parts) {
        return Arrays.stream(parts)
                .flatMap(part -> Arrays.stream(part.split(" ")))
                .mapToInt(Integer::parseInt)
                .toArray();
    }
}
