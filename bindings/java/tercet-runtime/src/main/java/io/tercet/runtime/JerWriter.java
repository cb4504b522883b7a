package io.tercet.runtime;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Writes values as a JSON text (X.697) without white space. */
public final class JerWriter extends ValueWriter {
    private static final byte[] DIGITS = "0123456789ABCDEF".getBytes(StandardCharsets.US_ASCII);

    private byte[] out = new byte[256];
    private int count;
    private boolean comma;
    private int levels = Limits.DEFAULT.depth();
    private final boolean characters;

    /** Makes a writer of texts as X.697 has them. */
    public JerWriter() {
        this(false);
    }

    /**
     * Makes a writer.
     *
     * @param characters whether all strings are written as their characters, and every REAL as a number, as in a column of CSV
     */
    public JerWriter(boolean characters) {
        this.characters = characters;
    }

    /** Forgets what was written. */
    public void clear() {
        count = 0;
        comma = false;
        levels = Limits.DEFAULT.depth();
    }

    /**
     * Returns what was written, until something else is.
     *
     * @return the text in UTF-8
     */
    public Octets view() {
        return Octets.known(out, 0, count);
    }

    private void room(int more) {
        if (out.length - count < more) {
            out = Arrays.copyOf(out, Math.max(count + more, (int) Math.min(out.length * 2L, Integer.MAX_VALUE - 8)));
        }
    }

    private void put(char c) {
        room(1);
        out[count++] = (byte) c;
    }

    private void put(byte[] octets) {
        room(octets.length);
        System.arraycopy(octets, 0, out, count, octets.length);
        count += octets.length;
    }

    private void put(String text) {
        put(text.getBytes(StandardCharsets.UTF_8));
    }

    private void enter() throws Asn1Exception {
        if (levels == 0) {
            throw Asn1Exception.at(ErrorKind.DEPTH_LIMIT, 0);
        }
        levels--;
        comma = false;
    }

    private void leave() {
        levels++;
        comma = true;
    }

    @Override
    public void object() throws Asn1Exception {
        enter();
        put('{');
    }

    @Override
    public void endObject() {
        put('}');
        leave();
    }

    @Override
    public void array(@Nullable String item) throws Asn1Exception {
        enter();
        put('[');
    }

    @Override
    public void endArray() {
        put(']');
        leave();
    }

    @Override
    public void element() {
        if (comma) {
            put(',');
        }
        comma = true;
    }

    @Override
    public void name(JerMembers type, int number) {
        byte[] key = type.key(number);
        room(key.length + 4);
        element();
        out[count++] = '"';
        System.arraycopy(key, 0, out, count, key.length);
        count += key.length;
        out[count++] = '"';
        out[count++] = ':';
    }

    @Override
    public void content(String type) throws Asn1Exception {
        enter();
    }

    @Override
    public void endContent() {
        leave();
    }

    @Override
    public void containing(String type) throws Asn1Exception {
        enter();
        put("{\"containing\":");
    }

    @Override
    public void endContaining() {
        endObject();
    }

    @Override
    public void unknownAlternative(UnknownAlternative value) {
        put("\"...\":[");
        if (value.addition() < 0) {
            octets(value.encoding());
        } else {
            put("{\"addition\":" + value.addition() + ",\"value\":");
            octets(value.encoding());
            put('}');
        }
        put(']');
    }

    // Leaves

    @Override
    public void bool(boolean value) {
        put(value ? "true" : "false");
    }

    @Override
    public void nothing(Null value) {
        put("null");
    }

    @Override
    public void integer(long value) {
        if (value >= 0 && value < 10) {
            put((char) ('0' + value));
        } else {
            put(Long.toString(value));
        }
    }

    @Override
    public void bigInteger(BigInteger value) {
        put(value.toString());
    }

    @Override
    public void item(JerItems items, long number) {
        String name = items.name(number);
        if (name == null) {
            integer(number);
        } else {
            text(name);
        }
    }

    @Override
    public void addition(int number) {
        put("{\"addition\":" + number + "}");
    }

    @Override
    public void octets(Octets value) {
        hex(value.array(), value.start(), value.length());
    }

    private void hex(byte[] octets, int start, int length) {
        room(Math.addExact(Math.multiplyExact(length, 2), 2));
        out[count++] = '"';
        for (int i = start; i < start + length; i++) {
            out[count++] = DIGITS[octets[i] >> 4 & 15];
            out[count++] = DIGITS[octets[i] & 15];
        }
        out[count++] = '"';
    }

    @Override
    public void bits(BitString value, long size) {
        boolean alone = value.length() == size;
        if (!alone) {
            put("{\"value\":");
        }
        if (value.isPaddedWithZeros()) {
            octets(value.octets());
        } else {
            byte[] octets = value.octets().toByteArray();
            octets[octets.length - 1] &= (byte) (0xFF << value.unused());
            hex(octets, 0, octets.length);
        }
        if (!alone) {
            put(",\"length\":" + value.length() + "}");
        }
    }

    @Override
    public void oid(ObjectIdentifier value) {
        put("\"" + value + "\"");
    }

    @Override
    public void relativeOid(RelativeObjectIdentifier value) {
        put("\"" + value + "\"");
    }

    @Override
    public void real(Asn1Real value, boolean isDecimal) {
        String word = value.word();
        if (word != null) {
            text(word);
        } else if (value.isDecimal() && !isDecimal && !characters) {
            put("{\"base10Value\":" + value.number() + "}");
        } else {
            put(value.number());
        }
    }

    @Override
    public void text(String value) {
        String text = Text.shown(value);
        int length = text.length();
        room(length + 2);
        put('"');
        for (int i = 0; i < length; i++) {
            char c = text.charAt(i);
            if (c < 0x80 && c >= 0x20 && c != '"' && c != '\\') {
                put(c);
            } else if (c >= 0x80) {
                int last = i;
                while (last < length && text.charAt(last) >= 0x80) {
                    last++;
                }
                put(text.substring(i, last));
                i = last - 1;
            } else {
                switch (c) {
                    case '"' -> put("\\\"");
                    case '\\' -> put("\\\\");
                    case '\n' -> put("\\n");
                    case '\r' -> put("\\r");
                    case '\t' -> put("\\t");
                    default -> put(String.format("\\u%04x", (int) c));
                }
            }
        }
        put('"');
    }

    @Override
    public void textOctets(int kind, String value) throws Asn1Exception {
        if (characters) {
            text(value);
            return;
        }
        byte[] octets = Text.encode(kind, value, true);
        hex(octets, 0, octets.length);
    }
}
