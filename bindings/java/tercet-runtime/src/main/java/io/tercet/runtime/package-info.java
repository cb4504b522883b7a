/**
 * What Java code of {@code tercet compile --language java} is made of: {@link io.tercet.runtime.Asn1Type} decodes and encodes
 * values, {@link io.tercet.runtime.Asn1Exception} tells what is wrong with an input, where, and on which path.
 *
 * <p>Types whose documentation says "for generated code" are public since generated code is in packages of its own.
 */
package io.tercet.runtime;
