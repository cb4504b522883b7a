package io.tercet.records;

import io.tercet.runtime.Asn1Exception;
import io.tercet.runtime.Asn1Type;
import io.tercet.runtime.Decoded;
import io.tercet.runtime.ErrorKind;
import io.tercet.runtime.Limits;
import io.tercet.runtime.Octets;
import io.tercet.runtime.Rules;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * Reads the records of a file one by one, whatever its length: memory holds one record and some bytes after it.
 *
 * <p>What is not a record is rejected, and the next record is searched for. The {@link #balance()} accounts for every byte. A
 * reader belongs to one thread.
 *
 * @param <T> the class of the records
 */
public final class RecordReader<T> implements Iterable<FileRecord<T>>, AutoCloseable {
    /** Bytes that are read at a time. */
    private static final int CHUNK = 1 << 16;

    /** Bytes of one reject; a larger damaged place comes in pieces. */
    private static final int PIECE = 1 << 20;

    /** Bytes that a search for the next record tries to decode. */
    private static final long MOST_TRIED = 1 << 26;

    /** Collects what a reader needs. */
    public static final class Builder<T> {
        private final Asn1Type<T> type;
        private Framing framing = Framing.PLAIN;
        private Optional<Rules> rules = Optional.empty();
        private byte[] filler = {0, -1};
        private int recordLimit = 64 << 20;
        private Limits limits = Limits.DEFAULT;
        private Optional<Consumer<Reject>> rejects = Optional.empty();

        private Builder(Asn1Type<T> type) {
            this.type = type;
        }

        /**
         * Sets what stands around and between the records; without, they follow one another.
         *
         * @param framing the framing
         * @return this builder
         */
        public Builder<T> framing(Framing framing) {
            this.framing = framing;
            return this;
        }

        /**
         * Sets what stands around and between the records.
         *
         * @param framing the framing, as {@link Framing#of} reads it
         * @return this builder
         */
        public Builder<T> framing(String... framing) {
            return framing(Framing.of(framing));
        }

        /**
         * Sets the encoding rules of all records; without, those that headers of TS 32.297 name, else BER.
         *
         * @param rules the rules
         * @return this builder
         */
        public Builder<T> rules(Rules rules) {
            this.rules = Optional.of(rules);
            return this;
        }

        /**
         * Sets the bytes that may stand between records; 00 and FF by default.
         *
         * @param filler the bytes
         * @return this builder
         */
        public Builder<T> filler(byte... filler) {
            this.filler = filler.clone();
            return this;
        }

        /**
         * Sets the number of bytes that a record may have; 64 MiB by default.
         *
         * @param bytes the number
         * @return this builder
         */
        public Builder<T> recordLimit(int bytes) {
            recordLimit = bytes;
            return this;
        }

        /**
         * Sets what is accepted of a record.
         *
         * @param limits the limits
         * @return this builder
         */
        public Builder<T> limits(Limits limits) {
            this.limits = limits;
            return this;
        }

        /**
         * Sets what takes rejects; without, the first one is a {@link RejectedException}.
         *
         * @param rejects takes each reject
         * @return this builder
         */
        public Builder<T> rejects(Consumer<Reject> rejects) {
            this.rejects = Optional.of(rejects);
            return this;
        }

        /**
         * Opens a file.
         *
         * @param path the file
         * @return the reader
         * @throws IOException if the file cannot be opened
         */
        public RecordReader<T> open(Path path) throws IOException {
            return open(Files.newInputStream(path));
        }

        /**
         * Reads a stream, which the reader closes.
         *
         * @param in the stream
         * @return the reader
         */
        public RecordReader<T> open(InputStream in) {
            boolean isForeign = rules.isPresent() && rules.get() != Rules.BER && rules.get() != Rules.DER && rules.get() != Rules.CER;
            if (isForeign && !framing.hasLengths()) {
                throw new IllegalArgumentException("records in " + rules.get() + " with the framing `" + framing + "` have no end mark");
            }
            return new RecordReader<>(this, in);
        }
    }

    private final Asn1Type<T> type;
    private final Framing framing;
    private final Rules rules;
    private final boolean[] filler = new boolean[256];
    private final int recordLimit;
    private final Limits limits;
    private final Optional<Consumer<Reject>> takesRejects;
    private final InputStream in;
    private final Carved carved;

    /** Bytes that were read are never changed, since values are views of them. */
    private byte[] buffer = new byte[CHUNK];

    private int low;
    private int high;
    private boolean ended;
    /** The offset of {@code buffer[low]} in what {@link Carved} hands on. */
    private long offset;
    /** The ends of the elements around the position; -1 for an indefinite length. */
    private final ArrayDeque<Long> around = new ArrayDeque<>();
    /** Bytes to skip at the position, where nothing is around. */
    private long skip;
    private long number;
    private long records;
    private long fillers;
    private long headers;
    private long rejected;

    private RecordReader(Builder<T> builder, InputStream in) {
        type = builder.type;
        framing = builder.framing;
        rules = builder.rules.orElse(Rules.BER);
        for (byte octet : builder.filler) {
            filler[octet & 0xFF] = true;
        }
        recordLimit = builder.recordLimit;
        limits = builder.limits;
        takesRejects = builder.rejects;
        this.in = in;
        carved = new Carved(in, framing, builder.rules);
        skip = framing.skip + framing.recordHeader;
    }

    /**
     * Begins a reader of records of a type.
     *
     * @param <T> the class of the records
     * @param type the type, such as {@code CallRecord.TYPE}
     * @return a builder, whose {@code open} makes the reader
     */
    public static <T> Builder<T> of(Asn1Type<T> type) {
        return new Builder<>(type);
    }

    /**
     * Returns where the bytes so far went; those of the whole file when there are no more records.
     *
     * @return the balance
     */
    public Balance balance() {
        return new Balance(records, fillers + carved.unused, headers + carved.headers, rejected);
    }

    @Override
    public void close() throws IOException {
        in.close();
    }

    /**
     * Returns an iterator over the records that have not been read yet. It throws {@link UncheckedIOException}.
     */
    @Override
    public Iterator<FileRecord<T>> iterator() {
        return new Iterator<>() {
            private Optional<FileRecord<T>> following = Optional.empty();
            private boolean isKnown;

            @Override
            public boolean hasNext() {
                if (!isKnown) {
                    try {
                        following = RecordReader.this.next();
                    } catch (IOException fault) {
                        throw new UncheckedIOException(fault);
                    }
                    isKnown = true;
                }
                return following.isPresent();
            }

            @Override
            public FileRecord<T> next() {
                if (!hasNext()) {
                    throw new NoSuchElementException();
                }
                isKnown = false;
                return following.get();
            }
        };
    }

    /**
     * Returns the records that have not been read yet, in order. It throws {@link UncheckedIOException}.
     *
     * @return the records
     */
    public Stream<FileRecord<T>> stream() {
        int traits = Spliterator.ORDERED | Spliterator.NONNULL;
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(iterator(), traits), false);
    }

    /**
     * Reads the next record.
     *
     * @return the record; empty at the end of the file
     * @throws IOException if the file cannot be read, or is damaged and nothing takes rejects
     */
    public Optional<FileRecord<T>> next() throws IOException {
        while (true) {
            while (!around.isEmpty() && around.peekLast() >= 0 && around.peekLast() <= offset) {
                around.removeLast();
            }
            if (!ensure(1)) {
                if (!around.isEmpty()) {
                    around.clear();
                    reject(0, "the input ends before the list around the records does", Optional.empty(), false);
                }
                return Optional.empty();
            }
            if (around.isEmpty() && passed()) {
                continue;
            }
            if (!around.isEmpty() && around.peekLast() < 0 && ensure(2) && buffer[low] == 0 && buffer[low + 1] == 0) {
                around.removeLast();
                headers += 2;
                advance(2);
                continue;
            }
            Optional<FileRecord<T>> found = around.size() < framing.wrappers.size() ? wrapper() : record();
            if (found.isPresent()) {
                return found;
            }
        }
    }

    /** Passes what is not an element, outside of all elements; returns whether there was any. */
    private boolean passed() throws IOException {
        if (skip > 0) {
            int count = (int) Math.min(skip, high - low);
            skip -= count;
            headers += count;
            advance(count);
            return true;
        }
        if (framing.trailer > 0 && !ensure(framing.trailer + 1)) {
            headers += high - low;
            advance(high - low);
            return true;
        }
        boolean isForeign = carved.border(offset).flatMap(Carved.Border::rules).filter(own -> own != Rules.BER).isPresent();
        int count = 0;
        while (!isForeign && low + count < high && filler[buffer[low + count] & 0xFF]) {
            count++;
        }
        fillers += count;
        advance(count);
        return count > 0;
    }

    /** Enters an element around the records, or passes one beside them. */
    private Optional<FileRecord<T>> wrapper() throws IOException {
        byte[] identifier = framing.wrappers.get(around.size());
        ensure(identifier.length);
        boolean isIt = high - low >= identifier.length
                && Arrays.equals(buffer, low, low + identifier.length, identifier, 0, identifier.length);
        if (!isIt) {
            long length = extent();
            if (length < 0 || isBeyond(length) || !isThere(length)) {
                return damaged("no record begins with these bytes", Optional.empty(), -1);
            }
            headers += length;
            advance((int) length);
            return Optional.empty();
        }
        int size = Extent.headerSize(buffer, low, high);
        if (size < 0 && ensure(-size)) {
            size = Extent.headerSize(buffer, low, high);
        }
        long length = size > 0 ? Extent.length(buffer, low, size) : -2;
        if (length < -1 || length > 0 && isBeyond(size + length)) {
            return damaged("the element around the records is malformed", Optional.empty(), -1);
        }
        around.addLast(length < 0 ? -1 : offset + size + length);
        headers += size;
        advance(size);
        return Optional.empty();
    }

    private Optional<FileRecord<T>> record() throws IOException {
        Optional<Carved.Border> border = carved.border(offset);
        Rules own = border.flatMap(Carved.Border::rules).orElse(rules);
        long length;
        if (own != Rules.BER && own != Rules.DER && own != Rules.CER && border.isPresent()) {
            length = border.get().end() - offset;
            if (own == Rules.JER) {
                return damaged("records in XER are not read", Optional.empty(), length);
            }
        } else {
            length = extent();
            if (length == Extent.MALFORMED) {
                return damaged("no record begins with these bytes", Optional.empty(), -1);
            }
        }
        if (length < 0 || length <= recordLimit && !isThere(length)) {
            return damaged("the input ends inside a record", Optional.empty(), -1);
        }
        if (length > recordLimit) {
            Asn1Exception fault = Asn1Exception.at(ErrorKind.LENGTH_LIMIT, 0);
            return damaged(fault.kind().message(), Optional.of(fault), length);
        }
        if (isBeyond(length)) {
            return damaged("the element ends after the list around it", Optional.empty(), -1);
        }
        if (border.isPresent() && offset + length > border.get().end()) {
            return damaged("the element ends after the record that its header announces", Optional.empty(), -1);
        }
        T value;
        try {
            Decoded<T> decoded = type.decodePrefix(own, buffer, low, (int) length, limits);
            if (decoded.length() != length) {
                throw Asn1Exception.at(ErrorKind.TRAILING_DATA, decoded.length()).in(type.name());
            }
            value = decoded.value();
            if (!type.isKnown(value)) {
                throw Asn1Exception.at(ErrorKind.UNKNOWN_ALTERNATIVE, 0).in(type.name());
            }
        } catch (Asn1Exception fault) {
            return damaged(fault.kind().message(), Optional.of(fault), length);
        }
        Octets octets = Octets.view(buffer, low, (int) length);
        FileRecord<T> record = new FileRecord<>(value, number++, carved.original(offset), octets, own);
        records += length;
        advance((int) length);
        skip = around.isEmpty() ? framing.recordHeader : 0;
        return Optional.of(record);
    }

    // Bytes

    private void advance(int count) {
        low += count;
        offset += count;
    }

    /** Reads until so many bytes are there; returns whether they are. */
    private boolean ensure(int count) throws IOException {
        while (high - low < count && !ended) {
            if (high == buffer.length) {
                // Room grows with what is there: a length that is announced takes no memory.
                byte[] next = new byte[Math.max(CHUNK, Math.min(2 * (high - low), recordLimit + CHUNK))];
                System.arraycopy(buffer, low, next, 0, high - low);
                high -= low;
                low = 0;
                buffer = next;
            }
            int read = carved.read(buffer, high, buffer.length - high);
            ended = read < 0;
            high += Math.max(read, 0);
        }
        return high - low >= count;
    }

    /** Whether an element of this length is complete, or as much of it as a record may have. */
    private boolean isThere(long length) throws IOException {
        return ensure((int) Math.min(length, recordLimit));
    }

    private boolean isBeyond(long length) {
        return !around.isEmpty() && around.peekLast() >= 0 && offset + length > around.peekLast();
    }

    /** The length of the element at the position; -1 if the input ends inside of it. */
    private long extent() throws IOException {
        while (true) {
            long length = Extent.of(buffer, low, high);
            if (length >= 0 || length == Extent.MALFORMED) {
                return length;
            }
            if (-length > recordLimit) {
                return -length;
            }
            if (!ensure((int) -length)) {
                return -1;
            }
        }
    }

    // Damage

    private void reject(int length, String reason, Optional<Asn1Exception> fault, boolean continued) throws IOException {
        Octets octets = Octets.view(buffer, low, length);
        Reject reject = new Reject(carved.original(offset), octets, reason, fault, continued);
        rejected += length;
        advance(length);
        if (takesRejects.isEmpty()) {
            throw new RejectedException(reject);
        }
        takesRejects.get().accept(reject);
    }

    /** Rejects bytes that may be more than the buffer holds. */
    private void rejectAll(long length, String reason, Optional<Asn1Exception> fault, boolean continued) throws IOException {
        long rest = length;
        boolean isNext = continued;
        while (rest > 0 && ensure(1)) {
            ensure((int) Math.min(rest, PIECE));
            int count = (int) Math.min(Math.min(rest, PIECE), high - low);
            reject(count, reason, isNext ? Optional.empty() : fault, isNext);
            rest -= count;
            isNext = true;
        }
    }

    /** Rejects what is at the position, up to where records begin again. The length is believed if one follows it. */
    private Optional<FileRecord<T>> damaged(String reason, Optional<Asn1Exception> fault, long length) throws IOException {
        Optional<Carved.Border> border = carved.border(offset);
        if (border.isPresent() && around.isEmpty()) {
            rejectAll(border.get().end() - offset, reason, fault, false);
            skip = framing.recordHeader;
            return Optional.empty();
        }
        if (length > 0 && (length > recordLimit || isBelieved(length))) {
            rejectAll(length, reason, fault, false);
            skip = around.isEmpty() ? framing.recordHeader : 0;
            return Optional.empty();
        }
        boolean continued = false;
        long tried = 0;
        int at = 1;
        while (true) {
            boolean isEnd = !ensure(at + 1) || isBeyond(at + 1);
            long candidate = isEnd || tried > MOST_TRIED ? 0 : candidate(at);
            tried += Math.max(candidate, 1);
            if (isEnd || candidate > 0 && isBelieved(at + candidate)) {
                reject(at, reason, continued ? Optional.empty() : fault, continued);
                return Optional.empty();
            }
            if (++at > PIECE) {
                reject(at - 1, reason, continued ? Optional.empty() : fault, continued);
                continued = true;
                at = 1;
            }
        }
    }

    /** The length of a record that decodes so many bytes on; 0 if there is none. */
    private long candidate(int at) throws IOException {
        long length;
        while (true) {
            length = Extent.of(buffer, low + at, high);
            if (length == Extent.MALFORMED || Math.abs(length) > recordLimit) {
                return 0;
            }
            if (length >= 0) {
                break;
            }
            if (!ensure(at + (int) -length)) {
                return 0;
            }
        }
        if (length == 0 || !ensure(at + (int) length) || isBeyond(at + length)) {
            return 0;
        }
        try {
            Decoded<T> decoded = type.decodePrefix(rules, buffer, low + at, (int) length, limits);
            return decoded.length() == length && type.isKnown(decoded.value()) ? length : 0;
        } catch (Asn1Exception fault) {
            return 0;
        }
    }

    /** Whether after so many bytes the input or the list ends, or filler or a record follows. */
    private boolean isBelieved(long length) throws IOException {
        if (isBeyond(length)) {
            return false;
        }
        if (!ensure((int) length + 1) || !around.isEmpty() && around.peekLast() == offset + length) {
            return high - low >= length;
        }
        byte first = buffer[low + (int) length];
        boolean isFiller = around.isEmpty() && filler[first & 0xFF];
        boolean isEnd = !around.isEmpty() && around.peekLast() < 0 && first == 0;
        return isFiller || isEnd || framing.recordHeader > 0 || candidate((int) length) > 0;
    }
}
