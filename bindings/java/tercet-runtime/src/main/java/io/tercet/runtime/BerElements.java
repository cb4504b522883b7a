package io.tercet.runtime;

import java.io.ByteArrayOutputStream;

/** Elements of BER, DER and CER: headers, levels, strings in segments, and what is wrong with them. */
public abstract class BerElements {
    final byte[] input;
    /** The offset of the first byte of the array, less than zero where the input begins behind it. */
    final long base;
    final boolean ber;
    final boolean der;
    final boolean cer;
    final boolean strict;
    private final Limits limits;
    /** The longest length that the short path takes. */
    private final int shortest;

    int pos;
    /** The end of the innermost definite length around the position, or of the input. */
    int end;
    /** Whether {@link #end} comes from a definite length rather than from the input. */
    boolean bounded;
    /** Whether the level ends with end-of-contents. */
    boolean indefinite;
    /** Constructed elements that may still be entered. */
    int depth;
    /** Values with parts that may still begin. */
    private int values;

    /** Where the contents are that {@link #extent} or {@link #contents} found. */
    int at;

    // The header that was read last.
    private int tag;
    private int size;
    private boolean constructed;
    private boolean endless;
    private int length;

    BerElements(byte[] input, int start, int length, long base, Rules rules, Limits limits) {
        this.input = input;
        this.base = base - start;
        this.ber = rules == Rules.BER;
        this.der = rules == Rules.DER;
        this.cer = rules == Rules.CER;
        this.strict = limits.strictText();
        this.limits = limits;
        this.shortest = (int) Math.min(0x7F, limits.elementLength());
        this.depth = Limits.MAX_DEPTH;
        this.values = limits.depth();
        pos = start;
        end = start + length;
    }

    /** The reader of a value in a string of another one. */
    BerElements(byte[] input, int start, int length, long base, BerElements around) {
        this.input = input;
        this.base = base;
        ber = around.ber;
        der = around.der;
        cer = around.cer;
        strict = around.strict;
        limits = around.limits;
        shortest = around.shortest;
        depth = Limits.MAX_DEPTH;
        values = around.values;
        pos = start;
        end = start + length;
    }

    /**
     * Returns the position in the array.
     *
     * @return the position
     */
    public final int position() {
        return pos;
    }

    final long offset() {
        return base + pos;
    }

    final Asn1Exception error(ErrorKind kind) {
        return Asn1Exception.at(kind, offset());
    }

    /**
     * Begins a value with parts.
     *
     * @throws Asn1Exception if there are too many inside one another
     */
    public final void beginValue() throws Asn1Exception {
        if (values == 0) {
            throw error(ErrorKind.DEPTH_LIMIT);
        }
        values--;
    }

    /** Ends a value with parts. */
    public final void endValue() {
        values++;
    }

    // The short path

    /**
     * Returns the length of the contents of the next element if it has this tag, this form and a length in the fewest bytes,
     * all of which are there; else -1. The contents are at {@link #at}.
     */
    final int extent(int tag, int form) {
        int p = pos;
        int number = tag & 0x1FFFFFFF;
        int first = tag >>> 24 & 0xC0 | form;
        int left = end - p;
        if (number < 31) {
            if (left < 2 || (input[p] & 0xFF) != (first | number)) {
                return -1;
            }
            p += 1;
        } else if (number < 128) {
            if (left < 3 || (input[p] & 0xFF) != (first | 31) || input[p + 1] != number) {
                return -1;
            }
            p += 2;
        } else {
            if (left < 4
                    || number >= 0x4000
                    || (input[p] & 0xFF) != (first | 31)
                    || (input[p + 1] & 0xFF) != (number >> 7 | 0x80)
                    || input[p + 2] != (number & 0x7F)) {
                return -1;
            }
            p += 3;
        }
        int length = input[p++];
        if (length < 0 || length > shortest) {
            return middle(p, length);
        }
        at = p;
        return length <= end - p ? length : -1;
    }

