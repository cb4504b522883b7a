package io.tercet.runtime;

import java.math.BigInteger;

/**
 * Takes a value part by part, as JER has it: {@link JerWriter} makes JSON of it, other writers make CSV or XML. For generated
 * code, and for those who write a format.
 */
public abstract class ValueWriter {
    /** Makes a writer. */
    protected ValueWriter() {}

    /**
     * Begins a SEQUENCE, SET or CHOICE.
     *
     * @throws Asn1Exception if too many values are inside one another
     */
    public abstract void object() throws Asn1Exception;

    /** Ends a SEQUENCE, SET or CHOICE. */
    public abstract void endObject();

    /**
     * Begins a SEQUENCE OF or SET OF.
     *
     * @param item the name of its elements: their identifier or type; null if each stands for itself in XML (X.680 Table 5)
     * @throws Asn1Exception if too many values are inside one another
     */
    public abstract void array(@Nullable String item) throws Asn1Exception;

    /** Ends a SEQUENCE OF or SET OF. */
    public abstract void endArray();

    /** Begins an element of a SEQUENCE OF or SET OF. */
    public abstract void element();

    /**
     * Begins a component or alternative.
     *
     * @param type the members
     * @param number its number
     */
    public abstract void name(JerMembers type, int number);

    /**
     * Begins an open type, whose content follows.
     *
     * @param type the name of the content's type
     * @throws Asn1Exception if too many values are inside one another
     */
    public abstract void content(String type) throws Asn1Exception;

    /** Ends an open type. */
    public abstract void endContent();

    /**
     * Begins a string with CONTAINING, whose value follows.
     *
     * @param type the name of the value's type
     * @throws Asn1Exception if too many values are inside one another
     */
    public abstract void containing(String type) throws Asn1Exception;

    /** Ends a string with CONTAINING. */
    public abstract void endContaining();

    /**
     * Writes an alternative of a later version, in an object that has begun.
     *
     * @param value the alternative
     * @throws Asn1Exception if the format has no place for the value
     */
    public abstract void unknownAlternative(UnknownAlternative value) throws Asn1Exception;

    /**
     * Writes a BOOLEAN.
     *
     * @param value the value
     * @throws Asn1Exception if the format has no place for the value
     */
    public abstract void bool(boolean value) throws Asn1Exception;

    /**
     * Writes a NULL.
     *
     * @param value the value
     * @throws Asn1Exception if the format has no place for the value
     */
    public abstract void nothing(Null value) throws Asn1Exception;

    /**
     * Writes an INTEGER.
     *
     * @param value the value
     * @throws Asn1Exception if the format has no place for the value
     */
    public abstract void integer(long value) throws Asn1Exception;

    /**
     * Writes an INTEGER of any size.
     *
     * @param value the value
     * @throws Asn1Exception if the format has no place for the value
     */
    public abstract void bigInteger(BigInteger value) throws Asn1Exception;

    /**
     * Writes an item of an ENUMERATED by its name; the number of one that has no name yet.
     *
     * @param items the items
     * @param number its number
     * @throws Asn1Exception if the format has no place for the value
     */
    public abstract void item(JerItems items, long number) throws Asn1Exception;

    /**
     * Writes an item of a later version by its number among the additions.
     *
     * @param number the number
     * @throws Asn1Exception if the format has no place for the value
     */
    public abstract void addition(int number) throws Asn1Exception;

    /**
     * Writes an OCTET STRING, or the encoding in an open type.
     *
     * @param value the value
     * @throws Asn1Exception if the format has no place for the value
     */
    public abstract void octets(Octets value) throws Asn1Exception;

    /**
     * Writes a BIT STRING.
     *
     * @param value the value
     * @param size the size that all values of the type have, or -1
     * @throws Asn1Exception if the format has no place for the value
     */
    public abstract void bits(BitString value, long size) throws Asn1Exception;

    /**
     * Writes an OBJECT IDENTIFIER.
     *
     * @param value the value
     * @throws Asn1Exception if the format has no place for the value
     */
    public abstract void oid(ObjectIdentifier value) throws Asn1Exception;

    /**
     * Writes a RELATIVE-OID.
     *
     * @param value the value
     * @throws Asn1Exception if the format has no place for the value
     */
    public abstract void relativeOid(RelativeObjectIdentifier value) throws Asn1Exception;

    /**
     * Writes a REAL.
     *
     * @param value the value
     * @param isDecimal whether numbers are of base 10
     * @throws Asn1Exception if the format has no place for the value
     */
    public abstract void real(Asn1Real value, boolean isDecimal) throws Asn1Exception;

    /**
     * Writes a character string or a time.
     *
     * @param value the value
     * @throws Asn1Exception if the format has no place for the value
     */
    public abstract void text(String value) throws Asn1Exception;

    /**
     * Writes a character string whose characters escape sequences choose, as its octets (38.2).
     *
     * @param kind the number of its type
     * @param value the value
     * @throws Asn1Exception if the type does not have a character
     */
    public abstract void textOctets(int kind, String value) throws Asn1Exception;

    /**
     * Writes an INTEGER.
     *
     * @param value the value
     * @param least the least value
     * @param most the greatest value
     * @throws Asn1Exception if the value is not between these
     */
    public final void integer(long value, long least, long most) throws Asn1Exception {
        if (value < least || value > most) {
            throw Asn1Exception.at(ErrorKind.INTEGER_RANGE, 0);
        }
        integer(value);
    }

    /**
     * Writes an INTEGER of 64 bits without a sign.
     *
     * @param value the value
     * @throws Asn1Exception if it has a sign or more bits
     */
    public final void unsigned(BigInteger value) throws Asn1Exception {
        if (value.signum() < 0 || value.bitLength() > 64) {
            throw Asn1Exception.at(ErrorKind.INTEGER_RANGE, 0);
        }
        bigInteger(value);
    }

    /**
     * Writes a REAL that is a {@code double}.
     *
     * @param value the value
     * @throws Asn1Exception if the format has no place for the value
     */
    public final void doubleReal(double value) throws Asn1Exception {
        real(Asn1Real.of(value), false);
    }
}
