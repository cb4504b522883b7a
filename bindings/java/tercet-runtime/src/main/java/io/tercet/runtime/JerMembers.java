package io.tercet.runtime;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** The members that the JSON object of a SEQUENCE, SET or CHOICE has (X.697 clauses 27, 29, 31). For generated code. */
public class JerMembers {
    /** A bit of a component's number that has to be there; the other bits are the number of its version bracket, or zero. */
    public static final int REQUIRED = 1;

    /** From so many members on names are looked up by hashing. */
    private static final int MANY = 12;

    /** So many members are compared with a name before that. */
    private static final int NEAR = 2;

    private final Components place;
    private final boolean choice;
    private final boolean extensible;
    private final int[] presence;
    private final byte[][] keys;
    private final @Nullable Map<String, Integer> numbers;

    /**
     * Makes the members of a type.
     *
     * @param place the names of the components
     * @param choice whether the type is a CHOICE
     * @param extensible whether members that the type does not know are skipped
     * @param presence for each component {@link #REQUIRED}, and twice the number of the version bracket that it is in
     */
    public JerMembers(Components place, boolean choice, boolean extensible, int... presence) {
        this.place = place;
        this.choice = choice;
        this.extensible = extensible;
        this.presence = presence;
        keys = new byte[place.size()][];
        numbers = keys.length < MANY ? null : new HashMap<>();
        for (int i = 0; i < keys.length; i++) {
            keys[i] = place.name(i).getBytes(StandardCharsets.UTF_8);
            if (numbers != null) {
                numbers.put(place.name(i), i);
            }
        }
    }

    /**
     * Returns the number of components or alternatives.
     *
     * @return the number
     */
    public final int size() {
        return keys.length;
    }

    /**
     * Returns whether the type is a CHOICE.
     *
     * @return whether it is
     */
    public final boolean isChoice() {
        return choice;
    }

    /**
     * Returns the members of a component that is a SEQUENCE, SET or CHOICE itself.
     *
     * @param number the number of the component
     * @return its members, or null for a component of another type
     */
    public @Nullable JerMembers part(int number) {
        return null;
    }

    final boolean isExtensible() {
        return extensible;
    }

    /**
     * Returns the name of a component in the specification.
     *
     * @param number the number of the component
     * @return the name
     */
    public final String name(int number) {
        return place.name(number);
    }

    /** The name as it is written. */
    final byte[] key(int number) {
        return keys[number];
    }

    /** The member that a string names, or -1; {@code probably} is the one to try first. */
    final int find(JsonText text, int token, int probably) {
        // Most texts have the components in the order of the type, with a few absent.
        for (int i = probably; i < Math.min(probably + NEAR, keys.length); i++) {
            if (text.is(token, keys[i])) {
                return i;
            }
        }
        String name = text.string(token);
        if (numbers != null) {
            return numbers.getOrDefault(name, -1);
        }
        for (int i = 0; i < keys.length; i++) {
            if (place.name(i).equals(name)) {
                return i;
            }
        }
        return -1;
    }

    /** Whether an absent component must be there: one of the root, or of a version bracket of which another is present. */
    final boolean isMissing(int number, int[] found) {
        int own = presence[number];
        if (found[number] >= 0 || (own & REQUIRED) == 0) {
            return false;
        }
        if (own == REQUIRED) {
            return true;
        }
        for (int i = 0; i < presence.length; i++) {
            if (found[i] >= 0 && (presence[i] | REQUIRED) == own) {
                return true;
            }
        }
        return false;
    }
}