    /** The same for a length of two or three bytes that is legal in DER. */
    private int middle(int p, int first) {
        int found;
        if (first == (byte) 0x81 && p < end && input[p] < 0) {
            found = input[p++] & 0xFF;
        } else if (first == (byte) 0x82 && end - p >= 2 && input[p] != 0) {
            found = (input[p] & 0xFF) << 8 | input[p + 1] & 0xFF;
            p += 2;
        } else {
            return -1;
        }
        at = p;
        return cer || found > limits.elementLength() || found > end - p ? -1 : found;
    }

    /**
     * Returns whether the next element has a tag. A fault in its header shows when the element is read.
     *
     * @param tag the tag
     * @return whether it has
     */
    public final boolean isNext(int tag) {
        int p = pos;
        if (p >= end) {
            return false;
        }
        int number = tag & 0x1FFFFFFF;
        int first = tag >>> 24 & 0xC0;
        int octet = input[p] & 0xDF;
        if (number < 31) {
            return octet == (first | number);
        }
        return octet == (first | 31) && identifier() == tag;
    }

    /**
     * Returns the tag of the next element of this level without moving. Of the header only the identifier is looked at.
     *
     * @return the tag, or 0 at the end of the level
     * @throws Asn1Exception if the identifier cannot be read
     */
    public final int peekTag() throws Asn1Exception {
        if (pos < end) {
            int octet = input[pos] & 0xFF;
            if ((octet & 0x1F) != 0x1F && (octet & 0xDF) != 0) {
                return (octet & 0xC0) << 24 | octet & 0x1F;
            }
        } else if (!indefinite) {
            return 0;
        }
        int tag = identifier();
        if (tag != 0 || !peekHeader()) {
            return tag;
        }
        // Not the end, although the number of the tag is that of end-of-contents.
        return this.tag == 0 ? BerTag.NOBODY : this.tag;
    }

    /**
     * Returns whether this level has more elements. A fault in the header of the next shows when it is read.
     *
     * @return whether there are more
     * @throws Asn1Exception if there may be end-of-contents, and they cannot be read
     */
    public final boolean hasMore() throws Asn1Exception {
        if (pos < end) {
            return (input[pos] & 0xDF) != 0 || peekTag() != 0;
        }
        return indefinite && peekTag() != 0;
    }

    /**
     * Returns whether a list has more elements. A fault in the header of the next shows when it is read.
     *
     * @return whether there are more
     * @throws Asn1Exception if there may be end-of-contents, and they cannot be read
     */
    public final boolean hasElement() throws Asn1Exception {
        if (pos < end) {
            return input[pos] != 0 || peekTag() != 0;
        }
        return indefinite && peekTag() != 0;
    }

    // Headers

    /** Reads the tag at the position if its identifier can be read, whatever is wrong with its length; else 0. */
    final int identifier() {
        if (pos >= end) {
            return 0;
        }
        int first = input[pos] & 0xFF;
        if ((first & 0x1F) != 0x1F) {
            return (first & 0xDF) != 0 ? (first & 0xC0) << 24 | first & 0x1F : 0;
        }
        int number = 0;
        for (int p = pos + 1; p < end; p++) {
            int octet = input[p];
            if (p == pos + 1 && octet == (byte) 0x80 || number > BerTag.MAX_NUMBER >> 7) {
                return 0;
            }
            number = number << 7 | octet & 0x7F;
            if (octet >= 0) {
                return number >= 31 ? (first & 0xC0) << 24 | number : 0;
            }
        }
        return 0;
    }

    private Asn1Exception fault(ErrorKind kind, int index) {
        return Asn1Exception.at(kind, base + pos + index);
    }

    private Asn1Exception cut(long needed) {
        return bounded
                ? Asn1Exception.at(ErrorKind.BEYOND_PARENT, base + end)
                : Asn1Exception.incomplete(base + end, needed);
    }

