package io.tercet.runtime;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Writes OER, basic and canonical (X.696), from the end to the start. For generated code: users have {@link Encoder}. */
public final class OerWriter {
    private final Rules rules;
    private final boolean canonical;
    private byte[] buffer = new byte[512];
    private int start = buffer.length;
    private int values = Limits.DEFAULT.depth();

    OerWriter(Rules rules) {
        this.rules = rules;
        canonical = rules.isCanonical();
    }

    /**
     * Writes one element of a list, or the value in a string.
     *
     * @param <T> the type of the element
     */
    @FunctionalInterface
    public interface Element<T> {
        /**
         * Writes the element.
         *
         * @param w the writer
         * @param value the element
         * @throws Asn1Exception if it cannot be written
         */
        void write(OerWriter w, T value) throws Asn1Exception;
    }

    Rules rules() {
        return rules;
    }

    void clear() {
        start = buffer.length;
        values = Limits.DEFAULT.depth();
    }

    private int length() {
        return buffer.length - start;
    }

    Octets view() {
        return Octets.known(buffer, start, length());
    }

    /**
     * Begins a value with parts.
     *
     * @throws Asn1Exception if there are too many inside one another
     */
    public void beginValue() throws Asn1Exception {
        if (values == 0) {
            throw error(ErrorKind.DEPTH_LIMIT);
        }
        values--;
    }

    /** Ends a value with parts. */
    public void endValue() {
        values++;
    }

    /**
     * Returns the fault of a value that cannot be written.
     *
     * @param kind what is wrong
     * @return the fault
     */
    public Asn1Exception error(ErrorKind kind) {
        return Asn1Exception.at(kind, 0);
    }

    /**
     * Reports a value that the rules have no codec for here.
     *
     * @throws Asn1Exception always
     */
    public void unsupported() throws Asn1Exception {
        throw error(ErrorKind.UNSUPPORTED);
    }

    /**
     * Ends a value whose parts may all be such that can always be written.
     *
     * @throws Asn1Exception never
     */
    public void done() throws Asn1Exception {
        // Nothing is left to do: all is in its place.
    }

    private Asn1Exception outside() {
        return error(ErrorKind.CONSTRAINT_VIOLATED);
    }

    // Bytes

    private void room(int octets) {
        if (start < octets) {
            int length = length();
            byte[] larger = new byte[length + Math.max(length, octets) + 512];
            System.arraycopy(buffer, start, larger, larger.length - length, length);
            start = larger.length - length;
            buffer = larger;
        }
    }

    private void push(byte[] octets, int from, int length) {
        room(length);
        start -= length;
        System.arraycopy(octets, from, buffer, start, length);
    }

    private void push(Octets octets) {
        push(octets.array(), octets.start(), octets.length());
    }

    private void push(int octet) {
        room(1);
        buffer[--start] = (byte) octet;
    }

    /**
     * Returns where the writer stands.
     *
     * @return the position
     */
    public int mark() {
        return length();
    }

    private void pushLength(int length) {
        if (length < 0x80) {
            push(length);
            return;
        }
        int count = 0;
        for (int rest = length; rest != 0; rest >>>= 8) {
            push(rest);
            count++;
        }
        push(0x80 | count);
    }

    /**
     * Ends an open type (30).
     *
     * @param mark where it ends
     */
    public void close(int mark) {
        pushLength(length() - mark);
    }

    /**
     * Writes an open type, or contents: behind their length.
     *
     * @param octets the bytes
     */
    public void any(Octets octets) {
        push(octets);
        pushLength(octets.length());
    }

    /**
     * Writes an alternative of a later version.
     *
     * @param value the alternative
     * @throws Asn1Exception if it is not a tag, a length and as many bytes (20.2)
     */
    public void unknownAlternative(UnknownAlternative value) throws Asn1Exception {
        Octets octets = value.encoding();
        OerReader reader = new OerReader(octets.array(), octets.start(), octets.length(), Rules.OER, Limits.DEFAULT);
        boolean fits;
        try {
            reader.tag();
            reader.any();
            fits = reader.position() == octets.length();
        } catch (Asn1Exception fault) {
            fits = false;
        }
        if (!fits) {
            throw error(ErrorKind.VALUE_MISMATCH);
        }
        push(octets);
    }

    /**
     * Writes the bits of a preamble (16.2).
     *
     * @param bits the bits
     */
    public void preamble(boolean... bits) {
        for (int octet = (bits.length - 1) / 8; octet >= 0 && bits.length > 0; octet--) {
            int number = 0;
            for (int i = octet * 8; i < Math.min(bits.length, octet * 8 + 8); i++) {
                number |= bits[i] ? 0x80 >> i % 8 : 0;
            }
            push(number);
        }
    }

