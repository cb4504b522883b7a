package io.tercet.runtime;

import java.math.BigInteger;

/** The value of a component that selects the row of a table (X.682 clause 10). For generated code. */
public final class TableKey {
    /** The component is absent, or its value cannot select a row. */
    public static final TableKey NONE = new TableKey(0, null, false);

    private final long number;
    private final @Nullable Octets octets;
    private final boolean whole;

    private TableKey(long number, @Nullable Octets octets, boolean whole) {
        this.number = number;
        this.octets = octets;
        this.whole = whole;
    }

    /**
     * Returns the key of an INTEGER or ENUMERATED.
     *
     * @param number the value
     * @return the key
     */
    public static TableKey of(long number) {
        return new TableKey(number, null, true);
    }

    /**
     * Returns the key of a component that may be absent.
     *
     * @param number the value, or null
     * @return the key
     */
    public static TableKey of(@Nullable Number number) {
        if (number instanceof BigInteger big) {
            return big.bitLength() < 64 ? of(big.longValue()) : NONE;
        }
        return number == null ? NONE : of(number.longValue());
    }

    /**
     * Returns the key of a value by its contents.
     *
     * @param octets the contents, or null if the component is absent
     * @return the key
     */
    public static TableKey of(@Nullable Octets octets) {
        return octets == null ? NONE : new TableKey(0, octets, false);
    }

    /**
     * Returns the key of an object identifier.
     *
     * @param oid the value, or null if the component is absent
     * @return the key
     */
    public static TableKey of(@Nullable ObjectIdentifier oid) {
        return oid == null ? NONE : of(oid.contents());
    }

    /**
     * Returns the key of a relative object identifier.
     *
     * @param oid the value, or null if the component is absent
     * @return the key
     */
    public static TableKey of(@Nullable RelativeObjectIdentifier oid) {
        return oid == null ? NONE : of(oid.contents());
    }

    /**
     * Returns the key of a REAL.
     *
     * @param real the value, or null if the component is absent
     * @return the key
     */
    public static TableKey of(@Nullable Asn1Real real) {
        return real == null ? NONE : of(real.contents());
    }

    /**
     * Returns the key of a text.
     *
     * @param text the value, or null if the component is absent
     * @return the key
     */
    public static TableKey of(@Nullable String text) {
        return text == null ? NONE : of(Octets.of(text.getBytes(java.nio.charset.StandardCharsets.UTF_8)));
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof TableKey key
                && whole == key.whole
                && number == key.number
                && java.util.Objects.equals(octets, key.octets);
    }

    @Override
    public int hashCode() {
        return whole ? Long.hashCode(number) : octets == null ? 0 : octets.hashCode();
    }

    @Override
    public String toString() {
        return whole ? Long.toString(number) : String.valueOf(octets);
    }
}
