package io.tercet.records;

import io.tercet.runtime.Asn1Exception;
import io.tercet.runtime.Asn1Real;
import io.tercet.runtime.Asn1Type;
import io.tercet.runtime.BitString;
import io.tercet.runtime.JerItems;
import io.tercet.runtime.JerMembers;
import io.tercet.runtime.JerWriter;
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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Writes values as rows of CSV, as {@code tercet convert --format csv --render none} does: a column for each nested component, which
 * come from the type alone. Lists, open types and types inside themselves are one column with JSON text. Requires code that was
 * generated with the rules {@code jer}.
 *
 * @param <T> the class of the values
 */
public final class CsvWriter<T> implements AutoCloseable {
    /** So many columns, and what is left becomes JSON text. */
    private static final int MOST_COLUMNS = 20_000;

    /** A component at one place in the value. */
    private static final class Place {
        /** A place without a column. */
        static final Place NONE = new Place(-1);

        /** The column of a value, or of the name of an alternative. */
        final int column;

        boolean isChoice;
        Place[] parts = {};

        Place(int column) {
            this.column = column;
        }
    }

    private final Asn1Type<T> type;
    private final OutputStream out;
    private final List<String> columns = new ArrayList<>();
    private final Row row;

    /**
     * Makes a writer, and writes the line with the names of the columns.
     *
     * @param type the type, such as {@code CallRecord.TYPE}
     * @param out takes the text, in UTF-8; closed by the writer
     * @throws IOException if the line cannot be written
     */
    public CsvWriter(Asn1Type<T> type, OutputStream out) throws IOException {
        this.type = type;
        this.out = new BufferedOutputStream(out, 1 << 16);
        JerMembers members = type.members();
        Place root = members == null ? new Place(column("value")) : place(members, "", new ArrayList<>());
        row = new Row(root, columns.size());
        row.clear();
        for (int i = 0; i < columns.size(); i++) {
            row.begin();
            row.field(columns.get(i));
            row.end(i);
        }
        row.finish(this.out);
    }

    /**
     * Returns the names of the columns, in order.
     *
     * @return the names
     */
    public List<String> columns() {
        return List.copyOf(columns);
    }

    private int column(String name) {
        columns.add(name);
        return columns.size() - 1;
    }

    private Place place(JerMembers members, String name, List<JerMembers> around) {
        boolean isRepeated = around.stream().anyMatch(other -> other == members);
        if (columns.size() >= MOST_COLUMNS || isRepeated) {
            return new Place(column(name.isEmpty() ? "value" : name));
        }
        Place place = new Place(members.isChoice() ? column(name.isEmpty() ? "choice" : name) : -1);
        place.isChoice = members.isChoice();
        place.parts = new Place[members.size()];
        around.add(members);
        for (int i = 0; i < members.size(); i++) {
            String part = name.isEmpty() ? members.name(i) : name + "." + members.name(i);
            JerMembers inside = members.part(i);
            place.parts[i] = inside == null ? new Place(column(part)) : place(inside, part, around);
        }
        around.remove(around.size() - 1);
        return place;
    }

    /**
     * Writes a row.
     *
     * @param value the value
     * @throws Asn1Exception if the value cannot be written; nothing of the row is
     * @throws IOException if the row cannot be written
     */
    public void write(T value) throws Asn1Exception, IOException {
        row.clear();
        type.write(row, value);
        row.finish(out);
    }

    /**
     * Writes what is in memory.
     *
     * @throws IOException if it cannot be written
     */
    public void flush() throws IOException {
        out.flush();
    }

    @Override
    public void close() throws IOException {
        out.close();
    }

    /** The row that is being made: cells come in any order. */
    private static final class Row extends ValueWriter {
        private final Place root;
        private final int[] starts;
        private final int[] ends;
        private final JerWriter json = new JerWriter(true);
        private byte[] cells = new byte[1024];
        private int count;
        private int start;
        /** The places of the values that are open, and the place of the value that comes next. */
        private final ArrayDeque<Place> open = new ArrayDeque<>();

        private Place next;
        /** How many values are open in a column with JSON text. */
        private int levels;

        Row(Place root, int columns) {
            this.root = root;
            next = root;
            starts = new int[columns];
            ends = new int[columns];
        }

        void clear() {
            count = 0;
            levels = 0;
            open.clear();
            next = root;
            Arrays.fill(ends, -1);
        }

        void begin() {
            start = count;
        }

        void end(int column) {
            if (column >= 0) {
                starts[column] = start;
                ends[column] = count;
            }
        }

        void finish(OutputStream out) throws IOException {
            for (int i = 0; i < ends.length; i++) {
                if (i > 0) {
                    out.write(',');
                }
                if (ends[i] >= 0) {
                    out.write(cells, starts[i], ends[i] - starts[i]);
                }
            }
            out.write('\n');
        }

        private void put(byte[] octets, int from, int length) {
            if (cells.length - count < length) {
                cells = Arrays.copyOf(cells, Math.max(2 * cells.length, count + length));
            }
            System.arraycopy(octets, from, cells, count, length);
            count += length;
        }

