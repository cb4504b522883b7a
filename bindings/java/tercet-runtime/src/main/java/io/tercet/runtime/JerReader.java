package io.tercet.runtime;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;

/**
 * Reads values of a JSON text (X.697), led by the types. Methods get the token that a value begins with. For generated code.
 */
public final class JerReader extends JerStructure {
    /** Integers up to here have a value of IEEE 754 binary64 of their own. */
    private static final BigInteger EXACT = BigInteger.ONE.shiftLeft(53);

    JerReader(byte[] input, int start, int length, Limits limits) throws Asn1Exception {
        super(input, start, length, limits);
    }

    /**
     * Reads a BOOLEAN.
     *
     * @param at its token
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public boolean bool(int at) throws Asn1Exception {
        int kind = text.kind(at);
        if (kind != JsonText.TRUE && kind != JsonText.FALSE) {
            throw expected(at, "true or false");
        }
        return kind == JsonText.TRUE;
    }

    /**
     * Reads a NULL.
     *
     * @param at its token
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public Null nothing(int at) throws Asn1Exception {
        if (text.kind(at) != JsonText.NULL) {
            throw expected(at, "null");
        }
        return Null.NULL;
    }

    private BigInteger whole(int at) throws Asn1Exception {
        BigInteger whole = Decimals.whole(text.raw(at));
        if (whole == null) {
            throw expected(at, "an integer of reasonable size");
        }
        return whole;
    }

    /**
     * Reads an INTEGER of any size.
     *
     * @param at its token
     * @param names the names of numbers
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public BigInteger bigInteger(int at, JerItems names) throws Asn1Exception {
        switch (text.kind(at)) {
            case JsonText.NUMBER -> {
                return whole(at);
            }
            case JsonText.STRING -> {
                String name = text.string(at);
                Long number = names.number(name);
                if (number != null) {
                    return BigInteger.valueOf(number);
                }
                // Numbers that readers of JSON would round may be strings.
                BigInteger whole = Decimals.integer(name);
                if (whole != null && whole.abs().compareTo(EXACT) > 0) {
                    return whole;
                }
            }
            default -> {}
        }
        throw expected(at, "an integer");
    }

    /**
     * Reads an INTEGER without a sign.
     *
     * @param at its token
     * @param names the names of numbers
     * @return the value
     * @throws Asn1Exception if there is none, or it has a sign or more than 64 bits
     */
    public BigInteger unsigned(int at, JerItems names) throws Asn1Exception {
        BigInteger number = bigInteger(at, names);
        if (number.signum() < 0 || number.bitLength() > 64) {
            throw text.fault(at, ErrorKind.INTEGER_RANGE, "");
        }
        return number;
    }

    /**
     * Reads an INTEGER.
     *
     * @param at its token
     * @param names the names of numbers
     * @param least the least value
     * @param most the greatest value
     * @return the value
     * @throws Asn1Exception if there is none, or it is not between these
     */
    public long integer(int at, JerItems names, long least, long most) throws Asn1Exception {
        int digits = text.kind(at) == JsonText.NUMBER ? text.smallDigits(at) : -1;
        long value;
        if (digits > 0) {
            value = text.small(at, digits);
        } else {
            BigInteger number = bigInteger(at, names);
            if (number.bitLength() > 63) {
                throw text.fault(at, ErrorKind.INTEGER_RANGE, "");
            }
            value = number.longValue();
        }
        if (value < least || value > most) {
            throw text.fault(at, ErrorKind.INTEGER_RANGE, "");
        }
        return value;
    }

    /**
     * Reads an INTEGER.
     *
     * @param at its token
     * @param names the names of numbers
     * @param least the least value
     * @param most the greatest value
     * @return the value
     * @throws Asn1Exception if there is none, or it is not between these
     */
    public int integer(int at, JerItems names, int least, int most) throws Asn1Exception {
        return (int) integer(at, names, (long) least, (long) most);
    }

    /**
     * Reads the number of an item of an ENUMERATED (clause 22).
     *
     * @param at its token
     * @param items the items
     * @return the number
     * @throws Asn1Exception if there is none
     */
    public long item(int at, JerItems items) throws Asn1Exception {
        switch (text.kind(at)) {
            case JsonText.STRING -> {
                String name = text.string(at);
                Long number = items.number(name);
                if (number == null) {
                    throw fault(at, "no item `" + JsonText.cut(name) + "` in this ENUMERATED");
                }
                return number;
            }
            case JsonText.NUMBER -> {
                BigInteger number = whole(at);
                if (number.bitLength() > 63) {
                    throw text.fault(at, ErrorKind.INTEGER_RANGE, "");
                }
                return number.longValue();
            }
            default -> throw expected(at, "the name of an item");
        }
    }

    /**
     * Returns the fault of a number that no item has.
     *
     * @param at its token
     * @return the fault
     */
    public Asn1Exception unknownEnumeration(int at) {
        return text.fault(at, ErrorKind.UNKNOWN_ENUMERATION, "");
    }