    /** Reads the header at the position, and checks that definite contents are inside what is there. */
    private void parse() throws Asn1Exception {
        int p = pos;
        if (p >= end) {
            throw cut(2);
        }
        int identifier = input[p++] & 0xFF;
        constructed = (identifier & 0x20) != 0;
        endless = false;
        int number = identifier & 0x1F;
        if (number == 0x1F) {
            number = 0;
            while (true) {
                if (p >= end) {
                    throw cut(2);
                }
                int octet = input[p];
                if (p == pos + 1 && octet == (byte) 0x80) {
                    throw fault(ErrorKind.TAG_LEADING_ZERO, 1);
                }
                if (number > BerTag.MAX_NUMBER >> 7) {
                    throw fault(ErrorKind.TAG_TOO_LARGE, 0);
                }
                number = number << 7 | octet & 0x7F;
                p++;
                if (octet >= 0) {
                    break;
                }
            }
            if (number < 31) {
                throw fault(ErrorKind.TAG_LONG_FORM, 0);
            }
        }
        tag = (identifier & 0xC0) << 24 | number;
        int lengthAt = p - pos;
        if (p >= end) {
            throw cut(1);
        }
        int first = input[p++] & 0xFF;
        long found = 0;
        if (first < 0x80) {
            found = first;
        } else if (first == 0x80) {
            if (identifier == 0) {
                throw fault(ErrorKind.END_OF_CONTENTS_MALFORMED, 0);
            }
            if (!constructed) {
                throw fault(ErrorKind.INDEFINITE_PRIMITIVE, lengthAt);
            }
            if (der) {
                throw fault(ErrorKind.INDEFINITE_FORBIDDEN, lengthAt);
            }
            size = p - pos;
            endless = true;
            length = 0;
            return;
        } else if (first == 0xFF) {
            throw fault(ErrorKind.LENGTH_RESERVED, lengthAt);
        } else {
            int count = first & 0x7F;
            for (int i = 0; i < count; i++) {
                if (p >= end) {
                    throw cut(count - i);
                }
                int octet = input[p] & 0xFF;
                if (i == 0 && octet == 0 && !ber) {
                    throw fault(ErrorKind.LENGTH_NOT_MINIMAL, lengthAt);
                }
                if (found >= 1L << 55) {
                    throw fault(ErrorKind.LENGTH_TOO_LARGE, lengthAt);
                }
                found = found << 8 | octet;
                p++;
            }
            if (found < 0x80 && !ber) {
                throw fault(ErrorKind.LENGTH_NOT_MINIMAL, lengthAt);
            }
        }
        if (tag == 0 && (constructed || first != 0)) {
            throw fault(ErrorKind.END_OF_CONTENTS_MALFORMED, 0);
        }
        if (constructed && cer) {
            throw fault(ErrorKind.DEFINITE_FORBIDDEN, lengthAt);
        }
        if (found > limits.elementLength()) {
            throw fault(ErrorKind.LENGTH_LIMIT, lengthAt);
        }
        int have = end - p;
        if (found > have) {
            throw cut(found - have);
        }
        size = p - pos;
        length = (int) found;
    }

    /** Reads the next header of this level without moving; returns whether there is one. */
    final boolean peekHeader() throws Asn1Exception {
        if (pos >= end) {
            if (!indefinite) {
                return false;
            }
            if (bounded) {
                throw error(ErrorKind.END_OF_CONTENTS_MISSING);
            }
        }
        parse();
        if (tag == 0 && !constructed && length == 0) {
            if (indefinite) {
                return false;
            }
            throw error(ErrorKind.END_OF_CONTENTS_UNEXPECTED);
        }
        return true;
    }

    /** Reads the next header of this level; returns whether there is one. */
    final boolean nextHeader() throws Asn1Exception {
        if (!peekHeader()) {
            return false;
        }
        pos += size;
        return true;
    }

    /** Reads the header of an element that has to be there with this tag. */
    final void expectHeader(int expected) throws Asn1Exception {
        peekRequired();
        if (tag != expected) {
            throw error(ErrorKind.TAG_MISMATCH);
        }
        pos += size;
    }

