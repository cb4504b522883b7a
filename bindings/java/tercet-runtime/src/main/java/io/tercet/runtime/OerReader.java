package io.tercet.runtime;

import java.math.BigInteger;
import java.util.List;

/** Reads OER, basic and canonical (X.696). For generated code. A reader belongs to one thread. */
public final class OerReader {
    /** A length is written. */
    public static final int VARIABLE = -1;

    /** Elements of no bytes in one value: they cost nothing to announce, so they are counted. */
    private static final int EMPTY_ELEMENTS = 65_536;

    /** Bytes in a number; longer ones are refused. */
    private static final int LONGEST = 1 << 20;

    private final byte[] input;
    private final int first;
    private final boolean canonical;
    private int at;
    private int end;
    /** Whether the end is one that a length gave, so that more input does not help. */
    private boolean bounded;
    private int depth;
    private int empty = EMPTY_ELEMENTS;

    OerReader(byte[] input, int start, int length, Rules rules, Limits limits) {
        this.input = input;
        first = start;
        at = start;
        end = start + length;
        canonical = rules.isCanonical();
        depth = limits.depth();
    }

    /**
     * Reads one element of a list, or the value in a string.
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
        T read(OerReader r) throws Asn1Exception;
    }

    /**
     * Returns the position from the begin of the input.
     *
     * @return the position
     */
    public int position() {
        return at - first;
    }