    /**
     * Reads an item of a later version by its number among the additions.
     *
     * @param at the token of the object
     * @return the number
     * @throws Asn1Exception if there is none
     */
    public int addition(int at) throws Asn1Exception {
        int member = member(at, "addition");
        BigInteger number = member >= 0 && text.kind(member) == JsonText.NUMBER ? Decimals.integer(text.raw(member)) : null;
        if (number == null || number.signum() < 0 || number.bitLength() > 31) {
            throw expected(at, "the name of an item");
        }
        return number.intValue();
    }

    private byte[] hex(int at) throws Asn1Exception {
        byte[] octets = text.hex(at);
        if (octets == null) {
            throw expected(at, "pairs of hexadecimal digits");
        }
        return octets;
    }

    private void string(int at) throws Asn1Exception {
        if (!isString(at)) {
            throw expected(at, "a string");
        }
    }

    /**
     * Reads an OCTET STRING (clause 25).
     *
     * @param at its token
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public Octets octets(int at) throws Asn1Exception {
        string(at);
        byte[] octets = hex(at);
        return Octets.known(octets, 0, octets.length);
    }

    /**
     * Reads an OCTET STRING of a fixed size.
     *
     * @param at its token
     * @param size the number of bytes
     * @return the value
     * @throws Asn1Exception if there is none, or it has another size
     */
    public Octets octets(int at, int size) throws Asn1Exception {
        Octets octets = octets(at);
        if (octets.length() != size) {
            throw text.fault(at, ErrorKind.CONSTRAINT_VIOLATED, "");
        }
        return octets;
    }

    /**
     * Reads a complete encoding whose type is not known.
     *
     * @param at its token
     * @return the encoding
     * @throws Asn1Exception if there is none
     */
    public Octets any(int at) throws Asn1Exception {
        byte[] octets = isString(at) ? text.hex(at) : null;
        if (octets == null) {
            throw expected(at, "the type of this value is not known: a complete encoding in hexadecimal");
        }
        return Octets.known(octets, 0, octets.length);
    }

    /**
     * Reads a BIT STRING (clause 24).
     *
     * @param at its token
     * @param size the size of octets without a length, or -1
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public BitString bits(int at, long size) throws Asn1Exception {
        byte[] octets;
        BigInteger count;
        if (isObject(at)) {
            String value = member(at, "value") >= 0 && member(at, "length") >= 0 ? "value" : "bits";
            String length = value.equals("value") ? "length" : "len";
            int digits = member(at, value);
            int number = member(at, length);
            if (digits < 0 || number < 0) {
                throw expected(at, "a string");
            }
            only(at, value, length);
            try {
                string(digits);
                octets = hex(digits);
            } catch (Asn1Exception fault) {
                throw fault.in(value);
            }
            count = text.kind(number) == JsonText.NUMBER ? Decimals.integer(text.raw(number)) : null;
            // As 64 bits without a sign, where "-0" is not a number.
            if (count == null || count.bitLength() > 64 || text.raw(number).startsWith("-")) {
                throw expected(number, "a number of bits").in(length);
            }
        } else {
            string(at);
            octets = hex(at);
            count = BigInteger.valueOf(size < 0 ? octets.length * 8L : size);
        }
        long unused = octets.length * 8L - (count.bitLength() > 60 ? -1 : count.longValue());
        if (unused < 0 || unused > 7 || count.bitLength() > 60) {
            throw fault(at, octets.length + " bytes for " + count + " bits");
        }
        if (unused > 0 && (octets[octets.length - 1] & (1 << unused) - 1) != 0) {
            throw fault(at, "the " + unused + " bits after the last are not all zero");
        }
        return BitString.of(Octets.known(octets, 0, octets.length), (int) unused);
    }

    /**
     * Reads a BIT STRING of a fixed size.
     *
     * @param at its token
     * @param size the number of bits
     * @return the value
     * @throws Asn1Exception if there is none, or it has another size
     */
    public BitString fixedBits(int at, int size) throws Asn1Exception {
        BitString bits = bits(at, size);
        if (bits.length() != size) {
            throw text.fault(at, ErrorKind.CONSTRAINT_VIOLATED, "");
        }
        return bits;
    }

