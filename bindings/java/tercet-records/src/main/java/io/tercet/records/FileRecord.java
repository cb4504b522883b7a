package io.tercet.records;

import io.tercet.runtime.Octets;
import io.tercet.runtime.Rules;

/**
 * A record of a file.
 *
 * @param <T> the class of the value
 * @param value the value
 * @param number the number of the record in the file, from 0
 * @param offset the position of its first byte in the file
 * @param octets its bytes
 * @param rules the encoding rules that it was read by
 */
public record FileRecord<T>(T value, long number, long offset, Octets octets, Rules rules) {}
