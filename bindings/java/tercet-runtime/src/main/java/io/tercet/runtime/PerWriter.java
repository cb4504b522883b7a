package io.tercet.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.math.BigInteger;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Writes PER, aligned and unaligned (X.691). For generated code: users have {@link Encoder}.
 */
public final class PerWriter {
    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private static final int FRAGMENT = 16 * 1024;

    private final Rules rules;
    private final boolean aligned;
    private final boolean canonical;
    private byte[] buffer = new byte[256];
    /** Whole bytes that are written, behind which eight more are free. */
    private int count;
    /** Bits behind those, the first the highest; zero behind the last. */
    private long word;
    /** How many there are, below 64. */
    private int used;
    private int values = Limits.DEFAULT.depth();

    // The orders of the elements of SET OFs under the canonical rules, outer ones before inner ones: what has been found out
    // is not asked for again, or the time would double with every SET OF around another.
    private List<int[]> orders = new ArrayList<>();
    /** Which order comes next, where all are known; else -1. */
    private int next = -1;

    PerWriter(Rules rules) {
        this.rules = rules;
        aligned = rules.isAligned();
        canonical = rules.isCanonical();
    }

    /**
     * Writes one element of a list.
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
        void write(PerWriter w, T value) throws Asn1Exception;
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
        count = 0;
        word = 0;
        used = 0;
        values = Limits.DEFAULT.depth();
        orders = new ArrayList<>();
        next = -1;
    }

    /**
     * Returns a copy of the encoding: at least one byte (11.1).
     *
     * @return a new array
     */
    public byte[] toByteArray() {
        finish();
        return Arrays.copyOf(buffer, count);
    }

    /**
     * Returns the encoding without a copy, until the next value is written.
     *
     * @return a view of the writer's memory
     */
    public Octets view() {
        finish();
        return Octets.known(buffer, 0, count);
    }

