package io.tercet.runtime;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
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

    /**
     * Makes the names of many numbers, for which an array would need too much code.
     *
     * @param parts names, each followed by its number, separated by spaces
     * @return the names
     */
    public static JerItems of(String... parts) {
        List<String> names = new ArrayList<>();
        List<Long> numbers = new ArrayList<>();
        for (String part : parts) {
            String[] words = part.split(" ");
            for (int i = 0; i + 1 < words.length; i += 2) {
                names.add(words[i]);
                numbers.add(Long.valueOf(words[i + 1]));
            }
        }
        return new JerItems(
                names.toArray(new String[0]), numbers.stream().mapToLong(Long::longValue).toArray());
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
