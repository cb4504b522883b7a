package io.tercet.records;

import io.tercet.runtime.Rules;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Optional;

/** A file without the headers, lengths and unused bytes around its records; knows where in the file each byte was. */
final class Carved {
    private static final long WITHOUT_END = Long.MAX_VALUE;

    private static final long NOT_KNOWN = 0xFFFFFFFFL;

    /** Bytes of a file header of TS 32.297 without its parts of variable length. */
    private static final int FILE_HEADER = 50;

    /** The end of a record that a length has announced, in what is handed on, and the rules that its header names. */
    record Border(long start, long end, Optional<Rules> rules) {}

    private record Stretch(long here, long there) {}

    private final InputStream in;
    private final Framing framing;
    private final Optional<Rules> rules;
    private byte[] ahead = new byte[1 << 16];
    private int low;
    private int high;
    private long position;
    private boolean ended;
    private long out;
    /** Bytes to hand on before the next header, and bytes to skip then. */
    private long pass;
    private long unusedNext;
    /** Bytes that remain of a group of records or of a file; -1 for none. */
    private long group = -1;
    private final ArrayDeque<Stretch> stretches = new ArrayDeque<>();
    private final ArrayDeque<Border> borders = new ArrayDeque<>();
    long headers;
    long unused;

    Carved(InputStream in, Framing framing, Optional<Rules> rules) {
        this.in = in;
        this.framing = framing;
        this.rules = rules;
        pass = framing.kind == Framing.Kind.PLAIN ? WITHOUT_END : 0;
    }

    /** Returns the offset in the file of what is at an offset here. Offsets before this one are not asked for again. */
    long original(long offset) {
        while (stretches.size() > 1) {
            Stretch first = stretches.removeFirst();
            if (stretches.getFirst().here > offset) {
                stretches.addFirst(first);
                break;
            }
        }
        Stretch stretch = stretches.peekFirst();
        return stretch == null || stretch.here > offset ? offset : offset - stretch.here + stretch.there;
    }

    /** Returns the record that an offset here is in, if a length before it gives its end. */
    Optional<Border> border(long offset) {
        while (!borders.isEmpty() && borders.getFirst().end <= offset) {
            borders.removeFirst();
        }
        return borders.isEmpty() || borders.getFirst().start > offset ? Optional.empty() : Optional.of(borders.getFirst());
    }

    /** Reads some bytes; returns -1 at the end. */
    int read(byte[] buffer, int start, int length) throws IOException {
        while (true) {
            if (pass > 0) {
                if (!ensure(1)) {
                    return -1;
                }
                int count = (int) Math.min(Math.min(pass, length), high - low);
                System.arraycopy(ahead, low, buffer, start, count);
                consume(count);
                out += count;
                pass -= pass == WITHOUT_END ? 0 : count;
                return count;
            }
            if (unusedNext > 0) {
                if (!ensure(1)) {
                    return -1;
                }
                int count = (int) Math.min(unusedNext, high - low);
                consume(count);
                unusedNext -= count;
                unused += count;
            } else if (!advance()) {
                return -1;
            }
        }
    }

    private void consume(int count) {
        low += count;
        position += count;
    }

    private boolean ensure(int count) throws IOException {
        while (high - low < count && !ended) {
            if (low > 0) {
                System.arraycopy(ahead, low, ahead, 0, high - low);
                high -= low;
                low = 0;
            }
            if (high == ahead.length) {
                ahead = Arrays.copyOf(ahead, 2 * high);
            }
            int read = in.read(ahead, high, ahead.length - high);
            ended = read < 0;
            high += Math.max(read, 0);
        }
        return high - low >= count;
    }

    /** Decides what follows; returns whether there is anything. */
    private boolean advance() throws IOException {
        if (!ensure(1)) {
            return false;
        }
        switch (framing.kind) {
            case BLOCKS -> block();
            case LENGTHS -> lengths();
            case TS32297 -> ts32297();
            default -> pass = WITHOUT_END;
        }
        stretches.add(new Stretch(out, position));
        return true;
    }