    /**
     * Reads an OBJECT IDENTIFIER (clause 33).
     *
     * @param at its token
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public ObjectIdentifier oid(int at) throws Asn1Exception {
        return ObjectIdentifier.known(arcs(at, true));
    }

    /**
     * Reads a RELATIVE-OID (clause 34).
     *
     * @param at its token
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public RelativeObjectIdentifier relativeOid(int at) throws Asn1Exception {
        return RelativeObjectIdentifier.known(arcs(at, false));
    }

    private Octets arcs(int at, boolean rooted) throws Asn1Exception {
        string(at);
        try {
            return Arcs.read(text.string(at), rooted);
        } catch (Asn1Exception fault) {
            throw fault(at, fault.kind().message());
        }
    }

    /**
     * Reads a REAL (clause 23).
     *
     * @param at its token
     * @param isDecimal whether numbers are of base 10
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public Asn1Real real(int at, boolean isDecimal) throws Asn1Exception {
        switch (text.kind(at)) {
            case JsonText.NUMBER -> {
                String number = text.raw(at);
                return isDecimal ? decimal(at, number) : number(at, number);
            }
            case JsonText.STRING -> {
                return switch (text.string(at)) {
                    case "INF" -> Asn1Real.of(Double.POSITIVE_INFINITY);
                    case "-INF" -> Asn1Real.of(Double.NEGATIVE_INFINITY);
                    case "NaN" -> Asn1Real.of(Double.NaN);
                    case "-0" -> Asn1Real.of(-0.0);
                    default -> throw expected(at, "a number, INF, -INF, NaN or -0");
                };
            }
            case JsonText.OBJECT -> {
                int base10 = member(at, "base10Value");
                if (base10 >= 0) {
                    if (text.kind(base10) != JsonText.NUMBER && !isString(base10)) {
                        throw expected(at, "a number `base10Value`");
                    }
                    return decimal(at, text.string(base10));
                }
                return real(at, part(at, "mantissa"), part(at, "base"), part(at, "exponent"));
            }
            default -> throw expected(at, "a number");
        }
    }

    private Asn1Real real(int at, String mantissa, String base, String exponent) throws Asn1Exception {
        BigInteger power = Decimals.integer(exponent);
        if (power == null || power.bitLength() > 63) {
            throw expected(at, "an exponent of less than 64 bits");
        }
        if (base.equals("10")) {
            return decimal(at, mantissa + "e" + power);
        }
        if (!base.equals("2") || power.abs().compareTo(BigInteger.ONE.shiftLeft(60)) > 0) {
            throw expected(at, "base 2 or 10");
        }
        BigInteger number = Decimals.integer(mantissa);
        if (number == null) {
            throw expected(at, "a decimal integer");
        }
        return Asn1Real.ofBinary(number, power.longValue());
    }

    private Asn1Real number(int at, String number) throws Asn1Exception {
        Asn1Real real = Asn1Real.ofNumber(number);
        if (real == null && Decimals.Parts.of(number) == null) {
            throw expected(at, "a number, or an exponent of less than 64 bits,");
        }
        return real == null ? decimal(at, number) : real;
    }

    private Asn1Real decimal(int at, String number) throws Asn1Exception {
        try {
            return Asn1Real.ofDecimal(number);
        } catch (Asn1Exception fault) {
            throw fault(at, fault.kind().message());
        }
    }

    private String part(int at, String name) throws Asn1Exception {
        int member = member(at, name);
        if (member < 0 || text.kind(member) != JsonText.NUMBER) {
            throw expected(at, "a number `" + name + "`");
        }
        return text.raw(member);
    }

    /**
     * Reads a REAL as the nearest {@code double}.
     *
     * @param at its token
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public double doubleReal(int at) throws Asn1Exception {
        return real(at, false).doubleValue();
    }

    /** What checks a text. */
    private interface Check {
        String of(String text) throws Asn1Exception;
    }

    private String checked(int at, Check check) throws Asn1Exception {
        string(at);
        try {
            return check.of(text.string(at));
        } catch (Asn1Exception fault) {
            throw fault(at, fault.kind().message());
        }
    }

    /**
     * Reads a character string (clauses 36 to 41).
     *
     * @param at its token
     * @param kind the number of its type
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public String text(int at, int kind) throws Asn1Exception {
        return checked(at, text -> {
            Text.encode(kind, text, false);
            return text;
        });
    }

    /**
     * Reads a character string whose characters escape sequences choose, by its octets (38.2).
     *
     * @param at its token
     * @param kind the number of its type
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public String textOctets(int at, int kind) throws Asn1Exception {
        string(at);
        byte[] octets = hex(at);
        return checked(at, text -> Text.decode(kind, octets, 0, octets.length, 0));
    }

    /**
     * Reads a UTCTime.
     *
     * @param at its token
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public String utcTime(int at) throws Asn1Exception {
        return checked(at, text -> Times.utc(Octets.of(text.getBytes(StandardCharsets.UTF_8)), 0, false));
    }

    /**
     * Reads a GeneralizedTime.
     *
     * @param at its token
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public String generalizedTime(int at) throws Asn1Exception {
        return checked(at, text -> Times.generalized(Octets.of(text.getBytes(StandardCharsets.UTF_8)), 0, false));
    }

    /**
     * Reads a time type of X.680 clause 38.
     *
     * @param at its token
     * @param kind the number of its type
     * @return the value
     * @throws Asn1Exception if there is none
     */
    public String time(int at, int kind) throws Asn1Exception {
        return checked(at, text -> IsoTimes.decode(kind, Octets.of(IsoTimes.encode(kind, text, false)), 0, false));
    }
}
