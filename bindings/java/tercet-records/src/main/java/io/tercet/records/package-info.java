/**
 * Files of ASN.1 records: {@link io.tercet.records.RecordReader} reads them, {@link io.tercet.records.CsvWriter} and
 * {@link io.tercet.records.XmlWriter} write what they hold.
 */
package io.tercet.records;