    /** Reads the header of an element that has to be there. */
    final void anyHeader() throws Asn1Exception {
        peekRequired();
        pos += size;
    }

    private void peekRequired() throws Asn1Exception {
        boolean there;
        try {
            there = peekHeader();
        } catch (Asn1Exception fault) {
            throw fault.inHeader();
        }
        if (!there) {
            throw missing();
        }
    }

    /** Returns what is wrong where an element has to be and none is: at the end of the input, more may come. */
    final Asn1Exception missing() {
        return pos >= end && !bounded ? Asn1Exception.incomplete(offset(), 2) : error(ErrorKind.MISSING_COMPONENT);
    }

    /**
     * Checks that the next element has the tag of its type.
     *
     * @param expected the tag
     * @throws Asn1Exception if it has another
     */
    public final void expect(int expected) throws Asn1Exception {
        if (isNext(expected)) {
            return;
        }
        parse();
        if (tag == 0 && !constructed && length == 0) {
            throw error(ErrorKind.END_OF_CONTENTS_UNEXPECTED);
        }
        if (tag != expected) {
            throw error(ErrorKind.TAG_MISMATCH);
        }
    }

    /**
     * Returns the tag of an element that has to be there.
     *
     * @return the tag
     * @throws Asn1Exception if there is none
     */
    public final int tag() throws Asn1Exception {
        int found;
        try {
            found = peekTag();
        } catch (Asn1Exception fault) {
            throw fault.inHeader();
        }
        if (found == 0) {
            throw missing();
        }
        return found;
    }

    /**
     * Returns what is wrong with an element that is none of the alternatives of a CHOICE.
     *
     * @return the fault
     */
    public final Asn1Exception noAlternative() {
        try {
            peekHeader();
            return error(ErrorKind.UNKNOWN_ALTERNATIVE);
        } catch (Asn1Exception fault) {
            return fault.inHeader();
        }
    }

    /**
     * Returns what is wrong with an element that no component begins with.
     *
     * @return the fault
     */
    public final Asn1Exception unexpected() {
        try {
            peekHeader();
            return error(ErrorKind.UNEXPECTED_ELEMENT);
        } catch (Asn1Exception fault) {
            return fault;
        }
    }

    /**
     * Returns the fault of a component that is not there.
     *
     * @param component the name of the component
     * @return the fault
     */
    public final Asn1Exception missing(String component) {
        return error(ErrorKind.MISSING_COMPONENT).in(component);
    }

    // Levels

    /** The level around an element that is entered. */
    final long frame() {
        return end | (bounded ? 1L << 32 : 0) | (indefinite ? 1L << 33 : 0);
    }

    /** Enters the constructed element whose header was just read. */
    final long enterHeader() throws Asn1Exception {
        if (!constructed) {
            throw before(ErrorKind.CONSTRUCTED_EXPECTED);
        }
        if (depth == 0) {
            throw before(ErrorKind.DEPTH_LIMIT);
        }
        depth--;
        long frame = frame();
        indefinite = endless;
        if (!endless) {
            end = pos + length;
            bounded = true;
        }
        return frame;
    }

    /** Checks that nothing is left of an element, and passes over its end-of-contents. */
    final void leaveLong() throws Asn1Exception {
        if (indefinite) {
            if (peekHeader()) {
                throw error(ErrorKind.UNEXPECTED_ELEMENT);
            }
            pos += 2;
        } else if (pos != end) {
            throw unexpected();
        }
    }

    final void restore(long frame) {
        depth++;
        end = (int) frame;
        bounded = (frame & 1L << 32) != 0;
        indefinite = (frame & 1L << 33) != 0;
    }

    private Asn1Exception before(ErrorKind kind) {
        return Asn1Exception.at(kind, offset() - size);
    }

    // Contents

    /** Passes over the contents of the primitive element whose header was just read; they are at {@link #at}. */
    final int contents() throws Asn1Exception {
        if (constructed) {
            throw before(ErrorKind.PRIMITIVE_EXPECTED);
        }
        at = pos;
        pos += length;
        return length;
    }