        private void put(String text) {
            byte[] octets = text.getBytes(StandardCharsets.UTF_8);
            put(octets, 0, octets.length);
        }

        /** A text, in quotation marks where it must be. */
        void field(String text) {
            boolean isPlain = !text.isEmpty() && text.charAt(0) != ' ' && text.charAt(text.length() - 1) != ' ';
            for (int i = 0; isPlain && i < text.length(); i++) {
                char c = text.charAt(i);
                isPlain = c != '"' && c != ',' && c != '\r' && c != '\n';
            }
            put(isPlain ? text : '"' + text.replace("\"", "\"\"") + '"');
        }

        private void cell(String text) {
            begin();
            put(text);
            end(next.column);
        }

        /** Begins a value with parts; returns whether it is in a column with JSON text. */
        private boolean isJson(boolean hasColumns) {
            if (levels > 0) {
                levels++;
                return true;
            }
            if (hasColumns && next.parts.length + (next.isChoice ? 1 : 0) > 0 || hasColumns && next.column < 0) {
                open.push(next);
                return false;
            }
            json.clear();
            levels = 1;
            return true;
        }

        /** Ends one; returns whether it was in such a column, which is complete after the last. */
        private boolean wasJson() {
            if (levels == 0) {
                next = open.pop();
                return false;
            }
            return true;
        }

        private void endJson() {
            if (--levels == 0) {
                begin();
                byte[] text = json.view().toByteArray();
                field(new String(text, StandardCharsets.UTF_8));
                end(next.column);
            }
        }

        @Override
        public void object() throws Asn1Exception {
            if (isJson(true)) {
                json.object();
            }
        }

        @Override
        public void endObject() {
            if (wasJson()) {
                json.endObject();
                endJson();
            }
        }

        @Override
        public void array(String item) throws Asn1Exception {
            if (isJson(false)) {
                json.array(item);
            }
        }

        @Override
        public void endArray() {
            json.endArray();
            endJson();
        }

        @Override
        public void element() {
            json.element();
        }

        @Override
        public void name(JerMembers type, int number) {
            if (levels > 0) {
                json.name(type, number);
                return;
            }
            Place place = open.getFirst();
            if (place.isChoice) {
                begin();
                put(type.name(number));
                end(place.column);
            }
            next = number < place.parts.length ? place.parts[number] : Place.NONE;
        }

        @Override
        public void content(String type) throws Asn1Exception {
            if (isJson(false)) {
                json.content(type);
            }
        }

        @Override
        public void endContent() {
            json.endContent();
            endJson();
        }

        @Override
        public void containing(String type) throws Asn1Exception {
            if (isJson(false)) {
                json.containing(type);
            }
        }

        @Override
        public void endContaining() {
            json.endContaining();
            endJson();
        }

        @Override
        public void unknownAlternative(UnknownAlternative value) {
            if (levels > 0) {
                json.unknownAlternative(value);
            }
        }

        @Override
        public void bool(boolean value) {
            if (levels > 0) {
                json.bool(value);
            } else {
                cell(value ? "true" : "false");
            }
        }

        @Override
        public void nothing(Null value) {
            if (levels > 0) {
                json.nothing(value);
            } else {
                // Present, which is all that a NULL says.
                cell("true");
            }
        }

        @Override
        public void integer(long value) {
            if (levels > 0) {
                json.integer(value);
            } else {
                cell(Long.toString(value));
            }
        }

        @Override
        public void bigInteger(BigInteger value) {
            if (levels > 0) {
                json.bigInteger(value);
            } else {
                cell(value.toString());
            }
        }

        @Override
        public void item(JerItems items, long number) {
            if (levels > 0) {
                json.item(items, number);
            } else {
                String name = items.name(number);
                cell(name == null ? Long.toString(number) : name);
            }
        }

        @Override
        public void addition(int number) {
            if (levels > 0) {
                json.addition(number);
            } else {
                cell("addition " + number);
            }
        }

        @Override
        public void octets(Octets value) {
            if (levels > 0) {
                json.octets(value);
            } else {
                cell(value.toHex().toUpperCase(java.util.Locale.ROOT));
            }
        }

        @Override
        public void bits(BitString value, long size) {
            if (levels > 0) {
                json.bits(value, size);
            } else {
                cell(Texts.bits(value));
            }
        }

        @Override
        public void oid(ObjectIdentifier value) {
            if (levels > 0) {
                json.oid(value);
            } else {
                cell(value.toString());
            }
        }

        @Override
        public void relativeOid(RelativeObjectIdentifier value) {
            if (levels > 0) {
                json.relativeOid(value);
            } else {
                cell(value.toString());
            }
        }

        @Override
        public void real(Asn1Real value, boolean isDecimal) {
            if (levels > 0) {
                json.real(value, isDecimal);
            } else {
                begin();
                field(value.text());
                end(next.column);
            }
        }

        @Override
        public void text(String value) {
            if (levels > 0) {
                json.text(value);
            } else {
                begin();
                field(Text.shown(value));
                end(next.column);
            }
        }

        @Override
        public void textOctets(int kind, String value) {
            text(value);
        }
    }
}