    private void header(int count) {
        consume(count);
        headers += count;
    }

    private int octet(int at) {
        return ahead[low + at] & 0xFF;
    }

    private int half(int at) {
        return octet(at) << 8 | octet(at + 1);
    }

    private long word(int at) {
        return (long) half(at) << 16 | half(at + 2);
    }

    private void block() throws IOException {
        int count = framing.blockHeader;
        if (!ensure(count + 1)) {
            pass = WITHOUT_END;
            return;
        }
        long room = framing.blockSize - count;
        long use = switch (framing.used) {
            case UNKNOWN -> room;
            case AFTER_HEADER -> Math.min(half(0), room);
            case WITH_HEADER -> Math.min(Math.max(half(0) - count, 0), room);
        };
        header(count);
        pass = use;
        unusedNext = room - use;
    }

    /** The number of bytes after a length; 0 if it cannot be one. */
    private long payload() throws IOException {
        int size = framing.width + framing.more;
        if (!ensure(size) || framing.more > 0 && half(2) != 0) {
            return 0;
        }
        long value = framing.width == 2 ? half(0) : word(0);
        if (framing.little) {
            value = framing.width == 2
                    ? octet(1) << 8 | octet(0)
                    : Integer.toUnsignedLong(Integer.reverseBytes((int) value));
        }
        return Math.max(framing.inclusive ? value - size : value, 0);
    }

    private void lengths() throws IOException {
        int size = framing.width + framing.more;
        for (int i = 0; i < 2; i++) {
            boolean isGroup = framing.grouped && group <= 0;
            long payload = payload();
            if (payload == 0) {
                pass = WITHOUT_END;
                return;
            }
            header(size);
            if (isGroup) {
                group = payload;
                continue;
            }
            group = group < 0 ? -1 : Math.max(group - payload - size, 0);
            pass = payload;
            borders.add(new Border(out, out + payload, rules));
            return;
        }
    }

    private void ts32297() throws IOException {
        if (group <= 0 && !fileHeader()) {
            return;
        }
        // Clause 6.1.2: length, release and version, data format and specification, and where the release is 7 one byte more.
        int size = ensure(3) && octet(2) >> 5 == 7 ? 5 : 4;
        if (!ensure(size) || half(0) == 0 || octet(3) >> 5 > 4) {
            pass = WITHOUT_END;
            return;
        }
        int length = half(0);
        Optional<Rules> own = switch (octet(3) >> 5) {
            case 2 -> Optional.of(Rules.UPER);
            case 3 -> Optional.of(Rules.APER);
            // XER, which JER stands for here: neither is read.
            case 4 -> Optional.of(Rules.JER);
            default -> Optional.of(Rules.BER);
        };
        header(size);
        group = group == WITHOUT_END ? group : Math.max(group - length - size, 0);
        pass = length;
        borders.add(new Border(out, out + length, rules.or(() -> own)));
    }

    /** Reads the header of a file (clause 6.1.1); returns whether there was one, and records follow. */
    private boolean fileHeader() throws IOException {
        ensure(FILE_HEADER + 2 * 0xFFFF);
        int there = high - low;
        boolean complete = there >= FILE_HEADER + 2;
        int filter = complete ? half(48) : 0;
        complete = complete && there >= FILE_HEADER + 2 + filter;
        int least = FILE_HEADER + 2 + filter + (complete ? half(FILE_HEADER + filter) : 0);
        long file = complete ? word(0) : 0;
        long length = complete ? word(4) : 0;
        int releases = complete ? (octet(8) >> 5 == 7 ? 1 : 0) + (octet(9) >> 5 == 7 ? 1 : 0) : 0;
        boolean fits = length == least + releases || length == least + 2 || length == least;
        if (!complete || !fits || there < length || file != NOT_KNOWN && file < length) {
            pass = WITHOUT_END;
            return false;
        }
        header((int) length);
        group = file == NOT_KNOWN ? WITHOUT_END : file - length;
        return group != 0 && ensure(1);
    }
}