    final Octets primitive() throws Asn1Exception {
        int length = contents();
        return Octets.known(input, at, length);
    }

    /** Steps over the element whose header was just read, and checks all headers inside. */
    final void skipChecked() throws Asn1Exception {
        if (!constructed) {
            pos += length;
            return;
        }
        long[] frames = new long[8];
        int count = 0;
        frames[count++] = enterHeader();
        while (count > 0) {
            if (!nextHeader()) {
                leaveLong();
                restore(frames[--count]);
            } else if (constructed) {
                frames = count < frames.length ? frames : java.util.Arrays.copyOf(frames, 2 * count);
                frames[count++] = enterHeader();
            } else {
                pos += length;
            }
        }
    }

    final boolean isPadded(int start, int length) {
        if (length < 2) {
            return false;
        }
        int first = input[start];
        return first == 0 && input[start + 1] >= 0 || first == -1 && input[start + 1] < 0;
    }

    final long number(int start, int length) {
        long value = input[start];
        for (int i = 1; i < length; i++) {
            value = value << 8 | input[start + i] & 0xFF;
        }
        return value;
    }

    /** Moves {@link #at} over superfluous bytes of an INTEGER, which BER forbids (8.3.2) and equipment sends. */
    final int minimal(int length, long offset) throws Asn1Exception {
        if (length == 0) {
            throw Asn1Exception.at(ErrorKind.INTEGER_EMPTY, offset);
        }
        if (!ber && isPadded(at, length)) {
            throw Asn1Exception.at(ErrorKind.INTEGER_NOT_MINIMAL, offset);
        }
        while (isPadded(at, length)) {
            at++;
            length--;
        }
        return length;
    }

    final long longInteger(int tag) throws Asn1Exception {
        long element = offset();
        expectHeader(tag);
        long offset = offset();
        int length = minimal(contents(), offset);
        if (length > 8) {
            // What is too large for its type is so as a whole.
            throw Asn1Exception.at(ErrorKind.INTEGER_RANGE, element);
        }
        return number(at, length);
    }

    // Strings in segments

    /** Reads the string whose header was just read, whose type has this universal number. */
    final Octets string(int kind) throws Asn1Exception {
        if (!constructed && !cer) {
            return primitive();
        }
        Segments segments = new Segments(kind);
        Octets whole = Octets.EMPTY;
        ByteArrayOutputStream out = null;
        boolean split = constructed;
        for (int i = 0; segments.next(); i++) {
            if (i == 0) {
                whole = Octets.known(input, at, segments.size);
            } else if (segments.size > 0) {
                if (out == null) {
                    out = new ByteArrayOutputStream();
                    out.write(whole.array(), whole.start(), whole.length());
                }
                out.write(input, at, segments.size);
            }
        }
        if (out != null) {
            byte[] all = out.toByteArray();
            whole = Octets.known(all, 0, all.length);
        }
        checkSplit(split, whole.length());
        return whole;
    }

    /** CER: what fits into 1000 bytes is primitive (9.2). */
    private void checkSplit(boolean split, int length) throws Asn1Exception {
        if (cer && split && length <= 1000) {
            throw error(ErrorKind.SEGMENT_SIZE);
        }
    }

    final BitString bitString() throws Asn1Exception {
        if (!constructed && !cer) {
            long offset = offset();
            int length = contents();
            return bits(length, offset);
        }
        boolean split = constructed;
        Segments segments = new Segments(BerTag.BIT_STRING);
        BitString whole = BitString.EMPTY;
        ByteArrayOutputStream out = null;
        int unused = 0;
        for (int i = 0; segments.next(); i++) {
            if (unused != 0) {
                throw Asn1Exception.at(ErrorKind.BIT_STRING_SEGMENT, segments.offset);
            }
            BitString piece = bits(segments.size, segments.offset);
            unused = piece.unused();
            Octets octets = piece.octets();
            if (i == 0) {
                whole = piece;
            } else if (!octets.isEmpty()) {
                if (out == null) {
                    out = new ByteArrayOutputStream();
                    out.write(whole.octets().array(), whole.octets().start(), whole.octets().length());
                }
                out.write(octets.array(), octets.start(), octets.length());
            }
        }
        if (out != null) {
            byte[] all = out.toByteArray();
            whole = BitString.of(Octets.known(all, 0, all.length), unused);
        }
        checkSplit(split, whole.octets().length() + 1);
        return whole;
    }

