"""Decode, encode and convert ASN.1 data, and read files of call records.

>>> import tercet
>>> schema = tercet.Schema.parse("A DEFINITIONS AUTOMATIC TAGS ::= BEGIN Age ::= INTEGER (0..150) END")
>>> schema.decode("Age", "ber", b"\\x02\\x01\\x21")
33
>>> schema.encode("Age", "uper", 33).hex()
'21'
"""

from tercet._errors import DecodeError, EncodeError, Error, SchemaError
from tercet._tercet import BitString, Codec, Schema, __version__
from tercet._values import Diagnostic, Real, Unknown, Violation

__all__ = [
    "BitString",
    "Codec",
    "DecodeError",
    "Diagnostic",
    "EncodeError",
    "Error",
    "Real",
    "Schema",
    "SchemaError",
    "Unknown",
    "Violation",
    "__version__",
]
