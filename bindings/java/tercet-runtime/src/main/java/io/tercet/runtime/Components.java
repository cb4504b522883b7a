package io.tercet.runtime;

/** The components of a SEQUENCE, SET or CHOICE, for errors. For generated code. */
public class Components {
    /** No components. */
    public static final Components NONE = new Components();

    /** A bit in the number of a component that has to be there: the element of another may be in its place. */
    public static final int REQUIRED = 1 << 20;

    /** A bit in the number of a component of any type that has to be there: it may have every tag. */
    public static final int ANY = 1 << 21;

    /** The positions of required components where there are none. */
    public static final int[] OPTIONAL = {};

    private final String[] names;

    /**
     * Makes a place.
     *
     * @param names the names of the components in the specification
     */
    public Components(String... names) {
        this.names = names;
    }

    /**
     * Returns the first component from one on that may begin with a tag.
     *
     * @param tag the tag
     * @param from the number of the first component to look at
     * @return the number of the component, or -1
     */
    public int find(int tag, int from) {
        return -1;
    }

    /** The number of components. */
    final int size() {
        return names.length;
    }

    /**
     * Returns the name of a component.
     *
     * @param number its number
     * @return the name
     */
    public final String name(int number) {
        return names[number];
    }

    /**
     * Returns the components of a value that are there, for people.
     *
     * @param type the name of the type
     * @param values the values of the components in order, and additions of later versions where the type is extensible
     * @return the text
     */
    public final String show(String type, Object[] values) {
        StringBuilder out = new StringBuilder(type).append('[');
        String comma = "";
        for (int i = 0; i < values.length; i++) {
            boolean isKnown = i < names.length;
            if (values[i] != null && (isKnown || values[i] != UnknownAdditions.NONE)) {
                out.append(comma).append(isKnown ? names[i] : "unknownAdditions").append('=').append(values[i]);
                comma = ", ";
            }
        }
        return out.append(']').toString();
    }
}