    /** The bits of a primitive BIT STRING whose contents are at {@link #at}. */
    private BitString bits(int length, long offset) throws Asn1Exception {
        return decodeBits(Octets.known(input, at, length), offset, !ber);
    }

    /** The bits of the contents of a BIT STRING, which start at an absolute offset. */
    static BitString decodeBits(Octets contents, long offset, boolean canonical) throws Asn1Exception {
        int length = contents.length();
        if (length == 0) {
            throw Asn1Exception.at(ErrorKind.BIT_STRING_EMPTY, offset);
        }
        int unused = contents.get(0) & 0xFF;
        if (unused > 7 || unused > 0 && length == 1) {
            throw Asn1Exception.at(unused > 7 ? ErrorKind.BIT_STRING_UNUSED : ErrorKind.BIT_STRING_UNUSED_EMPTY, offset);
        }
        BitString bits = BitString.of(Octets.known(contents.array(), contents.start() + 1, length - 1), unused);
        if (canonical && !bits.isPaddedWithZeros()) {
            throw Asn1Exception.at(ErrorKind.BIT_STRING_PADDING, offset + length - 1);
        }
        return bits;
    }

    /** The primitive pieces of a string. */
    private final class Segments {
        private final int kind;
        private boolean first = true;
        private long[] frames = new long[4];
        private int count;
        /** Bytes of the piece before, for CER; -1 without. */
        private int before = -1;

        private int size;
        private long offset;

        Segments(int kind) {
            this.kind = kind;
        }

        /** Steps to the next piece, whose contents are at {@link #at}. */
        boolean next() throws Asn1Exception {
            if (first) {
                first = false;
                if (!constructed) {
                    offset = offset();
                    if (cer && length > 1000) {
                        throw error(ErrorKind.SEGMENT_SIZE);
                    }
                    size = contents();
                    return true;
                }
                if (der) {
                    throw error(ErrorKind.CONSTRUCTED_STRING);
                }
                frames[count++] = enterHeader();
            }
            while (count > 0) {
                long start = offset();
                if (!nextHeader()) {
                    leaveLong();
                    restore(frames[--count]);
                    continue;
                }
                boolean fits = switch (kind) {
                    case BerTag.OCTET_STRING, BerTag.BIT_STRING -> tag == kind;
                    // Encoded as if it were an OCTET STRING (8.23.1); several tools write its own tag.
                    default -> tag == BerTag.OCTET_STRING || ber && (tag == kind || kind == 25 && tag == 7);
                };
                if (!fits) {
                    throw Asn1Exception.at(ErrorKind.SEGMENT_TAG, start);
                }
                if (constructed) {
                    if (cer) {
                        throw Asn1Exception.at(ErrorKind.SEGMENT_SIZE, start);
                    }
                    frames = count < frames.length ? frames : java.util.Arrays.copyOf(frames, 2 * count);
                    frames[count++] = enterHeader();
                    continue;
                }
                if (cer) {
                    int least = kind == BerTag.BIT_STRING ? 2 : 1;
                    if (before != -1 && before != 1000 || length < least || length > 1000) {
                        throw Asn1Exception.at(ErrorKind.SEGMENT_SIZE, start);
                    }
                    before = length;
                }
                offset = offset();
                size = contents();
                return true;
            }
            return false;
        }
    }

    // What is wrong with elements out of place

