package io.tercet.runtime;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * Reads values of a JSON text (X.697), led by the types. Methods get the token that a value begins with. For generated code.
 */
public final class JerReader {
    /** Integers up to here have a value of IEEE 754 binary64 of their own. */
    private static final BigInteger EXACT = BigInteger.ONE.shiftLeft(53);

    private static final byte[] UNKNOWN = {'.', '.', '.'};

    private final JsonText text;
    private int levels;

    JerReader(byte[] input, int start, int length, Limits limits) throws Asn1Exception {
        text = new JsonText(input, start, length, limits.depth());
        levels = limits.depth();
    }

    // Structure

    /**
     * Begins a value with parts.
     *
     * @param at its token
     * @throws Asn1Exception if too many values are inside one another
     */
    public void enter(int at) throws Asn1Exception {
        if (levels == 0) {
            throw text.fault(at, ErrorKind.DEPTH_LIMIT, "");
        }
        levels--;
    }

    /** Ends a value with parts. */
    public void leave() {
        levels++;
    }

    /**
     * Returns how many values may still begin inside one another.
     *
     * @return the number
     */
    public int levels() {
        return levels;
    }

    /**
     * Goes back to the levels before a value that was not one.
     *
     * @param levels what {@link #levels()} has returned
     */
    public void backTo(int levels) {
        this.levels = levels;
    }

    /**
     * Returns the token after a value.
     *
     * @param at the token of the value
     * @return the token
     */
    public int next(int at) {
        return text.next(at);
    }

    /**
     * Returns whether a value is a string.
     *
     * @param at its token
     * @return whether it is
     */
    public boolean isString(int at) {
        return text.kind(at) == JsonText.STRING;
    }

    /**
     * Returns whether a value is an object.
     *
     * @param at its token
     * @return whether it is
     */
    public boolean isObject(int at) {
        return text.kind(at) == JsonText.OBJECT;
    }

    private Asn1Exception expected(int at, String what) {
        return text.fault(at, ErrorKind.TEXT, what + " expected");
    }

    private Asn1Exception fault(int at, String detail) {
        return text.fault(at, ErrorKind.TEXT, detail);
    }

    private Asn1Exception twice(int name) {
        return fault(name, "`" + JsonText.cut(text.string(name)) + "` is there twice");
    }

    /**
     * Begins a SEQUENCE or SET (clauses 27 and 29): finds its components, which come in any order.
     *
     * @param at the token of the object
     * @param type the members that it has
     * @return for each component the token of its value, or -1; then that of additions that the type does not know
     * @throws Asn1Exception if a member is unknown or twice, or a component is missing
     */
    public int[] components(int at, JerMembers type) throws Asn1Exception {
        if (!isObject(at)) {
            throw expected(at, "an object");
        }
        int size = type.size();
        int[] found = new int[size + 1];
        Arrays.fill(found, -1);
        Set<String> unknown = null;
        int probably = 0;
        int end = text.next(at);
        for (int name = at + 1; name < end; name = text.next(name + 1)) {
            int number = text.is(name, UNKNOWN) ? size : type.find(text, name, probably);
            boolean twice;
            if (number >= 0) {
                twice = found[number] >= 0;
                found[number] = name + 1;
                probably = number == size ? probably : number + 1;
            } else if (type.isExtensible()) {
                unknown = unknown == null ? new HashSet<>() : unknown;
                twice = !unknown.add(text.string(name));
            } else {
                throw fault(name, "no component `" + JsonText.cut(text.string(name)) + "` in this type");
            }
            if (twice) {
                throw twice(name);
            }
        }
        for (int number = 0; number < size; number++) {
            if (type.isMissing(number, found)) {
                throw fault(at, "this mandatory component is missing").in(type.name(number));
            }
        }
        enter(at);
        return found;
    }

    /**
     * Ends a SEQUENCE or SET. Checks the additions of later versions, which do not say by which rules they are encoded, and
     * which the value has not.
     *
     * @param found what {@link #components} has returned
     * @throws Asn1Exception if there are additions that are not encodings
     */
    public void end(int[] found) throws Asn1Exception {
        int additions = found[found.length - 1];
        if (additions >= 0) {
            additions(additions);
        }
        levels++;
    }

