package io.tercet.runtime;

import java.util.ArrayList;
import java.util.List;

/**
 * Why a value could not be decoded or encoded: what is wrong ({@link #kind()}), where ({@link #offset()}, {@link #bit()}),
 * and on which path ({@link #path()}).
 *
 * <p>It has no stack trace: rejecting an input costs what reading it costs.
 */
public final class Asn1Exception extends Exception {
    private static final long serialVersionUID = 1L;

    /** Steps that are shown at each end of a long path. */
    private static final int SHOWN = 12;

    /** The same in a text. */
    private static final int SHOWN_IN_TEXT = 4;

    private final ErrorKind kind;
    private final long offset;
    private final int bit;
    private final long needed;
    /** What is wrong with a text; empty for other inputs. */
    private final String detail;
    private final int line;
    private final int column;
    /** The way to the fault, the innermost step first: names of components, numbers of elements. */
    private final transient List<Object> steps = new ArrayList<>(4);
    /** Whether the fault is in the identifier or length of the innermost element. */
    private transient boolean header;

    private Asn1Exception(ErrorKind kind, long offset, int bit, long needed) {
        this(kind, offset, bit, needed, "", 0, 0);
    }

    private Asn1Exception(
            ErrorKind kind, long offset, int bit, long needed, String detail, int line, int column) {
        super(null, null, false, false);
        this.kind = kind;
        this.offset = offset;
        this.bit = bit;
        this.needed = needed;
        this.detail = detail;
        this.line = line;
        this.column = column;
    }

    /**
     * Returns a fault at a byte.
     *
     * @param kind what is wrong
     * @param offset where, in bytes from the start of the input
     * @return the fault
     */
    public static Asn1Exception at(ErrorKind kind, long offset) {
        return new Asn1Exception(kind, offset, -1, 0);
    }

    /**
     * Returns a fault at a bit.
     *
     * @param kind what is wrong
     * @param position where, in bits from the start of the input
     * @return the fault
     */
    public static Asn1Exception atBit(ErrorKind kind, long position) {
        return new Asn1Exception(kind, position >>> 3, (int) (position & 7), 0);
    }

    static Asn1Exception text(ErrorKind kind, long offset, String detail, int line, int column) {
        return new Asn1Exception(kind, offset, -1, 0, detail, line, column);
    }

    static Asn1Exception incomplete(long offset, long needed) {
        return new Asn1Exception(ErrorKind.INCOMPLETE, offset, -1, Math.max(needed, 1));
    }

    static Asn1Exception incompleteAtBit(long position, long needed) {
        return new Asn1Exception(ErrorKind.INCOMPLETE, position >>> 3, (int) (position & 7), Math.max(needed, 1));
    }

    /**
     * Returns what is wrong.
     *
     * @return the kind
     */
    public ErrorKind kind() {
        return kind;
    }

    /**
     * Returns where the fault is: the byte, counted from the start of the input; zero for a value to encode.
     *
     * @return the offset
     */
    public long offset() {
        return offset;
    }

    /**
     * Returns the bit in the byte at {@link #offset()}, 0 for the highest, in rules whose fields are not whole bytes.
     *
     * @return the bit, or -1 if it is not known
     */
    public int bit() {
        return bit;
    }

    /**
     * Returns what is wrong with a text, in words such as {@code a digit expected}.
     *
     * @return the words; those of the kind for other inputs
     */
    public String detail() {
        return line > 0 ? detail : kind.message();
    }

    /**
     * Returns the line of the fault in a text, from 1.
     *
     * @return the line; 0 for other inputs
     */
    public int line() {
        return line;
    }

    /**
     * Returns the column of the fault in a text, in characters from 1.
     *
     * @return the column; 0 for other inputs
     */
    public int column() {
        return column;
    }

    /**
     * Returns how many bytes are missing at least, if the input ends too early.
     *
     * @return the number of bytes; 0 if the input does not end too early
     */
    public long needed() {
        return needed;
    }

    /**
     * Returns the way from the outermost value to the fault, such as {@code TransferBatch.callEventDetails[17]}.
     *
     * @return the path; empty if nothing is known of it
     */
    public String path() {
        StringBuilder out = new StringBuilder();
        int count = 0;
        for (Object step : steps) {
            if (!"".equals(step)) {
                count++;
            }
        }
        boolean isText = line > 0;
        int shown = isText ? SHOWN_IN_TEXT : SHOWN;
        int at = 0;
        for (int i = steps.size() - 1; i >= 0; i--) {
            Object step = steps.get(i);
            if ("".equals(step)) {
                continue;
            }
            boolean isAfterGap = isText && count > 2 * shown && at == count - shown;
            if (at == shown && count > 2 * shown) {
                out.append(isText ? " \u2026 " : "\u2026");
            } else if (at >= shown && at < count - shown) {
                // Left out in the middle of a long path.
            } else if (step instanceof Integer number) {
                out.append('[').append(number.intValue()).append(']');
            } else {
                out.append(at == 0 || isAfterGap ? "" : ".").append(isText ? JsonText.cut((String) step) : step);
            }
            at++;
        }
        return out.toString();
    }

    @Override
    public String getMessage() {
        StringBuilder out = new StringBuilder(path());
        out.append(out.length() == 0 ? "" : ": ").append(detail());
        if (line > 0) {
            return out.append(" (line ").append(line).append(", column ").append(column).append(')').toString();
        }
        if (needed > 0) {
            out.append(", ").append(needed).append(needed == 1 ? " byte is missing" : " bytes are missing");
        }
        if (kind.clause() != null) {
            out.append(" (").append(kind.clause()).append(')');
        }
        out.append(" (at offset 0x").append(Long.toHexString(offset));
        if (bit >= 0) {
            out.append(", bit ").append(bit);
        }
        return out.append(')').toString();
    }

    /**
     * Adds the component that the fault is in. For generated code.
     *
     * @param component the name in the specification
     * @return this fault
     */
    public Asn1Exception in(String component) {
        steps.add(component);
        return this;
    }

    /**
     * Adds the component that the fault is in, if one was being read or written. For generated code.
     *
     * @param place the names of all components
     * @param number the number of the component, or -1 for none
     * @return this fault
     */
    public Asn1Exception in(Components place, int number) {
        return number < 0 ? this : in(place.name(number));
    }

    /**
     * Adds the element of a list that the fault is in, if one was being read or written. For generated code.
     *
     * @param number the number of the element, or -1 for none
     * @return this fault
     */
    public Asn1Exception inElement(int number) {
        if (number >= 0) {
            steps.add(number);
        }
        return this;
    }

    Asn1Exception inHeader() {
        header = steps.isEmpty();
        return this;
    }

    /** Whether nothing more is known than that the fault is in the header of an element. */
    boolean isHeader() {
        return header && steps.isEmpty();
    }

    /** Whether nothing is known of the way. */
    boolean hasNoPath() {
        return steps.isEmpty() && !header;
    }
}
