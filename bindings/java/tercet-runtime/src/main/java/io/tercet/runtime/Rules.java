package io.tercet.runtime;

/** The encoding rules. */
public enum Rules {
    /** Basic encoding rules (X.690 clause 8). */
    BER(Family.BER, false),
    /** Distinguished encoding rules (X.690 clause 10). */
    DER(Family.BER, true),
    /** Canonical encoding rules (X.690 clause 9). */
    CER(Family.BER, true),
    /** Basic packed encoding rules, aligned variant (X.691). */
    APER(Family.APER, false),
    /** Basic packed encoding rules, unaligned variant (X.691). */
    UPER(Family.UPER, false),
    /** Canonical packed encoding rules, aligned variant (X.691). */
    CANONICAL_APER(Family.APER, true),
    /** Canonical packed encoding rules, unaligned variant (X.691). */
    CANONICAL_UPER(Family.UPER, true),
    /** Basic octet encoding rules (X.696). */
    OER(Family.OER, false),
    /** Canonical octet encoding rules (X.696). */
    COER(Family.OER, true),
    /** JSON encoding rules (X.697). */
    JER(Family.JER, false);

    /** The rules that share one codec. */
    enum Family {
        BER,
        APER,
        UPER,
        OER,
        JER
    }

    private final Family family;
    private final boolean canonical;

    Rules(Family family, boolean canonical) {
        this.family = family;
        this.canonical = canonical;
    }

    Family family() {
        return family;
    }

    boolean isAligned() {
        return family == Family.APER;
    }

    /**
     * Returns whether a value has one encoding only.
     *
     * @return whether the rules are canonical
     */
    public boolean isCanonical() {
        return canonical;
    }
}
