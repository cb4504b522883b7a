package io.tercet.records;

import io.tercet.runtime.Asn1Exception;
import io.tercet.runtime.Octets;
import java.util.Optional;

/** Bytes of a file that are not a record. */
public final class Reject {
    private final long offset;
    private final Octets octets;
    private final String reason;
    private final Optional<Asn1Exception> fault;
    private final boolean continued;

    Reject(long offset, Octets octets, String reason, Optional<Asn1Exception> fault, boolean continued) {
        this.offset = offset;
        this.octets = octets;
        this.reason = reason;
        this.fault = fault;
        this.continued = continued;
    }

    /**
     * Returns the position of the first byte in the file.
     *
     * @return the offset
     */
    public long offset() {
        return offset;
    }

    /**
     * Returns the bytes.
     *
     * @return the bytes; empty if the file ends before the elements around the records do
     */
    public Octets octets() {
        return octets;
    }

    /**
     * Returns what is wrong, in words.
     *
     * @return the reason
     */
    public String reason() {
        return reason;
    }

    /**
     * Returns why the record does not decode. Its offset counts from the first byte of the record.
     *
     * @return the fault; empty if there is no complete element
     */
    public Optional<Asn1Exception> fault() {
        return fault;
    }

    /**
     * Returns whether these bytes follow those of the reject before: a large damaged place comes in several pieces.
     *
     * @return whether they do
     */
    public boolean isContinued() {
        return continued;
    }

    @Override
    public String toString() {
        return octets.length() + " bytes rejected at " + offset + ": " + fault.map(Asn1Exception::getMessage).orElse(reason);
    }
}