    /**
     * Writes the bitmap of additions (16.4).
     *
     * @param there which of those that the type knows are there
     * @param unknown those that it does not know
     * @throws Asn1Exception if the latter were read by other rules
     */
    public void additions(boolean[] there, UnknownAdditions unknown) throws Asn1Exception {
        boolean[] all = unknown.bitmap(Rules.Family.OER, there);
        int mark = mark();
        preamble(all);
        push((8 - all.length % 8) % 8);
        close(mark);
    }

    /**
     * Writes the additions that a type does not know.
     *
     * @param unknown the additions
     * @throws Asn1Exception if they were read by other rules
     */
    public void unknown(UnknownAdditions unknown) throws Asn1Exception {
        List<UnknownAdditions.Addition> list = unknown.of(Rules.Family.OER);
        for (int i = list.size() - 1; i >= 0; i--) {
            any(list.get(i).encoding());
        }
    }

    /**
     * Writes a SEQUENCE OF or SET OF (17, 19).
     *
     * @param <T> the type of the elements
     * @param ordered whether it is a SET OF, whose elements ascend in canonical OER
     * @param list the elements
     * @param element writes an element
     * @throws Asn1Exception if an element cannot be written
     */
    public <T> void list(boolean ordered, List<T> list, Element<T> element) throws Asn1Exception {
        int mark = mark();
        boolean sorted = ordered && canonical;
        List<Integer> ends = new ArrayList<>();
        for (int i = list.size() - 1; i >= 0; i--) {
            try {
                element.write(this, list.get(i));
            } catch (Asn1Exception fault) {
                throw fault.inElement(i);
            }
            if (sorted) {
                ends.add(length() - mark);
            }
        }
        if (sorted) {
            int length = length() - mark;
            byte[] copy = Arrays.copyOfRange(buffer, start, start + length);
            List<int[]> elements = new ArrayList<>();
            int begun = 0;
            for (int end : ends) {
                elements.add(new int[] {length - end, length - begun});
                begun = end;
            }
            elements.sort((a, b) -> OerReader.order(copy, a[0], a[1], copy, b[0], b[1]));
            int at = start;
            for (int[] one : elements) {
                System.arraycopy(copy, one[0], buffer, at, one[1] - one[0]);
                at += one[1] - one[0];
            }
        }
        variable(BigInteger.valueOf(list.size()), false);
    }

    /**
     * Writes the tag of a CHOICE (20.1).
     *
     * @param tag the tag
     */
    public void tag(int tag) {
        int head = tag >>> 24 & 0xC0;
        int number = BerTag.number(tag);
        if (number < 0x3F) {
            push(head | number);
            return;
        }
        push(number & 0x7F);
        for (int rest = number >> 7; rest > 0; rest >>= 7) {
            push(rest | 0x80);
        }
        push(head | 0x3F);
    }

    // Numbers

    /**
     * Writes a BOOLEAN (9).
     *
     * @param value the value
     */
    public void bool(boolean value) {
        push(value ? 0xFF : 0);
    }

    void fixed(long number, int octets) {
        for (int i = 0; i < octets; i++) {
            push((int) (number >>> 8 * i));
        }
    }

    /**
     * Writes an INTEGER without a sign in a fixed number of bytes (10.3).
     *
     * @param number the number
     * @param octets the number of bytes
     * @throws Asn1Exception if the number does not fit
     */
    public void unsigned(long number, int octets) throws Asn1Exception {
        if (number < 0 || octets < 8 && number >>> octets * 8 != 0) {
            throw outside();
        }
        fixed(number, octets);
    }

    /**
     * Writes an INTEGER without a sign in a fixed number of bytes (10.3).
     *
     * @param number the number
     * @param octets the number of bytes
     * @throws Asn1Exception if the number does not fit
     */
    public void unsigned(BigInteger number, int octets) throws Asn1Exception {
        if (number.signum() < 0 || number.bitLength() > octets * 8) {
            throw outside();
        }
        fixed(number.longValue(), octets);
    }

    /**
     * Writes an INTEGER with a sign in a fixed number of bytes (10.4).
     *
     * @param number the number
     * @param octets the number of bytes
     * @throws Asn1Exception if the number does not fit
     */
    public void signed(long number, int octets) throws Asn1Exception {
        long sign = number >> octets * 8 - 1;
        if (sign != 0 && sign != -1) {
            throw outside();
        }
        fixed(number, octets);
    }

    /**
     * Writes an INTEGER with a sign in a fixed number of bytes (10.4).
     *
     * @param number the number
     * @param octets the number of bytes
     * @throws Asn1Exception if the number does not fit
     */
    public void signed(BigInteger number, int octets) throws Asn1Exception {
        if (number.bitLength() > octets * 8 - 1) {
            throw outside();
        }
        fixed(number.longValue(), octets);
    }

