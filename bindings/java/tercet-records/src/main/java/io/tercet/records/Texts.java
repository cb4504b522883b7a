package io.tercet.records;

import io.tercet.runtime.BitString;

/** Texts of values that several formats have. */
final class Texts {
    private Texts() {}

    /** Bits as digits. */
    static String bits(BitString value) {
        StringBuilder out = new StringBuilder(value.length());
        for (int i = 0; i < value.length(); i++) {
            out.append(value.get(i) ? '1' : '0');
        }
        return out.toString();
    }
}
