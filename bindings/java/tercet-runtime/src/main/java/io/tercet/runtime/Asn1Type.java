package io.tercet.runtime;

import java.lang.invoke.VarHandle;

/**
 * A type that was asked for when code was generated: decodes and encodes its values. Objects of this class have no state
 * and may be shared between threads.
 *
 * @param <T> the class of the values
 */
public abstract class Asn1Type<T> {
    private final String name;
    private final String nameInText;

    /**
     * Makes a type. For generated code.
     *
     * @param name the name in the specification
     */
    protected Asn1Type(String name) {
        this(name, name);
    }

    /**
     * Makes a type. For generated code.
     *
     * @param name the name in the specification
     * @param nameInText the name that paths in texts begin with
     */
    protected Asn1Type(String name, String nameInText) {
        this.name = name;
        this.nameInText = nameInText;
    }

    /**
     * Returns the name in the specification.
     *
     * @return the name
     */
    public String name() {
        return name;
    }

    /**
     * Decodes one value, which takes the whole input.
     *
     * @param rules the encoding rules
     * @param input the encoding, which must not be changed while the value is used
     * @return the value
     * @throws Asn1Exception if the input is not an encoding of a value, or bytes follow it
     */
    public T decode(Rules rules, byte[] input) throws Asn1Exception {
        Decoded<T> decoded = decodePrefix(rules, input, 0, input.length, Limits.DEFAULT);
        if (decoded.length() != input.length) {
            throw Asn1Exception.at(ErrorKind.TRAILING_DATA, decoded.length()).in(name);
        }
        return decoded.value();
    }

    /**
     * Decodes one value, which takes the whole input.
     *
     * @param rules the encoding rules
     * @param input the encoding
     * @return the value
     * @throws Asn1Exception if the input is not an encoding of a value, or bytes follow it
     */
    public T decode(Rules rules, Octets input) throws Asn1Exception {
        Decoded<T> decoded = decodePrefix(rules, input.array(), input.start(), input.length(), Limits.DEFAULT);
        if (decoded.length() != input.length()) {
            throw Asn1Exception.at(ErrorKind.TRAILING_DATA, decoded.length()).in(name);
        }
        return decoded.value();
    }

    /**
     * Decodes the value at the front of a part of an array; others may follow. A JSON text is one value as a whole.
     *
     * @param rules the encoding rules
     * @param input the array, which must not be changed while the value is used
     * @param start where the value begins; offsets in errors count from there
     * @param length the number of bytes up to the end of the input
     * @param limits what is accepted
     * @return the value and its length
     * @throws Asn1Exception if the input does not begin with an encoding of a value
     */
    public Decoded<T> decodePrefix(Rules rules, byte[] input, int start, int length, Limits limits)
            throws Asn1Exception {
        java.util.Objects.checkFromIndexSize(start, length, input.length);
        // A text that is not JSON has no path.
        JerReader json = rules.family() == Rules.Family.JER ? new JerReader(input, start, length, limits) : null;
        try {
            T value;
            int taken;
            switch (rules.family()) {
                case BER -> {
                    BerReader r = new BerReader(input, start, length, 0, rules, limits);
                    value = readBer(r);
                    taken = r.position() - start;
                }
                case APER, UPER -> {
                    PerReader r = new PerReader(input, start, length, rules, limits);
                    value = rules.isAligned() ? readAper(r) : readUper(r);
                    taken = r.finish();
                    if (rules.isCanonical()) {
                        checkCanonical(rules, value, input, start, taken);
                    }
                }
                case JER -> {
                    value = readJer(java.util.Objects.requireNonNull(json));
                    taken = length;
                }
                default -> {
                    OerReader r = new OerReader(input, start, length, rules, limits);
                    value = readOer(r);
                    taken = r.position();
                }
            }
            // Values are published safely although decoders fill the fields of some after they are made.
            VarHandle.releaseFence();
            return new Decoded<>(value, taken);
        } catch (Asn1Exception fault) {
            throw fault.in(rules.family() == Rules.Family.JER ? nameInText : name);
        }
    }

    /**
     * Encodes a value.
     *
     * @param rules the encoding rules
     * @param value the value
     * @return the encoding
     * @throws Asn1Exception if the value cannot be encoded by the rules
     */
    public byte[] encode(Rules rules, T value) throws Asn1Exception {
        return new Encoder(rules).encode(this, value).toByteArray();
    }

    /**
     * Hands a value to a writer part by part. Requires code that was generated with the rules {@code jer}.
     *
     * @param w the writer
     * @param value the value
     * @throws Asn1Exception if the value cannot be written
     */
    public final void write(ValueWriter w, T value) throws Asn1Exception {
        try {
            writeJer(w, value);
        } catch (Asn1Exception fault) {
            throw fault.in(name);
        }
    }