    /** The encodings in a member "...": the first of them; null if there are none. */
    private @Nullable UnknownAlternative additions(int at) throws Asn1Exception {
        if (text.kind(at) != JsonText.ARRAY) {
            throw noEncodings(at);
        }
        UnknownAlternative first = null;
        for (int item = at + 1; item < text.next(at); item = text.next(item)) {
            int value = item;
            int number = -1;
            if (isObject(item)) {
                int addition = member(item, "addition");
                value = member(item, "value");
                value = value < 0 ? member(item, "octets") : value;
                if (addition >= 0) {
                    BigInteger whole = Decimals.integer(text.kind(addition) == JsonText.NUMBER ? text.raw(addition) : "");
                    if (whole == null || whole.signum() < 0 || whole.bitLength() > 32) {
                        throw noEncodings(at);
                    }
                    number = whole.bitLength() > 31 ? -1 : whole.intValue();
                }
            }
            byte[] octets = value >= 0 && isString(value) ? text.hex(value) : null;
            if (octets == null) {
                throw noEncodings(item);
            }
            first = first == null ? new UnknownAlternative(number, Octets.known(octets, 0, octets.length)) : first;
        }
        return first;
    }

    private Asn1Exception noEncodings(int at) {
        return expected(at, "complete encodings in hexadecimal").in("...");
    }

    /** The value of a member, or -1. */
    private int member(int at, String name) {
        for (int member = at + 1; member < text.next(at); member = text.next(member + 1)) {
            if (text.string(member).equals(name)) {
                return member + 1;
            }
        }
        return -1;
    }

    private void only(int at, String... known) throws Asn1Exception {
        int seen = 0;
        for (int name = at + 1; name < text.next(at); name = text.next(name + 1)) {
            int index = Arrays.asList(known).indexOf(text.string(name));
            if (index < 0) {
                throw fault(name, "an unexpected member `" + JsonText.cut(text.string(name)) + "`");
            }
            if ((seen >> index & 1) == 1) {
                throw twice(name);
            }
            seen |= 1 << index;
        }
    }

    /**
     * Begins a CHOICE (clause 31). The value of the alternative is at two tokens after the object.
     *
     * @param at the token of the object
     * @param type the alternatives
     * @return the number of the alternative, or -1 for one of a later version
     * @throws Asn1Exception if there is another value
     */
    public int alternative(int at, JerMembers type) throws Asn1Exception {
        int end = text.next(at);
        if (!isObject(at) || end == at + 1) {
            throw expected(at, "an object with one member, the chosen alternative,");
        }
        int second = text.next(at + 2);
        if (second < end) {
            throw fault(second, "a CHOICE has one alternative, a second is here");
        }
        int number = -1;
        if (!text.is(at + 1, UNKNOWN)) {
            number = type.find(text, at + 1, 0);
        }
        if (number < 0 && !(type.isExtensible() && text.is(at + 1, UNKNOWN))) {
            throw fault(at + 1, "no alternative `" + JsonText.cut(text.string(at + 1)) + "` in this CHOICE");
        }
        enter(at);
        return number;
    }

    /**
     * Reads an alternative of a later version: its encoding.
     *
     * @param at the token of its value
     * @return the alternative
     * @throws Asn1Exception if there is not one encoding
     */
    public UnknownAlternative unknownAlternative(int at) throws Asn1Exception {
        UnknownAlternative first = additions(at);
        if (first == null || text.next(at + 1) != text.next(at)) {
            throw noEncodings(at);
        }
        return first;
    }

    /**
     * Begins a SEQUENCE OF or SET OF (clauses 28 and 30).
     *
     * @param at the token of the array
     * @return room for some elements
     * @throws Asn1Exception if there is another value
     */
    public Object[] elements(int at) throws Asn1Exception {
        if (text.kind(at) != JsonText.ARRAY) {
            throw expected(at, "an array");
        }
        enter(at);
        return new Object[Math.min(text.next(at) - at - 1, 8)];
    }

    /**
     * Finds the value in a string with CONTAINING.
     *
     * @param at the token of the string
     * @return the token of the value, or -1 if there are octets or bits
     * @throws Asn1Exception if there are other members
     */
    public int containing(int at) throws Asn1Exception {
        int inside = isObject(at) ? member(at, "containing") : -1;
        if (inside >= 0) {
            only(at, "containing");
            enter(at);
        }
        return inside;
    }

    // Leaves

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