    /**
     * Writes an INTEGER behind a length (10.3, 10.4).
     *
     * @param number the number
     * @param signed whether it has a sign
     * @throws Asn1Exception if the number is negative where none can be
     */
    public void variable(BigInteger number, boolean signed) throws Asn1Exception {
        if (!signed && number.signum() < 0) {
            throw outside();
        }
        byte[] octets = number.toByteArray();
        int lead = !signed && octets.length > 1 && octets[0] == 0 ? 1 : 0;
        push(octets, lead, octets.length - lead);
        pushLength(octets.length - lead);
    }

    /**
     * Writes the number of an ENUMERATED (11).
     *
     * @param number the number
     */
    public void enumerated(long number) {
        byte[] octets = BigInteger.valueOf(number).toByteArray();
        push(octets, 0, octets.length);
        if (number < 0 || number >= 0x80) {
            push(0x80 | octets.length);
        }
    }

    private double near(Asn1Real value) throws Asn1Exception {
        double number = value.doubleValue();
        Octets contents = value.contents();
        boolean isInfinite = contents.length() == 1 && (contents.get(0) == 0x40 || contents.get(0) == 0x41);
        if (Double.isInfinite(number) && !isInfinite) {
            throw outside();
        }
        return number;
    }

    /**
     * Writes a REAL as binary32 (12.2): the nearest that there is.
     *
     * @param value the value
     * @throws Asn1Exception if the value is beyond all of them
     */
    public void float32(double value) throws Asn1Exception {
        float near = (float) value;
        if (Float.isInfinite(near) && !Double.isInfinite(value)) {
            throw outside();
        }
        fixed(Float.floatToIntBits(near), 4);
    }

    /**
     * Writes a REAL as binary64 (12.3).
     *
     * @param value the value
     */
    public void float64(double value) {
        fixed(Double.doubleToLongBits(value), 8);
    }

    /**
     * Writes a REAL as binary32 (12.2): the nearest that there is.
     *
     * @param value the value
     * @throws Asn1Exception if the value is beyond all of them
     */
    public void real32(Asn1Real value) throws Asn1Exception {
        float32(near(value));
    }

    /**
     * Writes a REAL as binary64 (12.3): the nearest that there is.
     *
     * @param value the value
     * @throws Asn1Exception if the value is beyond all of them
     */
    public void real64(Asn1Real value) throws Asn1Exception {
        float64(near(value));
    }

    /**
     * Writes a REAL as contents of X.690 (12.4).
     *
     * @param value the value
     */
    public void real(Asn1Real value) {
        any(value.normal());
    }

    // Strings

    /**
     * Writes an OCTET STRING (14).
     *
     * @param size the only size, or {@link OerReader#VARIABLE}
     * @param value the value
     * @throws Asn1Exception if the value has another size
     */
    public void octets(int size, Octets value) throws Asn1Exception {
        push(value);
        sized(size, value.length());
    }

    private void sized(int size, int length) throws Asn1Exception {
        if (size == OerReader.VARIABLE) {
            pushLength(length);
        } else if (size != length) {
            throw outside();
        }
    }

    /**
     * Writes an OCTET STRING of which only one size is allowed.
     *
     * @param size the size, or {@link OerReader#VARIABLE} if it is written
     * @param value the value
     * @param count the number of bytes
     * @throws Asn1Exception if the value has another size
     */
    public void octets(int size, Octets value, int count) throws Asn1Exception {
        if (value.length() != count) {
            throw outside();
        }
        octets(size, value);
    }

    /**
     * Writes a BIT STRING (13).
     *
     * @param size the only size, or {@link OerReader#VARIABLE}
     * @param value the value
     * @throws Asn1Exception if the value has another size
     */
    public void bits(int size, BitString value) throws Asn1Exception {
        bits(size, value, -1);
    }

    /**
     * Writes a BIT STRING with named bits: without zero bits at its end as far as the size allows (31.7).
     *
     * @param size the only size, or {@link OerReader#VARIABLE}
     * @param value the value
     * @param least the least number of bits
     * @throws Asn1Exception if the value has another size
     */
    public void namedBits(int size, BitString value, int least) throws Asn1Exception {
        bits(size, value.trimmed(least), least);
    }

