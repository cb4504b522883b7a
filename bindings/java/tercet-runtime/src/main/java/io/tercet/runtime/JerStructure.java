package io.tercet.runtime;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/** Values with parts in a JSON text (X.697): objects, arrays, their members and depth, and what is wrong with them. */
public abstract class JerStructure {
    private static final byte[] UNKNOWN = {'.', '.', '.'};

    final JsonText text;
    private int levels;

    JerStructure(byte[] input, int start, int length, Limits limits) throws Asn1Exception {
        text = new JsonText(input, start, length, limits.depth());
        levels = limits.depth();
    }

    /**
     * Begins a value with parts.
     *
     * @param at its token
     * @throws Asn1Exception if too many values are inside one another
     */
    public final void enter(int at) throws Asn1Exception {
        if (levels == 0) {
            throw text.fault(at, ErrorKind.DEPTH_LIMIT, "");
        }
        levels--;
    }

    /** Ends a value with parts. */
    public final void leave() {
        levels++;
    }

    /**
     * Returns how many values may still begin inside one another.
     *
     * @return the number
     */
    public final int levels() {
        return levels;
    }

    /**
     * Goes back to the levels before a value that was not one.
     *
     * @param levels what {@link #levels()} has returned
     */
    public final void backTo(int levels) {
        this.levels = levels;
    }

    /**
     * Returns the token after a value.
     *
     * @param at the token of the value
     * @return the token
     */
    public final int next(int at) {
        return text.next(at);
    }

    /**
     * Returns whether a value is a string.
     *
     * @param at its token
     * @return whether it is
     */
    public final boolean isString(int at) {
        return text.kind(at) == JsonText.STRING;
    }

    /**
     * Returns whether a value is an object.
     *
     * @param at its token
     * @return whether it is
     */
    public final boolean isObject(int at) {
        return text.kind(at) == JsonText.OBJECT;
    }

    final Asn1Exception expected(int at, String what) {
        return text.fault(at, ErrorKind.TEXT, what + " expected");
    }

    final Asn1Exception fault(int at, String detail) {
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
    public final int[] components(int at, JerMembers type) throws Asn1Exception {
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
    public final void end(int[] found) throws Asn1Exception {
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
    final int member(int at, String name) {
        for (int member = at + 1; member < text.next(at); member = text.next(member + 1)) {
            if (text.string(member).equals(name)) {
                return member + 1;
            }
        }
        return -1;
    }

    final void only(int at, String... known) throws Asn1Exception {
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
    public final int alternative(int at, JerMembers type) throws Asn1Exception {
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
    public final UnknownAlternative unknownAlternative(int at) throws Asn1Exception {
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
    public final Object[] elements(int at) throws Asn1Exception {
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
    public final int containing(int at) throws Asn1Exception {
        int inside = isObject(at) ? member(at, "containing") : -1;
        if (inside >= 0) {
            only(at, "containing");
            enter(at);
        }
        return inside;
    }
}
