package io.tercet.runtime;

import java.util.Objects;

/**
 * An alternative of a later version of a CHOICE.
 *
 * @param addition its number among the extension additions, from 0, or -1 in rules that tell alternatives by their tags
 * @param encoding its complete encoding in the rules that it was read by
 */
public record UnknownAlternative(int addition, Octets encoding) {
    /** Requires an encoding. */
    public UnknownAlternative {
        Objects.requireNonNull(encoding, "encoding");
    }
}
