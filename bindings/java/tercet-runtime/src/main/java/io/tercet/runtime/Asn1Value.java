package io.tercet.runtime;

/** A value of a generated type. Values are immutable and may be shared between threads. */
public interface Asn1Value {}
