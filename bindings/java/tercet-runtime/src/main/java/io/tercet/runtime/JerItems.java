package io.tercet.runtime;

import java.util.HashMap;
import java.util.Map;

/** The names of numbers: the items of an ENUMERATED (X.697 clause 22), the named numbers of an INTEGER. For generated code. */
public final class JerItems {
    /** No names. */
    public static final JerItems NONE = new JerItems(new String[0]);

    private final Map<String, Long> numbers = new HashMap<>();
    private final Map<Long, String> names = new HashMap<>();

    /**
     * Makes the names.
     *
     * @param names the names
     * @param numbers their numbers
     */
    public JerItems(String[] names, long... numbers) {
        for (int i = 0; i < names.length; i++) {
            this.numbers.putIfAbsent(names[i], numbers[i]);
            this.names.putIfAbsent(numbers[i], names[i]);
        }
    }

    @Nullable Long number(String name) {
        return numbers.get(name);
    }

    /**
     * Returns the name of a number.
     *
     * @param number the number
     * @return the name, or null if it has none
     */
    public @Nullable String name(long number) {
        return names.get(number);
    }
}