    /**
     * Checks that the next element is not a component that comes late or twice. Later versions may add elements with
     * universal tags.
     */
    final void checkNotLate(Components place) throws Asn1Exception {
        int tag = identifier();
        int found = tag == 0 || BerTag.isUniversal(tag) ? -1 : place.find(tag, 0);
        if (found >= 0) {
            peekHeader();
            throw error(ErrorKind.UNEXPECTED_ELEMENT).in(place, found);
        }
    }

    /**
     * Returns the fault of a SEQUENCE with the component that it is in.
     *
     * @param fault the fault
     * @param at the number of the component, with {@link Components#REQUIRED} if it has to be there and is known by its
     *     tag, with {@link Components#ANY} if it has to be there and may have any, or -1 for none
     * @param extensible whether the type is extensible
     * @param place finds components
     * @return the fault
     */
    public final Asn1Exception fault(Asn1Exception fault, int at, boolean extensible, Components place) {
        if (at < 0) {
            return fault.in(place, at);
        }
        if ((at & Components.REQUIRED) != 0) {
            return misplaced(fault, at & ~Components.REQUIRED, extensible, place);
        }
        // Without a tag, nothing says that it is an element of the component.
        boolean isUnknown = (at & Components.ANY) != 0 && fault.isHeader() && identifier() == 0;
        return isUnknown ? fault.in("") : fault.in(place, at & ~Components.ANY);
    }

    /**
     * Throws a fault of a value in a string again if the string cannot be kept as it is.
     *
     * @param fault the fault
     * @throws Asn1Exception the fault, if values are nested too deeply
     */
    public final void checkDepth(Asn1Exception fault) throws Asn1Exception {
        if (fault.kind() == ErrorKind.DEPTH_LIMIT) {
            throw fault;
        }
    }

    /**
     * Returns the fault of a component that has to be there: where another element is in its place, that element tells what
     * is wrong. A component further on tells that this one is missing, all others are not expected here, unless the type is
     * extensible, where they may be of a later version.
     *
     * @param fault the fault of reading the component
     * @param number the number of the component
     * @param extensible whether the type is extensible
     * @param place finds components
     * @return the fault
     */
    private Asn1Exception misplaced(Asn1Exception fault, int number, boolean extensible, Components place) {
        if (fault.isHeader()) {
            int tag = identifier();
            int found = tag == 0 ? -1 : place.find(tag, number);
            return found < 0 ? fault.in("") : fault.in(place, found);
        }
        boolean isOther = fault.kind() == ErrorKind.TAG_MISMATCH || fault.kind() == ErrorKind.UNKNOWN_ALTERNATIVE;
        if (!isOther || !fault.hasNoPath()) {
            return fault.in(place, number);
        }
        pos = (int) Math.min(pos, fault.offset() - base);
        int tag;
        try {
            tag = peekTag();
        } catch (Asn1Exception ignored) {
            tag = 0;
        }
        boolean isLate = !extensible || tag == 0 || !BerTag.isUniversal(tag);
        int found = tag == 0 ? -1 : place.find(tag, number);
        if (found < 0 && tag != 0) {
            found = place.find(tag, 0);
        }
        if (found >= 0 && found < number && isLate) {
            return Asn1Exception.at(ErrorKind.UNEXPECTED_ELEMENT, fault.offset()).in(place, found);
        }
        if (found < 0 && !extensible) {
            return Asn1Exception.at(ErrorKind.UNEXPECTED_ELEMENT, fault.offset());
        }
        return Asn1Exception.at(ErrorKind.MISSING_COMPONENT, fault.offset()).in(place, number);
    }

    final Asn1Exception outOfOrder(int last, int position, int[] required, Components place) {
        try {
            peekHeader();
        } catch (Asn1Exception fault) {
            return position > last ? fault.in(place, position - 1) : fault.in("");
        }
        for (int number : required) {
            if (number > last && number < position) {
                return error(ErrorKind.MISSING_COMPONENT).in(place, number - 1);
            }
        }
        return error(ErrorKind.UNEXPECTED_ELEMENT).in(place, position - 1);
    }
}
