package io.tercet.runtime;

/** The bitmap of extension additions in PER and OER that is being read. For generated code. */
public final class PerAdditions {
    /** The bit where the bitmap goes on. */
    long at;
    /** The bits that are left. */
    int left;
    final int count;

    PerAdditions(long at, int count) {
        this.at = at;
        this.left = count;
        this.count = count;
    }
}
