package io.tercet.runtime;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The rows of a table constraint (X.682 clause 10) by their keys. For generated code. */
public final class TableRows {
    private final Map<Object, Integer> rows = new HashMap<>();

    /** Makes a table without rows. */
    public TableRows() {}

    /**
     * Adds a row; of several with the same keys the first counts.
     *
     * @param row the number of the row
     * @param keys its keys
     */
    public void add(int row, TableKey... keys) {
        rows.putIfAbsent(keys.length == 1 ? keys[0] : List.of(keys), row);
    }

    /**
     * Returns the row with a key.
     *
     * @param key the key
     * @return the number of the row, or -1
     */
    public int find(TableKey key) {
        return rows.getOrDefault(key, -1);
    }

    /**
     * Returns the row with several keys.
     *
     * @param keys the keys
     * @return the number of the row, or -1
     */
    public int find(TableKey... keys) {
        return rows.getOrDefault(keys.length == 1 ? keys[0] : List.of(keys), -1);
    }
}
