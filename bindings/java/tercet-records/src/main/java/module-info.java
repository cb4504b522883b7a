/** Files of ASN.1 records for Java code that Tercet generates. */
module io.tercet.records {
    requires transitive io.tercet.runtime;

    exports io.tercet.records;
}
