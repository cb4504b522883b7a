package io.tercet.runtime;

/**
 * Encodes many values by the same rules, without taking memory for each. An encoder belongs to one thread.
 *
 * <pre>{@code
 * Encoder encoder = new Encoder(Rules.DER);
 * for (Rocket rocket : rockets) {
 *     encoder.encode(Rocket.TYPE, rocket).writeTo(out);
 * }
 * }</pre>
 */
public final class Encoder {
    private final Rules rules;
    private final @Nullable BerWriter ber;
    private final @Nullable PerWriter per;
    private final @Nullable OerWriter oer;
    private final @Nullable JerWriter jer;

    /**
     * Makes an encoder.
     *
     * @param rules the encoding rules
     */
    public Encoder(Rules rules) {
        this.rules = rules;
        ber = rules.family() == Rules.Family.BER ? new BerWriter(rules) : null;
        oer = rules.family() == Rules.Family.OER ? new OerWriter(rules) : null;
        jer = rules.family() == Rules.Family.JER ? new JerWriter() : null;
        per = ber == null && oer == null && jer == null ? new PerWriter(rules) : null;
    }

    /**
     * Returns the encoding rules.
     *
     * @return the rules
     */
    public Rules rules() {
        return rules;
    }

    /**
     * Encodes a value.
     *
     * @param <T> the class of the value
     * @param type its type
     * @param value the value
     * @return the encoding: a view of the memory of this encoder, valid until it encodes the next value
     * @throws Asn1Exception if the value cannot be encoded by the rules
     */
    public <T> Octets encode(Asn1Type<T> type, T value) throws Asn1Exception {
        try {
            if (ber != null) {
                ber.clear();
                type.writeBer(ber, value);
                return ber.view();
            }
            if (oer != null) {
                oer.clear();
                type.writeOer(oer, value);
                return oer.view();
            }
            if (jer != null) {
                jer.clear();
                type.writeJer(jer, value);
                return jer.view();
            }
            per.clear();
            type.write(per, value);
            return per.view();
        } catch (Asn1Exception fault) {
            throw fault.in(type.name());
        }
    }
}
