package io.tercet.records;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** What stands around and between the records of a file, in the words of {@code tercet convert --framing}. */
public final class Framing {
    /** Records one after the other, with nothing but filler between them. */
    public static final Framing PLAIN = of("plain");

    enum Kind {
        PLAIN,
        BLOCKS,
        LENGTHS,
        TS32297
    }

    /** What the header of a block says. */
    enum Used {
        UNKNOWN,
        AFTER_HEADER,
        WITH_HEADER
    }

    private static final String KNOWN = "plain, block:2048, u16be, u16le, u32be, u32le, u16be-incl, u16le-incl, u32be-incl, "
            + "u32le-incl, rdw, bdw, ts32297, skip:59:5:0, inside:30,A1";

    private final String text;
    Kind kind = Kind.PLAIN;
    int blockSize;
    int blockHeader;
    Used used = Used.UNKNOWN;
    int width;
    boolean little;
    boolean inclusive;
    int more;
    boolean grouped;
    long skip;
    int recordHeader;
    int trailer;
    final List<byte[]> wrappers = new ArrayList<>();

    private Framing(String text) {
        this.text = text;
    }

    /**
     * Reads a framing.
     *
     * @param parts {@code plain}, {@code block:2048}, {@code u16be}, {@code rdw}, {@code bdw}, {@code ts32297},
     *     {@code skip:59:5:0}, {@code inside:30,A1} and so on: see the reference of framings; several are combined
     * @return the framing
     * @throws IllegalArgumentException if there is no such framing
     */
    public static Framing of(String... parts) {
        Framing framing = new Framing(String.join(" ", parts));
        for (String part : parts) {
            framing.add(part);
        }
        return framing;
    }

    private void add(String text) {
        int colon = text.indexOf(':');
        String name = colon < 0 ? text : text.substring(0, colon);
        String rest = colon < 0 ? "" : text.substring(colon + 1);
        String[] words = rest.isEmpty() ? new String[0] : rest.split("[:,]");
        switch (name) {
            case "block" -> block(text, words);
            case "skip" -> {
                skip = number(text, words, 0);
                recordHeader = number(text, words, 1);
                trailer = number(text, words, 2);
            }
            case "inside" -> {
                for (String word : words) {
                    wrappers.add(HexFormat.of().parseHex(word));
                }
            }
            default -> {
                if (!rest.isEmpty() || !length(name)) {
                    throw unknown(text);
                }
            }
        }
    }

    private boolean length(String name) {
        switch (name) {
            case "plain" -> kind = Kind.PLAIN;
            case "ts32297" -> kind = Kind.TS32297;
            case "rdw", "bdw" -> {
                kind = Kind.LENGTHS;
                width = 2;
                inclusive = true;
                more = 2;
                grouped = name.equals("bdw");
            }
            default -> {
                inclusive = name.endsWith("-incl");
                String base = inclusive ? name.substring(0, name.length() - 5) : name;
                if (!List.of("u16be", "u16le", "u32be", "u32le").contains(base)) {
                    return false;
                }
                kind = Kind.LENGTHS;
                width = base.startsWith("u16") ? 2 : 4;
                little = base.endsWith("le");
            }
        }
        return true;
    }

    private void block(String text, String[] words) {
        kind = Kind.BLOCKS;
        blockSize = number(text, words, 0);
        blockHeader = number(text, words, 1);
        if (words.length > 2) {
            used = switch (words[2]) {
                case "used" -> Used.AFTER_HEADER;
                case "used-incl" -> Used.WITH_HEADER;
                default -> throw unknown(text);
            };
        }
        if (blockSize <= blockHeader || used != Used.UNKNOWN && blockHeader < 2) {
            throw new IllegalArgumentException("a block is larger than its header, which has a length in 2 bytes: `" + text + "`");
        }
    }

    private static int number(String text, String[] words, int at) {
        if (at >= words.length) {
            if (at == 0) {
                throw unknown(text);
            }
            return 0;
        }
        try {
            int number = Integer.parseInt(words[at]);
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException fault) {
            // Reported as any other word.
        }
        throw new IllegalArgumentException("`" + words[at] + "` is not a number of bytes");
    }

    private static IllegalArgumentException unknown(String text) {
        return new IllegalArgumentException("unknown framing `" + text + "`; known: " + KNOWN);
    }

    /** Whether it gives the end of each record, so that these need not be in BER. */
    boolean hasLengths() {
        return kind == Kind.LENGTHS || kind == Kind.TS32297;
    }

    @Override
    public String toString() {
        return text;
    }
}
