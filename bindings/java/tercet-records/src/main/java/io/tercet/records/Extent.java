package io.tercet.records;

/** Where an element of BER ends (X.690 8.1), found without recursion. */
final class Extent {
    /** What begins here is not an element. */
    static final long MALFORMED = Long.MIN_VALUE;

    /** Elements of indefinite length inside one another. */
    private static final int DEPTH = 1000;

    private Extent() {}

    /** The header of an element: bytes of the identifier, bytes of the header; the length is -1 if it is indefinite. */
    record Header(int identifier, int size, long length) {}

    /**
     * Returns the number of bytes of the element at a position, which may reach past the end; a negative number if the bytes end
     * inside of it: so many are required at least; {@link #MALFORMED} if it is not an element.
     */
    static long of(byte[] octets, int start, int end) {
        long at = start;
        int open = 0;
        while (true) {
            if (at >= end) {
                return -(at - start + 1);
            }
            if (open > 0 && octets[(int) at] == 0) {
                if (at + 1 >= end) {
                    return -(at - start + 2);
                }
                if (octets[(int) at + 1] != 0) {
                    return MALFORMED;
                }
                at += 2;
                open--;
            } else {
                int size = headerSize(octets, (int) at, end);
                if (size <= 0) {
                    return size == 0 ? MALFORMED : -(at - start - size);
                }
                long length = length(octets, (int) at, size);
                if (length == -1) {
                    if ((octets[(int) at] & 0x20) == 0 || ++open > DEPTH) {
                        return MALFORMED;
                    }
                    at += size;
                } else if (length < 0 || length > Integer.MAX_VALUE) {
                    return MALFORMED;
                } else {
                    at += size + length;
                }
            }
            if (open == 0) {
                return at - start;
            }
        }
    }

    /** The bytes of identifier and length; 0 if there are none, a negative number of bytes if more are required. */
    static int headerSize(byte[] octets, int at, int end) {
        int identifier = identifierSize(octets, at, end);
        if (identifier <= 0) {
            return identifier;
        }
        if (at + identifier >= end) {
            return -(identifier + 1);
        }
        int first = octets[at + identifier] & 0xFF;
        if (first <= 0x80) {
            return identifier + 1;
        }
        int size = identifier + 1 + (first & 0x7F);
        if (first == 0xFF) {
            return 0;
        }
        return at + size > end ? -size : size;
    }

    static int identifierSize(byte[] octets, int at, int end) {
        if (at >= end) {
            return -1;
        }
        int size = 1;
        if ((octets[at] & 0x1F) == 0x1F) {
            do {
                if (size > 5) {
                    return 0;
                }
                if (at + size >= end) {
                    return -(size + 1);
                }
            } while (octets[at + size++] < 0);
        }
        return size;
    }

    /** The length of a complete header: -1 if it is indefinite, -2 if it is larger than any input. */
    static long length(byte[] octets, int at, int size) {
        int identifier = identifierSize(octets, at, at + size);
        int first = octets[at + identifier] & 0xFF;
        if (first < 0x80) {
            return first;
        }
        if (first == 0x80) {
            return -1;
        }
        long length = 0;
        for (int i = identifier + 1; i < size; i++) {
            if (length >>> 48 != 0) {
                return -2;
            }
            length = length << 8 | octets[at + i] & 0xFF;
        }
        return length;
    }
}