    private void finish() {
        flush();
        if (count == 0) {
            room(1);
            buffer[count++] = 0;
        }
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

    // Bits

    private long position() {
        return count * 8L + used;
    }

    private void room(int octets) {
        if (buffer.length - count < octets + 8) {
            buffer = Arrays.copyOf(buffer, Math.max(buffer.length * 2, count + octets + 64));
        }
    }

    /** All bytes of the word, the last one filled with zero bits. */
    private void flush() {
        room(8);
        LONGS.set(buffer, count, word);
        count += (used + 7) / 8;
        word = 0;
        used = 0;
    }

    /**
     * Writes the lowest bits of a number.
     *
     * @param number the number, in which higher bits are zero
     * @param width how many bits, at most 64
     */
    public void bits(long number, int width) {
        int all = used + width;
        if (all < 64) {
            // In two shifts, since there may be no bits.
            word |= number << 63 - all << 1;
            used = all;
            return;
        }
        int left = all - 64;
        room(8);
        LONGS.set(buffer, count, word | number >>> left);
        count += 8;
        word = left == 0 ? 0 : number << 64 - left;
        used = left;
    }

    /**
     * Writes a bit.
     *
     * @param bit the bit
     */
    public void bit(boolean bit) {
        bits(bit ? 1 : 0, 1);
    }

    private void align() {
        bits(0, -used & 7);
    }

    private void octetsOf(byte[] octets, int from, int length) {
        if (length > 8 && (used & 7) == 0) {
            flush();
            room(length);
            System.arraycopy(octets, from, buffer, count, length);
            count += length;
            return;
        }
        int i = 0;
        for (; i + 7 <= length; i += 7) {
            long number = 0;
            for (int k = 0; k < 7; k++) {
                number = number << 8 | octets[from + i + k] & 0xFF;
            }
            bits(number, 56);
        }
        for (; i < length; i++) {
            bits(octets[from + i] & 0xFF, 8);
        }
    }

    private void bitsOf(byte[] octets, int from, long bits) {
        int whole = (int) (bits / 8);
        octetsOf(octets, from, whole);
        int rest = (int) (bits % 8);
        if (rest > 0) {
            bits((octets[from + whole] & 0xFF) >> 8 - rest, rest);
        }
    }

    // Numbers

    private static Asn1Exception outside() {
        return Asn1Exception.at(ErrorKind.CONSTRAINT_VIOLATED, 0);
    }

    /**
     * Writes a constrained whole number less its least value (11.5).
     *
     * @param whole how it is written
     * @param number the number, without a sign
     */
    public void whole(PerWhole whole, long number) {
        switch (whole.form()) {
            case NOTHING -> {}
            case BITS -> bits(number, whole.width());
            case ALIGNED -> {
                align();
                bits(number, whole.width());
            }
            default -> {
                int octets = Math.max(1, (71 - Long.numberOfLeadingZeros(number)) / 8);
                bits(octets - 1, whole.width());
                align();
                bits(number, octets * 8);
            }
        }
    }

    /**
     * Writes an INTEGER between bounds (11.5).
     *
     * @param whole how the difference to the lower bound is written
     * @param number the number
     * @param least the lower bound
     * @param span the greatest difference, without a sign
     * @throws Asn1Exception if the number is outside
     */
    public void integer(PerWhole whole, long number, long least, long span) throws Asn1Exception {
        long above = number - least;
        if (number < least || Long.compareUnsigned(above, span) > 0) {
            throw outside();
        }
        whole(whole, above);
    }

    /**
     * Writes an INTEGER between bounds that are extensible (13.1).
     *
     * @param whole how the difference to the lower bound is written
     * @param number the number
     * @param least the lower bound
     * @param span the greatest difference, without a sign
     * @throws Asn1Exception never
     */
    public void extensible(PerWhole whole, long number, long least, long span) throws Asn1Exception {
        long above = number - least;
        boolean isOutside = number < least || Long.compareUnsigned(above, span) > 0;
        bit(isOutside);
        if (isOutside) {
            unconstrained(BigInteger.valueOf(number));
        } else {
            whole(whole, above);
        }
    }

    /**
     * Writes an INTEGER of any size between bounds (11.5).
     *
     * @param whole how the difference to the lower bound is written
     * @param number the number
     * @param least the lower bound
     * @param span the greatest difference, without a sign
     * @throws Asn1Exception if the number is outside
     */
    public void integer(PerWhole whole, BigInteger number, BigInteger least, long span) throws Asn1Exception {
        if (!isWithin(number, least, span)) {
            throw outside();
        }
        whole(whole, number.subtract(least).longValue());
    }

    /**
     * Returns whether a number is one of a root.
     *
     * @param number the number
     * @param least the lower bound
     * @param span the greatest difference to it, without a sign
     * @return whether it is
     */
    public static boolean isWithin(BigInteger number, BigInteger least, long span) {
        BigInteger above = number.subtract(least);
        return above.signum() >= 0 && above.bitLength() <= 64 && Long.compareUnsigned(above.longValue(), span) <= 0;
    }

    /**
     * Writes an INTEGER without a lower bound (11.8).
     *
     * @param number the number
     */
    public void unconstrained(BigInteger number) {
        byte[] octets = number.toByteArray();
        contents(octets, 0, octets.length);
    }

    /**
     * Writes an INTEGER with a lower bound alone (11.7).
     *
     * @param number the number
     * @param least the lower bound
     * @throws Asn1Exception if the number is below
     */
    public void semiConstrained(BigInteger number, BigInteger least) throws Asn1Exception {
        byte[] octets = magnitude(number.subtract(least));
        contents(octets, 0, octets.length);
    }

    private static byte[] magnitude(BigInteger number) throws Asn1Exception {
        if (number.signum() < 0) {
            throw outside();
        }
        byte[] octets = number.toByteArray();
        return octets.length > 1 && octets[0] == 0 ? Arrays.copyOfRange(octets, 1, octets.length) : octets;
    }

    /**
     * Writes an INTEGER with bounds of more than 64 bits (11.5).
     *
     * @param number the number
     * @param least the lower bound
     * @param span the greatest difference to it
     * @param octets the bytes that the difference is given in
     * @throws Asn1Exception if the number is outside
     */
    public void large(BigInteger number, BigInteger least, BigInteger span, int octets) throws Asn1Exception {
        BigInteger above = number.subtract(least);
        byte[] digits = magnitude(above);
        if (above.compareTo(span) > 0) {
            throw outside();
        }
        if (aligned) {
            bits(digits.length - 1, 32 - Integer.numberOfLeadingZeros(octets - 1));
            align();
            octetsOf(digits, 0, digits.length);
        } else {
            int width = Math.max(span.bitLength() - (octets - 1) * 8, 0);
            for (int i = 0; i < octets; i++) {
                int at = i + digits.length - octets;
                bits(at < 0 ? 0 : digits[at] & 0xFF, width);
                width = 8;
            }
        }
    }

    /**
     * Writes a normally small non-negative whole number (11.6).
     *
     * @param number the number
     */
    public void smallNumber(int number) {
        if (number < 64) {
            bits(number, 7);
            return;
        }
        bit(true);
        int octets = (39 - Integer.numberOfLeadingZeros(number)) / 8;
        length(octets);
        bits(number, octets * 8);
    }

    // Lengths

    /** Writes a general length determinant and returns how many units it covers; another follows a fragment. */
    private int length(long units) {
        if (aligned) {
            align();
        }
        if (units < 0x80) {
            bits(units, 8);
            return (int) units;
        }
        if (units < FRAGMENT) {
            bits(0x8000 | units, 16);
            return (int) units;
        }
        int blocks = (int) Math.min(units / FRAGMENT, 4);
        bits(0xC0 | blocks, 8);
        return blocks * FRAGMENT;
    }

    /** Writes a size (11.9.4); returns how many units it covers, or -1 for all of them where no length follows. */
    private int size(PerSize size, int units) throws Asn1Exception {
        boolean isInside = size.holds(units);
        if (size.extensible()) {
            bit(!isInside);
        } else if (!isInside) {
            throw outside();
        }
        PerWhole whole = size.whole();
        if (whole != null && isInside) {
            whole(whole, units - size.least());
            return ALL;
        }
        return length(units);
    }

    private static final int ALL = -1;

    private void contents(byte[] octets, int from, int count) {
        fragments(length(count), octets, from, count);
    }

    /** Bytes behind their first length. */
    private void fragments(int first, byte[] octets, int from, int count) {
        int covered = first;
        int rest = count;
        int at = from;
        while (true) {
            int now = covered == ALL ? rest : covered;
            octetsOf(octets, at, now);
            at += now;
            rest -= now;
            if (now < FRAGMENT || covered == ALL) {
                return;
            }
            covered = length(rest);
        }
    }

    // Strings

    /**
     * Writes a BOOLEAN (12).
     *
     * @param value the value
     */
    public void bool(boolean value) {
        bits(value ? 1 : 0, 1);
    }

    /**
     * Writes an OCTET STRING (17).
     *
     * @param size its size
     * @param value the value
     * @throws Asn1Exception if the value has a size that is not allowed
     */
    public void octets(PerSize size, Octets value) throws Asn1Exception {
        octets(size, value.array(), value.start(), value.length());
    }

    private void octets(PerSize size, byte[] octets, int from, int count) throws Asn1Exception {
        int covered = size(size, count);
        if (aligned && count > 0 && !size.isShort(count, 2)) {
            align();
        }
        fragments(covered, octets, from, count);
    }

    /**
     * Writes an OCTET STRING of a fixed size, for which no size is written.
     *
     * @param value the value
     * @param count the number of bytes
     * @throws Asn1Exception if the value has another size
     */
    public void octets(Octets value, int count) throws Asn1Exception {
        if (value.length() != count) {
            throw outside();
        }
        if (aligned && count > 2) {
            align();
        }
        octetsOf(value.array(), value.start(), count);
    }

    /**
     * Writes a BIT STRING (16).
     *
     * @param size its size
     * @param value the value
     * @param named whether zero bits at the end mean nothing, so that only those that the size asks for are written
     * @throws Asn1Exception if the value has a size that is not allowed
     */
    public void bitString(PerSize size, BitString value, boolean named) throws Asn1Exception {
        BitString bits = named ? value.trimmed((int) size.least()) : value;
        int count = named ? (int) Math.max(bits.length(), size.least()) : bits.length();
        int covered = size(size, count);
        if (aligned && count > 0 && !size.isShort(count, 16)) {
            align();
        }
        Octets octets = bits.octets();
        int from = 0;
        while (true) {
            int now = covered == ALL ? count - from : covered;
            int known = Math.max(0, Math.min(bits.length() - from, now));
            bitsOf(octets.array(), octets.start() + from / 8, known);
            for (int zeros = now - known; zeros > 0; zeros -= 56) {
                bits(0, Math.min(zeros, 56));
            }
            from += now;
            if (now < FRAGMENT || covered == ALL) {
                return;
            }
            covered = length(count - from);
        }
    }

    /**
     * Writes a BIT STRING of a fixed size, for which no size is written.
     *
     * @param value the value
     * @param count the number of bits
     * @throws Asn1Exception if the value has another size
     */
    public void bitString(BitString value, int count) throws Asn1Exception {
        if (value.length() != count) {
            throw outside();
        }
        if (aligned && count > 16) {
            align();
        }
        bitsOf(value.octets().array(), value.octets().start(), count);
    }

    /**
     * Writes a BIT STRING for which a size is written, but only one is allowed.
     *
     * @param size the size that is written
     * @param value the value
     * @param named whether zero bits at the end mean nothing
     * @param count the number of bits
     * @throws Asn1Exception if the value has another size
     */
    public void bitString(PerSize size, BitString value, boolean named, int count) throws Asn1Exception {
        if (value.length() != count) {
            throw outside();
        }
        bitString(size, value, named);
    }

    /**
     * Writes a known-multiplier character string (30.5).
     *
     * @param size its size
     * @param alphabet its characters
     * @param value the text
     * @throws Asn1Exception if the text has a size or a character that is not allowed
     */
    public void characters(PerSize size, PerAlphabet alphabet, String value) throws Asn1Exception {
        boolean hasPairs = alphabet.hasPairs();
        int count = hasPairs ? value.length() : value.codePointCount(0, value.length());
        int covered = size(size, count);
        if (aligned && count > 0 && !(alphabet.unaligned && size.holds(count))) {
            align();
        }
        int at = 0;
        int rest = count;
        while (true) {
            int now = covered == ALL ? rest : covered;
            for (int i = 0; i < now; i++) {
                int character = hasPairs ? value.charAt(at) : value.codePointAt(at);
                at += hasPairs ? 1 : Character.charCount(character);
                long code = alphabet.code(character);
                if (code < 0) {
                    throw outside();
                }
                bits(code, alphabet.bits);
            }
            rest -= now;
            if (now < FRAGMENT || covered == ALL) {
                return;
            }
            covered = length(rest);
        }
    }

    /**
     * Writes a UTCTime (31).
     *
     * @param size its size
     * @param alphabet its characters
     * @param value the text
     * @throws Asn1Exception if the text is not one
     */
    public void utcTime(PerSize size, PerAlphabet alphabet, String value) throws Asn1Exception {
        Times.utc(PerReader.ascii(value), 0, canonical);
        characters(size, alphabet, value);
    }

    /**
     * Writes a GeneralizedTime (31).
     *
     * @param size its size
     * @param alphabet its characters
     * @param value the text
     * @throws Asn1Exception if the text is not one
     */
    public void generalizedTime(PerSize size, PerAlphabet alphabet, String value) throws Asn1Exception {
        Times.generalized(PerReader.ascii(value), 0, canonical);
        characters(size, alphabet, value);
    }

    /**
     * Writes a character string behind a general length determinant (30.6).
     *
     * @param kind the universal number of its type
     * @param value the text
     * @throws Asn1Exception if the text has characters that the type does not have
     */
    public void text(int kind, String value) throws Asn1Exception {
        byte[] octets = Text.encode(kind, value, false);
        contents(octets, 0, octets.length);
    }

    /**
     * Writes a REAL (15).
     *
     * @param value the value
     */
    public void real(Asn1Real value) {
        contents(value.normal());
    }

    /**
     * Writes a REAL (15).
     *
     * @param value the value
     */
    public void doubleReal(double value) {
        real(Asn1Real.of(value));
    }

    private void contents(Octets octets) {
        contents(octets.array(), octets.start(), octets.length());
    }

    /**
     * Writes an OBJECT IDENTIFIER (24).
     *
     * @param value the value
     */
    public void oid(ObjectIdentifier value) {
        contents(value.contents());
    }

    /**
     * Writes a RELATIVE-OID (25).
     *
     * @param value the value
     */
    public void relativeOid(RelativeObjectIdentifier value) {
        contents(value.contents());
    }

    /**
     * Writes a time of X.680 clause 38 (32).
     *
     * @param form how it is written
     * @param value the text of its value notation
     * @throws Asn1Exception if the text is not one, or outside of the settings of its type
     */
    public void time(PerTime form, String value) throws Asn1Exception {
        try {
            IsoTimes.encode(form.kind(), value, false);
        } catch (Asn1Exception fault) {
            throw Asn1Exception.at(fault.kind(), 0);
        }
        form.write(this, value);
    }

    /**
     * Writes an open type: its complete encoding.
     *
     * @param encoding the encoding
     */
    public void any(Octets encoding) {
        if (encoding.isEmpty()) {
            contents(new byte[1], 0, 1);
        } else {
            contents(encoding);
        }
    }

    // Lists

    /**
     * Writes a SEQUENCE OF (20).
     *
     * @param <T> the type of the elements
     * @param size its size
     * @param list the elements
     * @param element writes an element
     * @throws Asn1Exception if the list has a size that is not allowed, or an element cannot be written
     */
    public <T> void list(PerSize size, List<T> list, Element<T> element) throws Asn1Exception {
        list(size, list, null, element);
    }

    private <T> void list(PerSize size, List<T> list, int @Nullable [] order, Element<T> element) throws Asn1Exception {
        int count = list.size();
        int covered = size(size, count);
        int at = 0;
        while (true) {
            int now = covered == ALL ? count - at : covered;
            for (int last = at + now; at < last; at++) {
                int number = order == null ? at : order[at];
                try {
                    element.write(this, list.get(number));
                } catch (Asn1Exception fault) {
                    throw fault.inElement(at);
                }
            }
            if (now < FRAGMENT || covered == ALL) {
                return;
            }
            covered = length(count - at);
        }
    }

    /**
     * Writes a SET OF (22): under the canonical rules in the order of the encodings.
     *
     * @param <T> the type of the elements
     * @param size its size
     * @param list the elements
     * @param element writes an element
     * @throws Asn1Exception as {@link #list}
     */
    public <T> void setOf(PerSize size, List<T> list, Element<T> element) throws Asn1Exception {
        if (!canonical) {
            list(size, list, null, element);
            return;
        }
        if (next >= 0) {
            int[] order = orders.get(next);
            next++;
            list(size, list, order, element);
            return;
        }
        List<int[]> around = orders;
        orders = new ArrayList<>();
        record One(byte[] octets, int number, List<int[]> inside) {}
        List<One> all = new ArrayList<>();
        for (int i = 0; i < list.size(); i++) {
            T value = list.get(i);
            try {
                byte[] octets = apart(w -> element.write(w, value));
                all.add(new One(octets, i, orders));
                orders = new ArrayList<>();
            } catch (Asn1Exception fault) {
                throw fault.inElement(i);
            }
        }
        // Sorting is stable, so that equal ones keep their order.
        all.sort((a, b) -> Arrays.compareUnsigned(a.octets, b.octets));
        int[] order = new int[all.size()];
        orders = new ArrayList<>();
        for (int i = 0; i < order.length; i++) {
            order[i] = all.get(i).number;
            orders.addAll(all.get(i).inside);
        }
        next = 0;
        list(size, list, order, element);
        List<int[]> inside = orders;
        next = -1;
        orders = around;
        orders.add(order);
        orders.addAll(inside);
    }

    /** Writes something. */
    @FunctionalInterface
    public interface Part {
        /**
         * Writes it.
         *
         * @param w the writer
         * @throws Asn1Exception if it cannot be written
         */
        void write(PerWriter w) throws Asn1Exception;
    }

    /** The complete encoding of a value. Whatever comes of it, this writer is as before. */
    private byte[] apart(Part part) throws Asn1Exception {
        PerWriter inside = new PerWriter(rules);
        inside.values = values;
        inside.orders = orders;
        inside.next = next;
        part.write(inside);
        orders = inside.orders;
        next = inside.next;
        return inside.toByteArray();
    }

    // Open types and extensions

    /**
     * Begins an open type (11.2).
     *
     * @return the position, for {@link #close}
     */
    public long open() {
        if (aligned) {
            align();
        }
        bits(0, 8);
        return position();
    }

    /**
     * Ends an open type: fills its last byte and writes the length in front of it.
     *
     * @param mark what {@link #open} returned
     */
    public void close(long mark) {
        long written = position() - mark;
        int pad = written == 0 ? 8 : (int) (-written & 7);
        bits(0, pad);
        int octets = (int) ((written + pad) / 8);
        if (octets < 0x80) {
            long at = mark - 8;
            int both = octets << 8 - (int) (at & 7);
            or((int) (at >> 3), both >> 8);
            or((int) (at >> 3) + 1, both & 0xFF);
            return;
        }
        // A longer length: the contents are written again behind it.
        int shift = (int) (mark & 7);
        flush();
        byte[] contents = new byte[octets];
        int from = (int) (mark >> 3);
        for (int i = 0; i < octets; i++) {
            int pair = (buffer[from + i] & 0xFF) << 8 | (shift == 0 ? 0 : buffer[from + i + 1] & 0xFF);
            contents[i] = (byte) (pair >> 8 - shift);
        }
        count = (int) (mark - 8 >> 3);
        if (shift > 0) {
            int before = (buffer[count] & 0xFF) >> 8 - shift;
            bits(before, shift);
        }
        contents(contents, 0, octets);
    }

    /** Sets bits of a byte that was written, if only into the word. */
    private void or(int at, int bits) {
        if (at < count) {
            buffer[at] |= (byte) bits;
        } else if (bits != 0) {
            word |= (long) bits << 56 >>> (at - count) * 8;
        }
    }

    /**
     * Writes the bitmap of additions (19.7, 19.8).
     *
     * @param there which of those that the type knows are there
     * @param unknown those that it does not know
     * @throws Asn1Exception if the latter were read by other rules
     */
    public void additions(boolean[] there, UnknownAdditions unknown) throws Asn1Exception {
        boolean[] all = unknown.bitmap(family(), there);
        if (all.length >= 1 && all.length <= 64) {
            bits(all.length - 1, 7);
        } else {
            bit(true);
            length(all.length);
        }
        for (boolean bit : all) {
            bit(bit);
        }
    }

    private Rules.Family family() {
        return aligned ? Rules.Family.APER : Rules.Family.UPER;
    }

    /**
     * Writes the additions that a type does not know.
     *
     * @param unknown the additions
     * @throws Asn1Exception if they were read by other rules
     */
    public void unknown(UnknownAdditions unknown) throws Asn1Exception {
        for (UnknownAdditions.Addition addition : unknown.of(family())) {
            contents(addition.encoding());
        }
    }

    /**
     * Begins an alternative that is an addition: its number and the open type around it (23.8).
     *
     * @param number its number among the additions
     * @return the position, for {@link #close}
     */
    public long addedAlternative(int number) {
        bit(true);
        smallNumber(number);
        return open();
    }

    /**
     * Writes an alternative of a later version.
     *
     * @param value the alternative
     * @throws Asn1Exception if it has come without its number
     */
    public void unknownAlternative(UnknownAlternative value) throws Asn1Exception {
        if (value.addition() < 0) {
            throw Asn1Exception.at(ErrorKind.VALUE_MISMATCH, 0);
        }
        addedItem(value.addition());
        any(value.encoding());
    }

    /**
     * Writes an item of an ENUMERATED that is an addition (14.3).
     *
     * @param number its number among the additions
     */
    public void addedItem(int number) {
        bit(true);
        smallNumber(number);
    }

    /**
     * Writes a string with CONTAINING.
     *
     * @param <T> the type of the value inside
     * @param size its size
     * @param isBits whether it is a BIT STRING
     * @param value the string
     * @param element writes the value inside
     * @throws Asn1Exception if the value cannot be written, or its size is not allowed
     */
    public <T> void containing(PerSize size, boolean isBits, Contained<T> value, Element<T> element)
            throws Asn1Exception {
        T content = value.value();
        if (content == null) {
            BitString bits = value.bits();
            if (isBits) {
                bitString(size, bits, false);
            } else {
                octets(size, bits.octets());
            }
            return;
        }
        beginValue();
        byte[] inside = apart(w -> element.write(w, content));
        endValue();
        if (isBits) {
            bitString(size, BitString.of(Octets.known(inside, 0, inside.length), 0), false);
        } else {
            octets(size, inside, 0, inside.length);
        }
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
     * Returns whether one of several conditions holds.
     *
     * @param conditions the conditions
     * @return whether one does
     */
    public static boolean isAny(boolean[] conditions) {
        for (boolean condition : conditions) {
            if (condition) {
                return true;
            }
        }
        return false;
    }

    /**
     * Ends a value whose parts may all be such that can always be written.
     *
     * @throws Asn1Exception never
     */
    public void done() throws Asn1Exception {
        // Nothing is left to do: what is written fills the word.
    }
}
