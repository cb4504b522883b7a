"""Decode, encode and convert ASN.1 data, and read files of call records.

>>> import tercet
>>> schema = tercet.Schema.parse("A DEFINITIONS AUTOMATIC TAGS ::= BEGIN Age ::= INTEGER (0..150) END")
>>> schema.decode("Age", "ber", b"\\x02\\x01\\x21")
33
>>> schema.encode("Age", "uper", 33).hex()
'21'
"""

from tercet._errors import DecodeError, EncodeError, Error, RejectError, SchemaError
from tercet._index import splits
from tercet._polars import scan_polars
from tercet._tercet import (
    BitString,
    Codec,
    Record,
    Schema,
    Table,
    Tables,
    __version__,
    iter_records,
    read,
    read_tables,
)
from tercet._values import Balance, Diagnostic, Real, Reject, Report, Split, Total, Unknown, Violation

__all__ = [
    "Balance",
    "BitString",
    "Codec",
    "DecodeError",
    "Diagnostic",
    "EncodeError",
    "Error",
    "Real",
    "Record",
    "Reject",
    "RejectError",
    "Report",
    "Schema",
    "SchemaError",
    "Split",
    "Table",
    "Tables",
    "Total",
    "Unknown",
    "Violation",
    "__version__",
    "iter_records",
    "read",
    "read_tables",
    "scan_polars",
    "splits",
]
