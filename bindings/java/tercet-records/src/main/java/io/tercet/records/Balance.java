package io.tercet.records;

/**
 * Where the bytes of a file went. Every byte that was read is counted once.
 *
 * @param records bytes of records
 * @param filler bytes between records, and those that blocks do not use
 * @param headers bytes of the framing: headers, lengths, elements around and beside the list of records
 * @param rejected bytes that are not a record
 */
public record Balance(long records, long filler, long headers, long rejected) {
    /**
     * Returns the number of bytes that were read.
     *
     * @return the sum
     */
    public long read() {
        return records + filler + headers + rejected;
    }

    /** Returns the line that {@code tercet convert} prints. */
    @Override
    public String toString() {
        return read() + " bytes read = " + records + " records + " + filler + " filler + " + headers + " headers + "
                + rejected + " rejected";
    }
}
