"""Decode, encode and convert ASN.1 data, and read files of call records.

>>> import tercet
>>> schema = tercet.Schema.parse("A DEFINITIONS AUTOMATIC TAGS ::= BEGIN Age ::= INTEGER (0..150) END")
>>> schema.decode("Age", "ber", b"\\x02\\x01\\x21")
33
>>> schema.encode("Age", "uper", 33).hex()
'21'
"""

from collections.abc import Mapping as _Mapping

from tercet._errors import (
    ArgumentError,
    CodecError,
    DecodeError,
    DirectoryError,
    EncodeError,
    Error,
    ExistingFileError,
    FileError,
    ForbiddenFileError,
    InternalError,
    MissingFileError,
    NoDirectoryError,
    PackageError,
    RangeError,
    RejectError,
    SchemaError,
)
from tercet._index import splits
from tercet._polars import scan_polars
from tercet._tercet import (
    ArrowSchema,
    Batch,
    Batches,
    BitString,
    Capture,
    CaptureMessage,
    CaptureMessages,
    Codec,
    HeldTable,
    LazyDict,
    Record,
    Records,
    Schema,
    Shown,
    Table,
    TableBatches,
    Tables,
    __version__,
    capture,
    detect,
    doctor,
    iter_records,
    read,
    read_tables,
)
from tercet._values import (
    Balance,
    Candidate,
    Diagnosis,
    Diagnostic,
    Mark,
    Marked,
    Part,
    Real,
    Reject,
    Report,
    Split,
    Total,
    Unknown,
    Violation,
    Way,
)

__all__ = [
    "ArgumentError",
    "ArrowSchema",
    "Balance",
    "Batch",
    "Batches",
    "BitString",
    "Candidate",
    "Capture",
    "CaptureMessage",
    "CaptureMessages",
    "Codec",
    "CodecError",
    "DecodeError",
    "Diagnosis",
    "Diagnostic",
    "DirectoryError",
    "EncodeError",
    "Error",
    "ExistingFileError",
    "FileError",
    "ForbiddenFileError",
    "HeldTable",
    "InternalError",
    "LazyDict",
    "Mark",
    "Marked",
    "MissingFileError",
    "NoDirectoryError",
    "PackageError",
    "Part",
    "RangeError",
    "Real",
    "Record",
    "Records",
    "Reject",
    "RejectError",
    "Report",
    "Schema",
    "SchemaError",
    "Shown",
    "Split",
    "Table",
    "TableBatches",
    "Tables",
    "Total",
    "Unknown",
    "Violation",
    "Way",
    "__version__",
    "capture",
    "detect",
    "doctor",
    "iter_records",
    "read",
    "read_tables",
    "scan_polars",
    "splits",
]

# The modules with an underscore are private: tracebacks and pickles name this one.
for _name in __all__:
    if getattr(globals()[_name], "__module__", __name__) != __name__:
        globals()[_name].__module__ = __name__
del _name

_Mapping.register(LazyDict)
