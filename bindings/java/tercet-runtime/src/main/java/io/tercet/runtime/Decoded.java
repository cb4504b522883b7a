package io.tercet.runtime;

/**
 * A value that was read from the front of an input.
 *
 * @param <T> the type of the value
 * @param value the value
 * @param length the number of bytes that it took
 */
public record Decoded<T>(T value, int length) {}
