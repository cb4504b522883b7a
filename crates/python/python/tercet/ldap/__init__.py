"""A client of LDAP directories, and a directory in memory for tests.

>>> from tercet import ldap
>>> with ldap.Directory("dn: o=test\\nobjectClass: organization\\no: test\\n") as directory:
...     with ldap.connect(directory.url) as connection:
...         for entry in connection.search("o=test", "(o=*)"):
...             print(entry.dn, entry["o"], entry.text("objectClass"))
o=test [b'test'] organization

``tercet.ldap.aio`` is the same with asyncio, ``tercet.ldap.ldif`` reads and writes LDIF, ``tercet.ldap.controls`` has
the controls that requests may come with.
"""

from collections.abc import Mapping

from tercet.ldap._errors import (
    AlreadyExists,
    AssertionFailed,
    AuthError,
    ClosedError,
    Error,
    InsufficientAccess,
    InvalidCredentials,
    LimitError,
    NetworkError,
    NoSuchAttribute,
    NoSuchObject,
    ParseError,
    ProtocolError,
    ReferralReceived,
    ResultError,
    SchemaViolation,
    SizeLimitExceeded,
    TimeLimitExceeded,
    Timeout,
    TlsError,
    TransactionAborted,
    Unavailable,
    UsageError,
)
from tercet.ldap._ldap import (
    Connection,
    Directory,
    Dn,
    Draft,
    Entries,
    Entry,
    Filter,
    Generators,
    Schema,
    SchemaDraft,
    Services,
    Transaction,
    Url,
    connect,
    escape_filter,
    search_cldap,
)
from tercet.ldap._values import (
    Control,
    Extended,
    Intermediate,
    Modification,
    Record,
    Reference,
    Referrals,
    Result,
    ResultCode,
)

Mapping.register(Entry)
Mapping.register(Draft)

__all__ = [
    "AlreadyExists",
    "AssertionFailed",
    "AuthError",
    "ClosedError",
    "Connection",
    "Control",
    "Directory",
    "Dn",
    "Draft",
    "Entries",
    "Entry",
    "Error",
    "Extended",
    "Filter",
    "Generators",
    "InsufficientAccess",
    "Intermediate",
    "InvalidCredentials",
    "LimitError",
    "Modification",
    "NetworkError",
    "NoSuchAttribute",
    "NoSuchObject",
    "ParseError",
    "ProtocolError",
    "Record",
    "Reference",
    "ReferralReceived",
    "Referrals",
    "Result",
    "ResultCode",
    "ResultError",
    "Schema",
    "SchemaDraft",
    "SchemaViolation",
    "Services",
    "SizeLimitExceeded",
    "TimeLimitExceeded",
    "Timeout",
    "TlsError",
    "Transaction",
    "TransactionAborted",
    "Unavailable",
    "Url",
    "UsageError",
    "connect",
    "escape_filter",
    "search_cldap",
]

# As in the package around it.
for _name in __all__:
    if globals()[_name].__module__ != __name__:
        globals()[_name].__module__ = __name__
del _name