    private void bits(int size, BitString value, int least) throws Asn1Exception {
        int count;
        if (size == OerReader.VARIABLE) {
            count = Math.max(value.length(), least);
        } else if (value.length() == size || least >= 0 && value.length() < size) {
            count = size;
        } else {
            throw outside();
        }
        int mark = mark();
        Octets octets = value.octets();
        for (int i = octets.length(); i < (count + 7) / 8; i++) {
            push(0);
        }
        push(octets);
        if (octets.length() > 0) {
            buffer[start + octets.length() - 1] &= (byte) (0xFF << value.unused());
        }
        if (size == OerReader.VARIABLE) {
            push((8 - count % 8) % 8);
            close(mark);
        }
    }

    /**
     * Writes a BIT STRING of which only one size is allowed.
     *
     * @param size the size, or {@link OerReader#VARIABLE} if it is written
     * @param value the value
     * @param count the number of bits
     * @throws Asn1Exception if the value has another size
     */
    public void bitsOf(int size, BitString value, int count) throws Asn1Exception {
        if (value.length() != count) {
            throw outside();
        }
        bits(size, value);
    }

    private void text(int size, byte[] octets) throws Asn1Exception {
        push(octets, 0, octets.length);
        sized(size, octets.length);
    }

    /**
     * Writes a character string (27).
     *
     * @param size the only size in bytes, or {@link OerReader#VARIABLE}
     * @param kind the universal number of its type
     * @param value the text
     * @throws Asn1Exception if the text has a size or a character that is not allowed
     */
    public void text(int size, int kind, String value) throws Asn1Exception {
        text(size, Text.encode(kind, value, false));
    }

    /**
     * Writes a UTCTime (28).
     *
     * @param size the only size, or {@link OerReader#VARIABLE}
     * @param value the text
     * @throws Asn1Exception if the text is not one
     */
    public void utcTime(int size, String value) throws Asn1Exception {
        Octets octets = PerReader.ascii(value);
        Times.utc(octets, 0, canonical);
        octets(size, octets);
    }

    /**
     * Writes a GeneralizedTime (28).
     *
     * @param size the only size, or {@link OerReader#VARIABLE}
     * @param value the text
     * @throws Asn1Exception if the text is not one
     */
    public void generalizedTime(int size, String value) throws Asn1Exception {
        Octets octets = PerReader.ascii(value);
        Times.generalized(octets, 0, canonical);
        octets(size, octets);
    }

    /**
     * Writes a time of X.680 clause 38 as its text.
     *
     * @param size the only size, or {@link OerReader#VARIABLE}
     * @param kind the universal number of its type
     * @param value the text of its value notation
     * @throws Asn1Exception if the text is not one
     */
    public void time(int size, int kind, String value) throws Asn1Exception {
        byte[] octets = IsoTimes.encode(kind, value, false);
        IsoTimes.decode(kind, Octets.known(octets, 0, octets.length), 0, canonical);
        text(size, octets);
    }

    /**
     * Writes a date, a time of day, or both, in numbers (29).
     *
     * @param form how it is written
     * @param value the text of its value notation
     * @throws Asn1Exception if the text is not one, or outside of the settings of its type
     */
    public void point(OerTime form, String value) throws Asn1Exception {
        IsoTimes.encode(form.kind(), value, false);
        form.write(this, value);
    }

    /**
     * Writes a duration in numbers (29).
     *
     * @param kind the universal number of its type
     * @param value the text of its value notation
     * @throws Asn1Exception if the text is not one
     */
    public void duration(int kind, String value) throws Asn1Exception {
        IsoTimes.encode(kind, value, false);
        OerTime.writeDuration(this, value);
    }

    /**
     * Writes an OBJECT IDENTIFIER (21).
     *
     * @param value the value
     */
    public void oid(ObjectIdentifier value) {
        any(value.contents());
    }

    /**
     * Writes a RELATIVE-OID (22).
     *
     * @param value the value
     */
    public void relativeOid(RelativeObjectIdentifier value) {
        any(value.contents());
    }

    /**
     * Writes a string with CONTAINING.
     *
     * @param <T> the type of the value inside
     * @param size the only size, or {@link OerReader#VARIABLE}
     * @param isBits whether it is a BIT STRING
     * @param value the string
     * @param element writes the value inside
     * @throws Asn1Exception if the value cannot be written, or its size is not allowed
     */
    public <T> void containing(int size, boolean isBits, Contained<T> value, Element<T> element)
            throws Asn1Exception {
        int mark = mark();
        T content = value.value();
        if (content != null) {
            beginValue();
            element.write(this, content);
            endValue();
        } else if (isBits) {
            bits(size, value.bits());
            return;
        } else {
            push(value.bits().octets());
        }
        int octets = length() - mark;
        if (size == OerReader.VARIABLE) {
            if (isBits) {
                push(0);
            }
            close(mark);
        } else if (size != (isBits ? octets * 8 : octets)) {
            throw outside();
        }
    }
}
