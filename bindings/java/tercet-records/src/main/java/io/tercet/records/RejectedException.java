package io.tercet.records;

import java.io.IOException;

/** A file has bytes that are not a record, and nothing was given that takes rejects. */
public final class RejectedException extends IOException {
    private static final long serialVersionUID = 1L;

    private final transient Reject reject;

    RejectedException(Reject reject) {
        super(reject.toString());
        this.reject = reject;
    }

    /**
     * Returns what was rejected.
     *
     * @return the reject
     */
    public Reject reject() {
        return reject;
    }
}
