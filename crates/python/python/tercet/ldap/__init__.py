"""A client of LDAP directories, and a directory in memory for tests.

>>> from tercet import ldap
>>> with ldap.Directory("dn: o=test\\nobjectClass: organization\\no: test\\n") as directory:
...     with ldap.connect(directory.url) as connection:
...         for entry in connection.search("o=test", "(o=*)"):
...             print(entry.dn, entry["o"], entry.text("objectClass"))
o=test [b'test'] organization

``tercet.ldap.Server`` is a server whose requests a handler in Python answers; ``tercet.ldap.server`` has the requests.
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
    pending,
    search_cldap,
)
from tercet.ldap._server import Answer, Context, Handler, Refused, Server
from tercet.ldap._values import (
    Control,
    Extended,
    Intermediate,
    Modification,
    Pending,
    Record,
    Recovered,
    Reference,
    Referrals,
    Result,
    ResultCode,
)

Mapping.register(Entry)
Mapping.register(Draft)

__all__ = [
    "AlreadyExists",
    "Answer",
    "AssertionFailed",
    "AuthError",
    "ClosedError",
    "Connection",
    "Context",
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
    "Handler",
    "InsufficientAccess",
    "Intermediate",
    "InvalidCredentials",
    "LimitError",
    "Modification",
    "NetworkError",
    "NoSuchAttribute",
    "NoSuchObject",
    "ParseError",
    "Pending",
    "ProtocolError",
    "Record",
    "Recovered",
    "Reference",
    "ReferralReceived",
    "Referrals",
    "Refused",
    "Result",
    "ResultCode",
    "ResultError",
    "Schema",
    "SchemaDraft",
    "SchemaViolation",
    "Server",
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
    "pending",
    "search_cldap",
]

# As in the package around it.
for _name in __all__:
    if globals()[_name].__module__ != __name__:
        globals()[_name].__module__ = __name__
del _name