    /**
     * Returns whether a value is one that the specification has: false for an alternative of a later version. Readers of files
     * reject such records, which may be bytes of any kind.
     *
     * @param value the value
     * @return whether it is known
     */
    public boolean isKnown(T value) {
        return true;
    }

    /**
     * Returns the members of the type, if it is a SEQUENCE, SET or CHOICE. Requires code that was generated with the rules
     * {@code jer}.
     *
     * @return the members, or null
     */
    public @Nullable JerMembers members() {
        return null;
    }

    final void write(PerWriter w, T value) throws Asn1Exception {
        if (w.rules().isAligned()) {
            writeAper(w, value);
        } else {
            writeUper(w, value);
        }
    }

    /** Checks that an encoding is the one of its value, which is written again: there is only one. */
    private void checkCanonical(Rules rules, T value, byte[] input, int start, int taken) throws Asn1Exception {
        PerWriter w = new PerWriter(rules);
        // A fault in the value has a path, but no place in its encoding.
        write(w, value);
        Octets canonical = w.view();
        int same = 0;
        while (same < taken && same < canonical.length() && input[start + same] == canonical.get(same)) {
            same++;
        }
        if (same == taken && same == canonical.length()) {
            return;
        }
        int bit = same == taken || same == canonical.length()
                ? 0
                : Integer.numberOfLeadingZeros((input[start + same] ^ canonical.get(same)) & 0xFF) - 24;
        throw Asn1Exception.atBit(ErrorKind.NOT_CANONICAL, same * 8L + bit);
    }

    /**
     * Reads a value in aligned PER. For generated code.
     *
     * @param r the reader
     * @return the value
     * @throws Asn1Exception if there is no value
     */
    protected T readAper(PerReader r) throws Asn1Exception {
        throw Asn1Exception.at(ErrorKind.UNSUPPORTED, 0);
    }

    /**
     * Writes a value in aligned PER. For generated code.
     *
     * @param w the writer
     * @param value the value
     * @throws Asn1Exception if the value cannot be encoded
     */
    protected void writeAper(PerWriter w, T value) throws Asn1Exception {
        throw Asn1Exception.at(ErrorKind.UNSUPPORTED, 0);
    }

    /**
     * Reads a value in unaligned PER. For generated code.
     *
     * @param r the reader
     * @return the value
     * @throws Asn1Exception if there is no value
     */
    protected T readUper(PerReader r) throws Asn1Exception {
        throw Asn1Exception.at(ErrorKind.UNSUPPORTED, 0);
    }

    /**
     * Writes a value in unaligned PER. For generated code.
     *
     * @param w the writer
     * @param value the value
     * @throws Asn1Exception if the value cannot be encoded
     */
    protected void writeUper(PerWriter w, T value) throws Asn1Exception {
        throw Asn1Exception.at(ErrorKind.UNSUPPORTED, 0);
    }

    /**
     * Reads a value in OER. For generated code.
     *
     * @param r the reader
     * @return the value
     * @throws Asn1Exception if there is no value
     */
    protected T readOer(OerReader r) throws Asn1Exception {
        throw Asn1Exception.at(ErrorKind.UNSUPPORTED, 0);
    }

    /**
     * Writes a value in OER. For generated code.
     *
     * @param w the writer
     * @param value the value
     * @throws Asn1Exception if the value cannot be encoded
     */
    protected void writeOer(OerWriter w, T value) throws Asn1Exception {
        throw Asn1Exception.at(ErrorKind.UNSUPPORTED, 0);
    }

    /**
     * Reads a value in JER. For generated code.
     *
     * @param r the reader
     * @return the value
     * @throws Asn1Exception if there is no value
     */
    protected T readJer(JerReader r) throws Asn1Exception {
        throw Asn1Exception.at(ErrorKind.UNSUPPORTED, 0);
    }

    /**
     * Writes a value in JER. For generated code.
     *
     * @param w the writer
     * @param value the value
     * @throws Asn1Exception if the value cannot be encoded
     */
    protected void writeJer(ValueWriter w, T value) throws Asn1Exception {
        throw Asn1Exception.at(ErrorKind.UNSUPPORTED, 0);
    }

    /**
     * Reads a value in BER, DER or CER. For generated code.
     *
     * @param r the reader
     * @return the value
     * @throws Asn1Exception if there is no value
     */
    protected T readBer(BerReader r) throws Asn1Exception {
        throw Asn1Exception.at(ErrorKind.UNSUPPORTED, 0);
    }

    /**
     * Writes a value in BER, DER or CER. For generated code.
     *
     * @param w the writer
     * @param value the value
     * @throws Asn1Exception if the value cannot be encoded
     */
    protected void writeBer(BerWriter w, T value) throws Asn1Exception {
        throw Asn1Exception.at(ErrorKind.UNSUPPORTED, 0);
    }

    @Override
    public String toString() {
        return name;
    }
}
