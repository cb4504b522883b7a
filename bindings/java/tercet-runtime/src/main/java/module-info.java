/** The runtime of Java code that Tercet generates for ASN.1. */
module io.tercet.runtime {
    exports io.tercet.runtime;
}
