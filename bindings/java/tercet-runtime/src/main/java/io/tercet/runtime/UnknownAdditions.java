package io.tercet.runtime;

import java.util.ArrayList;
import java.util.List;

/**
 * Extension additions of later versions that a SEQUENCE or SET does not know (X.680 clause 25.4). They are written again
 * by the rules that they were read by.
 */
public final class UnknownAdditions {
    /** No additions. */
    public static final UnknownAdditions NONE = new UnknownAdditions(null, List.of(), 0);

    /**
     * An addition.
     *
     * @param number its number among the additions, from 0; in BER, which does not number them, that of the unknown ones
     *     before it
     * @param encoding its complete encoding
     */
    public record Addition(int number, Octets encoding) {}

    private final Rules.@Nullable Family family;
    private final List<Addition> list;
    /** How many additions a later version has, as far as its bitmap tells; 0 where the last one is there. */
    private final int count;

    private UnknownAdditions(Rules.@Nullable Family family, List<Addition> list, int count) {
        this.family = family;
        this.list = list;
        this.count = count;
    }

    /** The longest row of absent additions that is written. */
    private static final int MOST = 1 << 16;

    /** Returns these additions and one more. */
    UnknownAdditions and(Rules.Family family, int number, Octets encoding) {
        // A list is made once, by a reader that nobody else sees.
        List<Addition> all = list instanceof ArrayList<Addition> own ? own : new ArrayList<>(list);
        all.add(new Addition(number, encoding));
        return new UnknownAdditions(family, all, count);
    }

    /** Returns these additions, of which the bitmap has so many bits: the last is 0, or the type has more additions. */
    UnknownAdditions reaching(Rules.Family family, int count) {
        return new UnknownAdditions(family, list, count);
    }

    /** Returns the bits that tell which additions there are: those that the type knows, and these. */
    boolean[] bitmap(Rules.Family family, boolean[] known) throws Asn1Exception {
        if (list.isEmpty() && (count == 0 || family != this.family)) {
            return known;
        }
        int length = known.length;
        for (Addition addition : of(family)) {
            int number = addition.number();
            if (number < length || number - length > MOST) {
                throw Asn1Exception.at(ErrorKind.VALUE_MISMATCH, 0);
            }
            length = number + 1;
        }
        boolean[] all = java.util.Arrays.copyOf(known, length);
        list.forEach(addition -> all[addition.number()] = true);
        if (count > 0 && family == this.family) {
            boolean isShorter = count < length;
            for (int i = count; i < length; i++) {
                isShorter &= !all[i];
            }
            if (count > length || isShorter) {
                return java.util.Arrays.copyOf(all, count);
            }
        }
        return all;
    }

    /**
     * Returns whether there are none.
     *
     * @return whether the list is empty
     */
    public boolean isEmpty() {
        return list.isEmpty();
    }

    /**
     * Returns all of them.
     *
     * @return the additions in order
     */
    public List<Addition> list() {
        return java.util.Collections.unmodifiableList(list);
    }

    /** Returns those to be written by some rules. */
    List<Addition> of(Rules.Family family) throws Asn1Exception {
        if (list.isEmpty() || family == this.family) {
            return list;
        }
        // What one rule wrote cannot be written by another without its type.
        throw Asn1Exception.at(ErrorKind.VALUE_MISMATCH, 0);
    }

    /**
     * Takes all elements that are left of a level of BER. For generated code.
     *
     * @param r the reader
     * @param place finds components, which come late or twice here
     * @return the additions
     * @throws Asn1Exception if an element is a known component, or cannot be read
     */
    public static UnknownAdditions rest(BerReader r, Components place) throws Asn1Exception {
        UnknownAdditions all = NONE;
        while (r.peekTag() != 0) {
            all = all.next(r, place);
        }
        return all;
    }

    /**
     * Takes the next element of BER. For generated code.
     *
     * @param r the reader
     * @param place finds components, which come late or twice here
     * @return these additions and that one
     * @throws Asn1Exception if the element is a known component, or cannot be read
     */
    public UnknownAdditions next(BerReader r, Components place) throws Asn1Exception {
        r.checkNotLate(place);
        return and(Rules.Family.BER, list.size(), r.element());
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof UnknownAdditions additions
                && list.equals(additions.list)
                && (list.isEmpty() || family == additions.family && count == additions.count);
    }

    @Override
    public int hashCode() {
        return list.hashCode();
    }

    @Override
    public String toString() {
        return list.toString();
    }
}
