package io.tercet.records;

import io.tercet.runtime.Asn1Exception;
import io.tercet.runtime.Asn1Real;
import io.tercet.runtime.Asn1Type;
import io.tercet.runtime.BitString;
import io.tercet.runtime.JerItems;
import io.tercet.runtime.JerMembers;
import io.tercet.runtime.Null;
import io.tercet.runtime.ObjectIdentifier;
import io.tercet.runtime.Octets;
import io.tercet.runtime.RelativeObjectIdentifier;
import io.tercet.runtime.Text;
import io.tercet.runtime.UnknownAlternative;
import io.tercet.runtime.ValueWriter;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Locale;

/**
 * Writes values as XML (basic XER, X.693), as {@code tercet convert --format xml --render none} does: each value on a line, all in one
 * element {@code records}. Requires code that was generated with the rules {@code jer}.
 *
 * @param <T> the class of the values
 */
public final class XmlWriter<T> implements AutoCloseable {
    private final Asn1Type<T> type;
    private final OutputStream out;
    private final Element element;

    /**
     * Makes a writer, and writes the first line.
     *
     * @param type the type, such as {@code CallRecord.TYPE}
     * @param out takes the text, in UTF-8; closed by the writer
     * @throws IOException if the line cannot be written
     */
    public XmlWriter(Asn1Type<T> type, OutputStream out) throws IOException {
        this.type = type;
        this.out = new BufferedOutputStream(out, 1 << 16);
        element = new Element(Element.name(type.name().substring(type.name().lastIndexOf('.') + 1)));
        this.out.write("<records>\n".getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Writes a value on a line.
     *
     * @param value the value
     * @throws Asn1Exception if the value cannot be written; nothing of the line is
     * @throws IOException if the line cannot be written
     */
    public void write(T value) throws Asn1Exception, IOException {
        element.clear();
        type.write(element, value);
        out.write(element.text().getBytes(StandardCharsets.UTF_8));
        out.write('\n');
    }

    /**
     * Writes what is in memory.
     *
     * @throws IOException if it cannot be written
     */
    public void flush() throws IOException {
        out.flush();
    }

    /** Writes the last line and closes the output. */
    @Override
    public void close() throws IOException {
        out.write("</records>\n".getBytes(StandardCharsets.UTF_8));
        out.close();
    }

    /** The text of one value. */
    private static final class Element extends ValueWriter {
        /** The names of the control characters (X.680 12.15.5). */
        private static final List<String> CONTROLS = List.of(
                "nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs", "", "", "vt", "ff", "", "so", "si", "dle", "dc1", "dc2", "dc3",
                "dc4", "nak", "syn", "etb", "can", "em", "sub", "esc", "is4", "is3", "is2", "is1");

        private static final List<String> BUILT_IN =
                List.of("RELATIVE-OID", "OID-IRI", "RELATIVE-OID-IRI", "TIME-OF-DAY", "DATE-TIME");

        /** The name of no element: values in a list that stand for themselves. */
        private static final String NONE = "";

        /** An element that is open: its name, the length of the text after its start tag, and the name of elements in it. */
        private record Frame(String name, int start, String item) {}

        private final String root;
        private final StringBuilder out = new StringBuilder();
        private final ArrayDeque<Frame> open = new ArrayDeque<>();
        /** The name of the element around the next value. */
        private String next;

        Element(String root) {
            this.root = root;
            next = root;
        }

        /** The name of a type as an element (X.680 Table 4, 14.3). */
        static String name(String type) {
            String name = type.contains("{") ? type.substring(0, type.indexOf('{')) : type;
            while (name.endsWith("_") || name.endsWith(" ")) {
                name = name.substring(0, name.length() - 1);
            }
            if (BUILT_IN.contains(name) || name.contains(" ")) {
                return name.replace(' ', '_').replace('-', '_');
            }
            return name.toLowerCase(Locale.ROOT).startsWith("xml") ? "_" + name : name;
        }

        void clear() {
            out.setLength(0);
            open.clear();
            next = root;
        }

        String text() {
            return out.toString();
        }

        private void begin(String item) {
            if (!next.isEmpty()) {
                out.append('<').append(next).append('>');
            }
            open.push(new Frame(next, out.length(), item));
        }

        private void end() {
            Frame frame = open.pop();
            close(frame.name, frame.start);
        }

        /** Ends an element; one without content is an empty one. */
        private void close(String name, int start) {
            if (name.isEmpty()) {
                return;
            }
            if (out.length() == start) {
                out.setLength(start - 1);
                out.append("/>");
            } else {
                out.append("</").append(name).append('>');
            }
        }

        private void leaf(String text) {
            if (!next.isEmpty()) {
                out.append('<').append(next).append('>');
            }
            int start = out.length();
            out.append(text);
            close(next, start);
        }

        @Override
        public void object() {
            begin(NONE);
        }

        @Override
        public void endObject() {
            end();
        }

        @Override
        public void array(String item) {
            begin(item == null ? NONE : Character.isLowerCase(item.charAt(0)) ? item : name(item));
        }

        @Override
        public void endArray() {
            end();
        }

        @Override
        public void element() {
            next = open.getFirst().item;
        }

        @Override
        public void name(JerMembers type, int number) {
            next = type.name(number);
        }

        @Override
        public void content(String type) {
            begin(NONE);
            next = name(type);
        }

        @Override
        public void endContent() {
            end();
        }

        @Override
        public void containing(String type) {
            begin(NONE);
            next = name(type);
        }

        @Override
        public void endContaining() {
            end();
        }

        @Override
        public void unknownAlternative(UnknownAlternative value) {
            // Nothing names it.
        }

        @Override
        public void bool(boolean value) {
            leaf(value ? "<true/>" : "<false/>");
        }

        @Override
        public void nothing(Null value) {
            leaf("");
        }

        @Override
        public void integer(long value) {
            leaf(Long.toString(value));
        }

        @Override
        public void bigInteger(BigInteger value) {
            leaf(value.toString());
        }

        @Override
        public void item(JerItems items, long number) {
            String name = items.name(number);
            leaf(name == null ? Long.toString(number) : "<" + name + "/>");
        }

        @Override
        public void addition(int number) {
            leaf("");
        }

        @Override
        public void octets(Octets value) {
            leaf(value.toHex().toUpperCase(Locale.ROOT));
        }

        @Override
        public void bits(BitString value, long size) {
            leaf(Texts.bits(value));
        }

        @Override
        public void oid(ObjectIdentifier value) {
            leaf(value.toString());
        }

        @Override
        public void relativeOid(RelativeObjectIdentifier value) {
            leaf(value.toString());
        }

        @Override
        public void real(Asn1Real value, boolean isDecimal) {
            String text = value.text();
            leaf(switch (text) {
                case "INF" -> "<PLUS-INFINITY/>";
                case "-INF" -> "<MINUS-INFINITY/>";
                case "NaN" -> "<NOT-A-NUMBER/>";
                default -> text.startsWith("{") ? parts(text) : text;
            });
        }

        /** A number with too many digits, as the value of its associated type (X.680 21.5). */
        private static String parts(String text) {
            return text.replaceAll("[{}\"]", "").replaceAll("(\\w+):(-?\\d+),?", "<$1>$2</$1>");
        }

        @Override
        public void text(String value) {
            StringBuilder text = new StringBuilder();
            for (char c : Text.shown(value).toCharArray()) {
                switch (c) {
                    case '<' -> text.append("&lt;");
                    case '>' -> text.append("&gt;");
                    case '&' -> text.append("&amp;");
                    case '\t', '\n' -> text.append(c);
                    // A parser of XML makes a line feed of it.
                    case '\r' -> text.append("&#xD;");
                    default -> {
                        if (c < ' ') {
                            text.append('<').append(CONTROLS.get(c)).append("/>");
                        } else {
                            text.append(c);
                        }
                    }
                }
            }
            leaf(text.toString());
        }

        @Override
        public void textOctets(int kind, String value) {
            text(value);
        }
    }
}
