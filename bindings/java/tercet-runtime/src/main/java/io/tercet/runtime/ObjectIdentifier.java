package io.tercet.runtime;

import java.math.BigInteger;
import java.util.List;

/** A value of OBJECT IDENTIFIER (X.680 clause 32), kept as its contents. */
public final class ObjectIdentifier implements Comparable<ObjectIdentifier> {
    private final Octets contents;

    private ObjectIdentifier(Octets contents) {
        this.contents = contents;
    }

    /**
     * Reads arcs in decimal between dots, such as {@code 2.5.4.3}.
     *
     * @param text the arcs, two at least
     * @return the value
     * @throws IllegalArgumentException if the text is not one
     */
    public static ObjectIdentifier of(String text) {
        return new ObjectIdentifier(Arcs.parse(text, true));
    }

    /**
     * Checks contents (X.690 8.19).
     *
     * @param contents the contents
     * @return the value
     * @throws Asn1Exception if they are not subidentifiers; the offset is that in the contents
     */
    public static ObjectIdentifier ofContents(Octets contents) throws Asn1Exception {
        Arcs.check(contents.array(), contents.start(), contents.length(), 0);
        return new ObjectIdentifier(contents);
    }

    /** Returns the value of contents that have been checked. */
    static ObjectIdentifier known(Octets contents) {
        return new ObjectIdentifier(contents);
    }

    /**
     * Returns the contents (X.690 8.19).
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
        return List.copyOf(Arcs.arcs(contents, true));
    }

    /**
     * Returns the same value in an array of its own.
     *
     * @return the value
     */
    public ObjectIdentifier detach() {
        return new ObjectIdentifier(contents.detach());
    }

    @Override
    public int compareTo(ObjectIdentifier other) {
        return contents.compareTo(other.contents);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ObjectIdentifier oid && contents.equals(oid.contents);
    }

    @Override
    public int hashCode() {
        return contents.hashCode();
    }

    /** Returns the arcs in decimal between dots. */
    @Override
    public String toString() {
        return Arcs.text(contents, true);
    }
}
