package io.tercet.runtime;

/** The value of NULL (X.680 clause 24). */
public enum Null {
    /** The one value. */
    NULL
}
