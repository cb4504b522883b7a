package io.tercet.runtime;

import java.util.AbstractList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.RandomAccess;

/** Lists that do not change. For generated code. */
public final class Lists {
    private static final Object[] NOTHING = {};

    private Lists() {}

    /**
     * Returns the list of the first elements of an array, which must not be changed any more.
     *
     * @param <T> the type of the elements
     * @param elements the array
     * @param count the number of elements
     * @return the list
     */
    public static <T> List<T> of(Object[] elements, int count) {
        Object[] exact = count == 0 ? NOTHING : count == elements.length ? elements : Arrays.copyOf(elements, count);
        return new Fixed<>(exact);
    }

    /**
     * Returns a list that does not change with the elements of another one.
     *
     * @param <T> the type of the elements
     * @param list the other one
     * @param name the component, for the message
     * @return the list; itself if it does not change
     * @throws NullPointerException if the list or an element is null
     */
    public static <T> List<T> copy(List<T> list, String name) {
        if (Objects.requireNonNull(list, name) instanceof Fixed<T>) {
            return list;
        }
        Object[] elements = list.toArray();
        for (Object element : elements) {
            Objects.requireNonNull(element, name);
        }
        return new Fixed<>(elements);
    }

    /**
     * Returns a list that does not change, or null for a component that is absent.
     *
     * @param <T> the type of the elements
     * @param list the other one
     * @param name the component, for the message
     * @return the list or null
     */
    public static <T> @Nullable List<T> copyOrNull(@Nullable List<T> list, String name) {
        return list == null ? null : copy(list, name);
    }

    /**
     * Returns an array with room for one element more.
     *
     * @param elements the array
     * @param count the number of elements in it
     * @return the array, or a larger one
     */
    public static Object[] room(Object[] elements, int count) {
        return count < elements.length ? elements : Arrays.copyOf(elements, count + (count >> 1) + 4);
    }

    private static final class Fixed<T> extends AbstractList<T> implements RandomAccess {
        private final Object[] elements;

        Fixed(Object[] elements) {
            this.elements = elements;
        }

        @Override
        @SuppressWarnings("unchecked")
        public T get(int index) {
            return (T) elements[index];
        }

        @Override
        public int size() {
            return elements.length;
        }

        @Override
        public Object[] toArray() {
            return Arrays.copyOf(elements, elements.length, Object[].class);
        }
    }
}
