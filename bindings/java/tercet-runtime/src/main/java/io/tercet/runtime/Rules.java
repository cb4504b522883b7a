package io.tercet.runtime;

/** The encoding rules. */
public enum Rules {
    /** Basic encoding rules (X.690 clause 8). */
    BER(Family.BER, false),
    /** Distinguished encoding rules (X.690 clause 10). */
    DER(Family.BER, true),
    /** Canonical encoding rules (X.690 clause 9). */
    CER(Family.BER, true);

    /** The rules that share one codec. */
    enum Family {
        BER
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

    /**
     * Returns whether a value has one encoding only.
     *
     * @return whether the rules are canonical
     */
    public boolean isCanonical() {
        return canonical;
    }
}
