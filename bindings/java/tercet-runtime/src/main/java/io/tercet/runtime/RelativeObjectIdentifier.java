package io.tercet.runtime;

import java.math.BigInteger;
import java.util.List;

/** A value of RELATIVE-OID (X.680 clause 33), kept as its contents. */
public final class RelativeObjectIdentifier implements Comparable<RelativeObjectIdentifier> {
    private final Octets contents;

    private RelativeObjectIdentifier(Octets contents) {
        this.contents = contents;
    }

    /**
     * Reads arcs in decimal between dots, such as {@code 4.3}.
     *
     * @param text the arcs, one at least
     * @return the value
     * @throws IllegalArgumentException if the text is not one
     */
    public static RelativeObjectIdentifier of(String text) {
        return new RelativeObjectIdentifier(Arcs.parse(text, false));
    }

    /**
     * Checks contents (X.690 8.20).
     *
     * @param contents the contents
     * @return the value
     * @throws Asn1Exception if they are not subidentifiers; the offset is that in the contents
     */
    public static RelativeObjectIdentifier ofContents(Octets contents) throws Asn1Exception {
        Arcs.check(contents.array(), contents.start(), contents.length(), 0);
        return new RelativeObjectIdentifier(contents);
    }

    /** Returns the value of contents that have been checked. */
    static RelativeObjectIdentifier known(Octets contents) {
        return new RelativeObjectIdentifier(contents);
    }

    /**
     * Returns the contents (X.690 8.20).
     *
     * @return the bytes
     */
    public Octets contents() {
        return contents;
    }

    /**
     * Returns the arcs.
     *
     * @return the arcs in order
     */
    public List<BigInteger> arcs() {
        return List.copyOf(Arcs.arcs(contents, false));
    }

    /**
     * Returns the same value in an array of its own.
     *
     * @return the value
     */
    public RelativeObjectIdentifier detach() {
        return new RelativeObjectIdentifier(contents.detach());
    }

    @Override
    public int compareTo(RelativeObjectIdentifier other) {
        return contents.compareTo(other.contents);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof RelativeObjectIdentifier oid && contents.equals(oid.contents);
    }

    @Override
    public int hashCode() {
        return contents.hashCode();
    }

    /** Returns the arcs in decimal between dots. */
    @Override
    public String toString() {
        return Arcs.text(contents, false);
    }
}