    /**
     * Goes back to a position.
     *
     * @param position the position
     */
    public void backTo(int position) {
        at = first + position;
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

    /**
     * Returns the fault of a kind at a position.
     *
     * @param kind what is wrong
     * @param position the position
     * @return the fault
     */
    public Asn1Exception error(ErrorKind kind, int position) {
        return Asn1Exception.at(kind, position);
    }

    private Asn1Exception errorAt(ErrorKind kind, int at) {
        return Asn1Exception.at(kind, at - first);
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

    /** Checks what canonical OER asks for. */
    private void canonical(boolean good, int start) throws Asn1Exception {
        if (canonical && !good) {
            throw errorAt(ErrorKind.NOT_CANONICAL, start);
        }
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

    // Bytes and lengths

    private void need(int count) throws Asn1Exception {
        int left = end - at;
        if (count < 0 || count > left) {
            throw bounded
                    ? error(ErrorKind.BEYOND_PARENT)
                    : Asn1Exception.incomplete(end - first, (count < 0 ? Integer.MAX_VALUE : count) - (long) left);
        }
    }

    private int octet() throws Asn1Exception {
        need(1);
        return input[at++] & 0xFF;
    }

    private Octets take(int count) throws Asn1Exception {
        need(count);
        Octets octets = Octets.known(input, at, count);
        at += count;
        return octets;
    }

    /** A length or another number in bytes: the greatest number for one of 64 bits, -1 for one beyond. */
    private long number(int count) throws Asn1Exception {
        need(count);
        long number = 0;
        for (int i = 0; i < count; i++) {
            if (number >>> 56 != 0) {
                at += count - i;
                return -1;
            }
            number = number << 8 | input[at++] & 0xFF;
        }
        return number < 0 ? Long.MAX_VALUE : number;
    }

    private static int octetsOf(long number) {
        return Math.max(1, (71 - Long.numberOfLeadingZeros(number)) / 8);
    }

    private int length() throws Asn1Exception {
        int start = at;
        long length = anyLength();
        canonical(at - start <= (length < 0x80 ? 1 : 1 + octetsOf(length)), start);
        // No input has more bytes.
        return (int) Math.min(length, Integer.MAX_VALUE);
    }

    /** Reads a length, in the fewest bytes or more. */
    private long anyLength() throws Asn1Exception {
        int start = at;
        int head = octet();
        if (head < 0x80) {
            return head;
        }
        int count = head & 0x7F;
        if (count == 0) {
            throw errorAt(ErrorKind.LENGTH_EMPTY, start);
        }
        long length = number(count);
        if (length < 0) {
            throw errorAt(ErrorKind.LENGTH_TOO_LARGE, start);
        }
        return length;
    }

    private Octets sized(int size) throws Asn1Exception {
        return take(size == VARIABLE ? length() : size);
    }

    private int offsetOf(Octets octets) {
        return at - first - octets.length();
    }

    /**
     * Reads an open type that nothing is known of: its complete encoding (30).
     *
     * @return the encoding
     * @throws Asn1Exception if there is none
     */
    public Octets any() throws Asn1Exception {
        return sized(VARIABLE);
    }

    // Preambles, open types, extensions

    /**
     * Reads the bits of a preamble, at most 64 (16.2).
     *
     * @param bits how many
     * @return the bits, the last the lowest
     * @throws Asn1Exception if they are not there
     */
    public long preamble(int bits) throws Asn1Exception {
        int start = at;
        int octets = (bits + 7) / 8;
        need(octets);
        long number = 0;
        for (int i = 0; i < octets; i++) {
            number = number << 8 | input[at++] & 0xFF;
        }
        int pad = octets * 8 - bits;
        canonical((number & (1L << pad) - 1) == 0, start);
        return number >>> pad;
    }

    /**
     * Reads the bits of a longer preamble.
     *
     * @param bits how many
     * @return the bits
     * @throws Asn1Exception if they are not there
     */
    public boolean[] preambles(int bits) throws Asn1Exception {
        int start = at;
        Octets octets = take((bits + 7) / 8);
        int pad = octets.length() * 8 - bits;
        canonical((octets.get(octets.length() - 1) & (1 << pad) - 1) == 0, start);
        boolean[] all = new boolean[bits];
        for (int i = 0; i < bits; i++) {
            all[i] = (octets.get(i / 8) & 0x80 >> i % 8) != 0;
        }
        return all;
    }

    private long enter(int count) throws Asn1Exception {
        need(count);
        long around = end | (bounded ? 1L << 32 : 0);
        end = at + count;
        bounded = true;
        return around;
    }

    /**
     * Enters an open type (30).
     *
     * @return where reading ends behind it, for {@link #close}
     * @throws Asn1Exception if there is none
     */
    public long open() throws Asn1Exception {
        return enter(length());
    }

    /**
     * Leaves an open type, which the value has to fill.
     *
     * @param around what {@link #open} returned
     * @throws Asn1Exception if bytes are left
     */
    public void close(long around) throws Asn1Exception {
        if (at < end) {
            throw error(ErrorKind.TRAILING_DATA);
        }
        leave(around);
    }

    private void leave(long around) {
        end = (int) around;
        bounded = (around & 1L << 32) != 0;
    }

    /**
     * Reads the bitmap of extension additions (16.4).
     *
     * @return the bitmap
     * @throws Asn1Exception if there is none
     */
    public PerAdditions additions() throws Asn1Exception {
        int length = length();
        int start = at;
        Octets octets = take(length);
        BitString bits = BerElements.decodeBits(octets, start - first, canonical);
        boolean any = false;
        for (int i = 0; i < bits.length(); i++) {
            any |= bits.get(i);
        }
        canonical(any, start);
        return new PerAdditions((start + 1) * 8L, bits.length());
    }

    /**
     * Returns whether the next addition is there.
     *
     * @param additions the bitmap
     * @return whether it is
     */
    public boolean isNext(PerAdditions additions) {
        long bit = additions.at++;
        return --additions.left >= 0 && (input[(int) (bit >> 3)] & 0x80 >> (bit & 7)) != 0;
    }

    /**
     * Takes the additions that a type does not know.
     *
     * @param additions the bitmap
     * @return the additions
     * @throws Asn1Exception if they cannot be read
     */
    public UnknownAdditions unknown(PerAdditions additions) throws Asn1Exception {
        UnknownAdditions all = UnknownAdditions.NONE;
        if (canonical && additions.left < 0) {
            // What a sender of an earlier version writes is written again so.
            all = all.reaching(Rules.Family.OER, additions.count);
        }
        while (additions.left > 0) {
            int number = additions.count - additions.left;
            if (isNext(additions)) {
                all = all.and(Rules.Family.OER, number, any());
            } else if (additions.left == 0) {
                all = all.reaching(Rules.Family.OER, number + 1);
            }
        }
        return all;
    }

    /**
     * Checks that a component that equals its DEFAULT is not there in canonical OER (31.9).
     *
     * @param equal whether it does
     * @param start where it begins
     * @throws Asn1Exception if it is there although it equals its DEFAULT
     */
    public void notDefault(boolean equal, int start) throws Asn1Exception {
        if (equal && canonical) {
            throw error(ErrorKind.NOT_CANONICAL, start);
        }
    }

    /**
     * Checks that a version bracket has one of its components in canonical OER (16.5).
     *
     * @param there whether it has
     * @param preamble the number of bytes of its preamble, which has been read
     * @throws Asn1Exception if it has none
     */
    public void bracket(boolean there, int preamble) throws Asn1Exception {
        canonical(there, at - preamble);
    }

    /**
     * Reads a SEQUENCE OF or SET OF (17, 19).
     *
     * @param <T> the type of the elements
     * @param ordered whether it is a SET OF, whose elements ascend in canonical OER
     * @param element reads an element
     * @return the list
     * @throws Asn1Exception if there is none
     */
    public <T> List<T> list(boolean ordered, Element<T> element) throws Asn1Exception {
        int start = at;
        long length = anyLength();
        if (length == 0) {
            throw errorAt(ErrorKind.INTEGER_EMPTY, start);
        }
        long count = number((int) Math.min(length, Integer.MAX_VALUE));
        if (count < 0) {
            throw errorAt(ErrorKind.LIMIT_EXCEEDED, start);
        }
        canonical(at - start <= 1 + octetsOf(count), start);
        Object[] elements = new Object[(int) Math.min(count, Math.min(end - at, 1024))];
        int done = 0;
        int before = -1;
        for (long i = 0; i < count; i++) {
            int begun = at;
            elements = Lists.room(elements, done);
            try {
                elements[done] = element.read(this);
            } catch (Asn1Exception fault) {
                throw fault.inElement(done);
            }
            if (at == begun && --empty < 0) {
                throw error(ErrorKind.LIMIT_EXCEEDED);
            }
            if (ordered && canonical) {
                if (before >= 0 && order(input, before, begun, input, begun, at) > 0) {
                    throw errorAt(ErrorKind.NOT_CANONICAL, begun).inElement(done);
                }
                before = begun;
            }
            done++;
        }
        return Lists.of(elements, done);
    }

    /** The order of two elements of a SET OF: the shorter one as if zeros followed (31.8). */
    static int order(byte[] a, int aFrom, int aTo, byte[] b, int bFrom, int bTo) {
        int common = Math.min(aTo - aFrom, bTo - bFrom);
        for (int i = 0; i < common; i++) {
            int difference = (a[aFrom + i] & 0xFF) - (b[bFrom + i] & 0xFF);
            if (difference != 0) {
                return difference;
            }
        }
        boolean aMore = false;
        for (int i = aFrom + common; i < aTo; i++) {
            aMore |= a[i] != 0;
        }
        boolean bMore = false;
        for (int i = bFrom + common; i < bTo; i++) {
            bMore |= b[i] != 0;
        }
        return Boolean.compare(aMore, bMore);
    }

    /**
     * Reads the tag of a CHOICE (20.1).
     *
     * @return the tag
     * @throws Asn1Exception if there is none
     */
    public int tag() throws Asn1Exception {
        int start = at;
        int head = octet();
        int number = head & 0x3F;
        if (number < 0x3F) {
            return (head & 0xC0) << 24 | number;
        }
        number = 0;
        while (true) {
            int octet = octet();
            if (number == 0 && octet == 0x80) {
                throw errorAt(ErrorKind.TAG_FORM, start);
            }
            if (number > BerTag.MAX_NUMBER >> 7) {
                throw errorAt(ErrorKind.TAG_TOO_LARGE, start);
            }
            number = number << 7 | octet & 0x7F;
            if (octet < 0x80) {
                break;
            }
        }
        if (number < 0x3F) {
            throw errorAt(ErrorKind.TAG_FORM, start);
        }
        return (head & 0xC0) << 24 | number;
    }

    /**
     * Reads an alternative of a later version, whose tag has been read (20.2).
     *
     * @param start where its tag begins
     * @return the alternative
     * @throws Asn1Exception if it cannot be read
     */
    public UnknownAlternative unknownAlternative(int start) throws Asn1Exception {
        sized(VARIABLE);
        return new UnknownAlternative(-1, Octets.known(input, first + start, at - first - start));
    }

    // Numbers

    /**
     * Reads a BOOLEAN (9).
     *
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public boolean bool() throws Asn1Exception {
        int start = at;
        int octet = octet();
        canonical(octet == 0 || octet == 0xFF, start);
        return octet != 0;
    }

    /**
     * Reads an INTEGER without a sign in a fixed number of bytes (10.3).
     *
     * @param octets the number of bytes
     * @return the value; one of 64 bits may have become negative
     * @throws Asn1Exception if there is none
     */
    public long unsigned(int octets) throws Asn1Exception {
        need(octets);
        long number = 0;
        for (int i = 0; i < octets; i++) {
            number = number << 8 | input[at++] & 0xFF;
        }
        return number;
    }

    /**
     * Reads an INTEGER with a sign in a fixed number of bytes (10.4).
     *
     * @param octets the number of bytes
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public long signed(int octets) throws Asn1Exception {
        int unused = 64 - octets * 8;
        return unsigned(octets) << unused >> unused;
    }

    /**
     * Reads an INTEGER behind a length (10.3, 10.4).
     *
     * @param signed whether it has a sign
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public BigInteger variable(boolean signed) throws Asn1Exception {
        int start = at;
        int length = length();
        if (length == 0) {
            throw errorAt(ErrorKind.INTEGER_EMPTY, start);
        }
        Octets octets = take(length);
        if (length > LONGEST) {
            throw errorAt(ErrorKind.LIMIT_EXCEEDED, start);
        }
        byte[] array = octets.array();
        int from = octets.start();
        int second = length > 1 ? array[from + 1] : 0;
        boolean isPadded = length > 1
                && (array[from] == 0 && (!signed || second >= 0) || signed && array[from] == -1 && second < 0);
        canonical(!isPadded, start);
        return signed ? new BigInteger(array, from, length) : new BigInteger(1, array, from, length);
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

    /**
     * Returns a number of 64 bits without a sign.
     *
     * @param number its bits
     * @return the number
     */
    public static BigInteger positive(long number) {
        BigInteger value = BigInteger.valueOf(number);
        return number < 0 ? value.add(BigInteger.ONE.shiftLeft(64)) : value;
    }

    /**
     * Reads the number of an ENUMERATED (11).
     *
     * @return the number
     * @throws Asn1Exception if there is none
     */
    public long enumerated() throws Asn1Exception {
        int start = at;
        int head = octet();
        if (head < 0x80) {
            return head;
        }
        int length = head & 0x7F;
        if (length == 0) {
            throw errorAt(ErrorKind.LENGTH_EMPTY, start);
        }
        Octets octets = take(length);
        int from = octets.start();
        int fewest = length;
        while (fewest > 1
                && (input[from] == 0 && input[from + 1] >= 0 || input[from] == -1 && input[from + 1] < 0)) {
            from++;
            fewest--;
        }
        canonical(fewest == length && !(fewest == 1 && input[from] >= 0), start);
        if (fewest > 8) {
            throw errorAt(ErrorKind.LIMIT_EXCEEDED, start);
        }
        long number = input[from];
        for (int i = 1; i < fewest; i++) {
            number = number << 8 | input[from + i] & 0xFF;
        }
        return number;
    }

    /**
     * Reads a REAL as binary32 (12.2).
     *
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public double float32() throws Asn1Exception {
        return Float.intBitsToFloat((int) unsigned(4));
    }

    /**
     * Reads a REAL as binary64 (12.3).
     *
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public double float64() throws Asn1Exception {
        return Double.longBitsToDouble(unsigned(8));
    }

    /**
     * Reads a REAL as contents of X.690 (12.4).
     *
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public Asn1Real real() throws Asn1Exception {
        Octets contents = sized(VARIABLE);
        return Asn1Real.checked(contents, offsetOf(contents), !canonical);
    }

    // Strings

    /**
     * Reads an OCTET STRING (14).
     *
     * @param size the only size, or {@link #VARIABLE}
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public Octets octets(int size) throws Asn1Exception {
        return sized(size);
    }

    /**
     * Reads an OCTET STRING of which only one size is allowed.
     *
     * @param size the size, or {@link #VARIABLE} if it is written
     * @param count the number of bytes
     * @return the value
     * @throws Asn1Exception if there is none, or it has another size
     */
    public Octets octets(int size, int count) throws Asn1Exception {
        int start = at;
        Octets octets = sized(size);
        if (octets.length() != count) {
            throw errorAt(ErrorKind.CONSTRAINT_VIOLATED, start);
        }
        return octets;
    }

    /**
     * Reads a BIT STRING (13).
     *
     * @param size the only size, or {@link #VARIABLE}
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public BitString bits(int size) throws Asn1Exception {
        int start = at;
        if (size != VARIABLE) {
            Octets octets = take((size + 7) / 8);
            BitString bits = BitString.of(octets, octets.length() * 8 - size);
            canonical(bits.isPaddedWithZeros(), start);
            return bits;
        }
        Octets contents = sized(VARIABLE);
        return BerElements.decodeBits(contents, offsetOf(contents), canonical);
    }

    /**
     * Reads a BIT STRING of which only one size is allowed.
     *
     * @param size the size, or {@link #VARIABLE} if it is written
     * @param count the number of bits
     * @return the value
     * @throws Asn1Exception if there is none, or it has another size
     */
    public BitString bits(int size, int count) throws Asn1Exception {
        int start = at;
        BitString bits = bits(size);
        if (bits.length() != count) {
            throw errorAt(ErrorKind.CONSTRAINT_VIOLATED, start);
        }
        return bits;
    }

    /**
     * Reads a BIT STRING with named bits (13, 31.7).
     *
     * @param size the only size, or {@link #VARIABLE}
     * @param least the least number of bits, for which zero bits are added
     * @param most the greatest number of bits, for which zero bits are removed
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public BitString namedBits(int size, int least, long most) throws Asn1Exception {
        BitString bits = bits(size);
        if (size != VARIABLE) {
            return bits;
        }
        if (canonical) {
            int offset = at - first - bits.octets().length() - 1;
            if (bits.length() < least) {
                throw error(ErrorKind.CONSTRAINT_VIOLATED, offset);
            }
            if (bits.trimmed(least).length() != bits.length()) {
                throw error(ErrorKind.BIT_STRING_TRAILING_ZERO, offset);
            }
        }
        return bits.resized(least, most);
    }

    /**
     * Reads a character string (27).
     *
     * @param size the only size in bytes, or {@link #VARIABLE}
     * @param kind the universal number of its type
     * @return the text
     * @throws Asn1Exception if there is none
     */
    public String text(int size, int kind) throws Asn1Exception {
        Octets octets = sized(size);
        return Text.decode(kind, octets.array(), octets.start(), octets.length(), offsetOf(octets));
    }

    /**
     * Reads a UTCTime (28).
     *
     * @param size the only size, or {@link #VARIABLE}
     * @return its text
     * @throws Asn1Exception if there is none
     */
    public String utcTime(int size) throws Asn1Exception {
        Octets octets = sized(size);
        return Times.utc(octets, offsetOf(octets), canonical);
    }

    /**
     * Reads a GeneralizedTime (28).
     *
     * @param size the only size, or {@link #VARIABLE}
     * @return its text
     * @throws Asn1Exception if there is none
     */
    public String generalizedTime(int size) throws Asn1Exception {
        Octets octets = sized(size);
        return Times.generalized(octets, offsetOf(octets), canonical);
    }

    /**
     * Reads a time of X.680 clause 38 that is written as its text.
     *
     * @param size the only size, or {@link #VARIABLE}
     * @param kind the universal number of its type
     * @return the text of its value notation
     * @throws Asn1Exception if there is none
     */
    public String time(int size, int kind) throws Asn1Exception {
        Octets octets = sized(size);
        return IsoTimes.decode(kind, octets, offsetOf(octets), canonical);
    }

    /**
     * Reads a date, a time of day, or both, in numbers (29).
     *
     * @param form how it is written
     * @return the text of its value notation
     * @throws Asn1Exception if there is none
     */
    public String point(OerTime form) throws Asn1Exception {
        int start = at;
        return checked(form.kind(), form.read(this).point(), start);
    }

    /**
     * Reads a duration in numbers (29).
     *
     * @param kind the universal number of its type
     * @return the text of its value notation
     * @throws Asn1Exception if there is none
     */
    public String duration(int kind) throws Asn1Exception {
        int start = at;
        return checked(kind, OerTime.readDuration(this).duration(), start);
    }

    private String checked(int kind, String text, int start) throws Asn1Exception {
        try {
            IsoTimes.encode(kind, text, false);
        } catch (Asn1Exception fault) {
            throw errorAt(fault.kind(), start);
        }
        return text;
    }

    /** A number of a time behind its length. */
    long variableLong(boolean signed) throws Asn1Exception {
        int start = position();
        BigInteger number = variable(signed);
        if (number.bitLength() > 63) {
            throw error(ErrorKind.LIMIT_EXCEEDED, start);
        }
        return number.longValue();
    }

    /**
     * Reads an OBJECT IDENTIFIER (21).
     *
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public ObjectIdentifier oid() throws Asn1Exception {
        return ObjectIdentifier.known(arcs());
    }

    /**
     * Reads a RELATIVE-OID (22).
     *
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public RelativeObjectIdentifier relativeOid() throws Asn1Exception {
        return RelativeObjectIdentifier.known(arcs());
    }

    private Octets arcs() throws Asn1Exception {
        Octets octets = sized(VARIABLE);
        Arcs.check(octets.array(), octets.start(), octets.length(), offsetOf(octets));
        return octets;
    }

    /**
     * Reads a string with CONTAINING (X.682 clause 11).
     *
     * @param <T> the type of the value inside
     * @param size the only size, or {@link #VARIABLE}
     * @param isBits whether it is a BIT STRING
     * @param element reads the value inside
     * @return the value, or the string where it does not decode
     * @throws Asn1Exception if there is no string
     */
    public <T> Contained<T> containing(int size, boolean isBits, Element<T> element) throws Asn1Exception {
        BitString string = isBits ? bits(size) : BitString.of(octets(size), 0);
        int behind = at;
        if (string.unused() == 0) {
            int spared = depth;
            at = behind - string.octets().length();
            long around = enter(string.octets().length());
            // The string with a value inside is a level itself.
            beginValue();
            try {
                T value = element.read(this);
                if (at == end) {
                    leave(around);
                    depth = spared;
                    return Contained.of(value);
                }
            } catch (Asn1Exception fault) {
                if (fault.kind() == ErrorKind.DEPTH_LIMIT) {
                    throw fault;
                }
            }
            leave(around);
            at = behind;
            depth = spared;
        }
        return Contained.ofBits(string);
    }

    /**
     * Ends a value that may have no parts.
     *
     * @throws Asn1Exception never
     */
    public void done() throws Asn1Exception {
        // Nothing is left to do: what has been read has been checked.
    }
}
