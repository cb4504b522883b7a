package io.tercet.runtime;

/** Tags as numbers: the class in the two highest bits, the number below. For generated code. */
public final class BerTag {
    /** The class UNIVERSAL. */
    public static final int UNIVERSAL = 0;
    /** The class APPLICATION. */
    public static final int APPLICATION = 1 << 30;
    /** The context-specific class. */
    public static final int CONTEXT = 2 << 30;
    /** The class PRIVATE. */
    public static final int PRIVATE = 3 << 30;

    /** No type has this tag. */
    static final int NOBODY = -1;

    static final int MAX_NUMBER = (1 << 29) - 1;
    static final int BIT_STRING = 3;
    static final int OCTET_STRING = 4;

    private BerTag() {}

    static int number(int tag) {
        return tag & MAX_NUMBER;
    }

    static boolean isUniversal(int tag) {
        return tag >>> 30 == 0;
    }

    /** The first identifier byte without the number: class and form. */
    static int identifier(int tag) {
        return tag >>> 24 & 0xC0;
    }
}
