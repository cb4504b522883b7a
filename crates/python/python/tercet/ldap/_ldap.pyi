from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import GenericAlias, TracebackType
from typing import Any, BinaryIO, Literal, TypeAlias, TypedDict, TypeVar, final, overload

from typing_extensions import Buffer, Self, Unpack, disjoint_base

from tercet.ldap._values import (
    Control,
    Extended,
    Intermediate,
    Pending,
    Record,
    Recovered,
    Reference,
    Referrals,
    Result,
)
from tercet.ldap._values import Modification as Change
from tercet.ldap.controls import Response, SyncInfo

Found = TypeVar("Found")

Operation: TypeAlias = Coroutine[Any, Any, Found]

Name: TypeAlias = str | Dn
Value: TypeAlias = str | Buffer | bool | int
"""Text in UTF-8, bytes, a number in digits, `TRUE` or `FALSE`."""
Values: TypeAlias = Value | Iterable[Value] | None
Modification: TypeAlias = (
    tuple[Literal["add", "delete", "replace", "increment"], str, Values]
    | tuple[Literal["add", "delete", "replace", "increment"], str]
)
Controls: TypeAlias = Iterable[Control] | None
Pem: TypeAlias = bytes | str | PathLike[str] | None
"""PEM itself if `bytes`, else the path of a file with it."""
Mechanism: TypeAlias = Literal[
    "EXTERNAL",
    "PLAIN",
    "DIGEST-MD5",
    "GSSAPI",
    "GSS-SPNEGO",
    "NTLM",
    "OAUTHBEARER",
    "SCRAM-SHA-1",
    "SCRAM-SHA-1-PLUS",
    "SCRAM-SHA-256",
    "SCRAM-SHA-256-PLUS",
]
Scope: TypeAlias = Literal["base", "one", "sub", "children"]

class ConnectOptions(TypedDict, total=False):
    """How to talk to servers."""

    start_tls: bool
    """Upgrade `ldap` connections by StartTLS, or have none."""
    ca: Pem
    """Whom to trust, instead of those whom the operating system trusts."""
    certificate: Pem
    """The client's own certificate."""
    key: Pem
    """The key of the client's certificate."""
    server_name: str | None
    """The name that the server's certificate has to have, if it is not the host of the URL."""
    verify: bool
    """False takes any certificate, so that anybody in between can read and change all."""
    connect_timeout: float
    """Seconds for the connection itself, with TLS; 10 by default."""
    timeout: float | None
    """Seconds for an answer, and of a search for the next entry; 60 by default, None for ever."""
    keep_alive: float | None
    """Seconds without traffic after which TCP asks whether the server is there; 60 by default, None for never."""
    allow_plain_passwords: bool
    """Allow passwords on connections without encryption to other hosts."""
    referrals: bool | Referrals
    """Follow referrals, anonymously, within limits."""
    max_message: int
    """Bytes of a message from the server at most: 16 MiB by default."""
    scram_iterations: int
    """Iterations of SCRAM that the server may ask for; 100,000 by default."""

class SearchOptions(TypedDict, total=False):
    """The parts of a search request."""

    attributes: str | Iterable[str]
    """The attributes to return; `*` selects all user attributes, `+` all operational ones, `1.1` for none."""
    scope: Scope
    """`sub` by default."""
    deref: Literal["never", "search", "find", "always"]
    """When to follow aliases; `never` by default."""
    size_limit: int
    """Entries at most, kept by the server; 0 for no limit."""
    time_limit: int
    """Seconds at most, kept by the server; 0 for no limit."""
    types_only: bool
    """Attribute types without values."""
    page_size: int | None
    """Fetch pages of so many entries, one after another; what comes out is one stream all the same."""
    timeout: float | None
    """Seconds that the next entry may take, instead of the connection's own limit."""
    controls: Controls

@final
class Dn:
    """A distinguished name (RFC 4514). Two ways to write a name are the same name.

    Raises ParseError.
    """

    def __new__(cls, text: str = "") -> Self: ...
    @property
    def rdns(self) -> list[list[tuple[str, bytes]]]:
        """The RDNs, the leaf first; each as pairs of attribute and value."""
    @property
    def parent(self) -> Dn | None:
        """The name above; None above the root."""
    def child(self, attribute: str, value: Value) -> Dn:
        """The name of what has this attribute and value below this name; the value needs no escapes."""
    def is_within(self, base: Name) -> bool:
        """Reports whether this name is below another, or the same."""
    def normalized(self) -> str:
        """The text that all ways to write this name have in common."""
    def __len__(self) -> int: ...
    def __bool__(self) -> Literal[True]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Url:
    """An LDAP URL (RFC 4516).

    Raises ParseError.
    """

    def __new__(cls, text: str) -> Self: ...
    @staticmethod
    def of(
        *,
        scheme: Literal["ldap", "ldaps", "ldapi", "cldap"] = "ldap",
        host: str = "",
        port: int | None = None,
        dn: Name = "",
        attributes: list[str] | None = None,
        scope: Scope | None = None,
        filter: str | Filter | None = None,
        extensions: list[str] | None = None,
    ) -> Url:
        """A URL of its parts, which need no escapes."""
    @property
    def scheme(self) -> str:
        """The scheme: `ldap`, `ldaps`, `ldapi` or `cldap`."""
    @property
    def host(self) -> str:
        """The host; of `ldapi` the path of a socket."""
    @property
    def port(self) -> int | None:
        """The port, if it is given."""
    @property
    def dn(self) -> str:
        """The distinguished name."""
    @property
    def attributes(self) -> list[str]:
        """The attributes, if any are given."""
    @property
    def scope(self) -> Scope | None:
        """The scope, if it is given."""
    @property
    def filter(self) -> str | None:
        """The filter, if it is given."""
    @property
    def extensions(self) -> list[str]:
        """Extensions as they stand there, with `!` if critical."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@disjoint_base
class Draft:
    """An entry as it was read, and as it is to be: a mapping from attribute descriptions, compared without
    case, to lists of values.

    It is made of a name and attributes, or of an entry that a search has found. Changes are recorded:
    `changes` has those that `modify` takes.

    Raises KeyError for attributes that the entry does not have.
    """

    def __new__(cls, dn: Name | Entry | Record, attributes: Mapping[str, Values] | None = None, /) -> Self: ...
    @property
    def dn(self) -> str:
        """The name of the entry."""
    def __getitem__(self, attribute: str, /) -> list[bytes]: ...
    def __setitem__(self, attribute: str, values: Values, /) -> None: ...
    def __delitem__(self, attribute: str, /) -> None: ...
    def __contains__(self, attribute: object, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def add(self, attribute: str, value: Value) -> None:
        """Adds a value, if it is not there."""
    def remove(self, attribute: str, value: Value) -> None:
        """Removes a value, if it is there."""
    def has_value(self, attribute: str, value: Value) -> bool:
        """Reports whether an attribute has a value, compared by the rule of the attribute."""
    def undo(self) -> None:
        """Goes back to the entry as it was read."""
    def changes(self) -> list[Change]:
        """The modifications from the entry as it was read to the entry as it is to be, as `modify` takes them."""
    def diff(self, to: Draft) -> list[Change]:
        """The modifications from this entry, as it is to be, to another."""
    def apply(self, modifications: Iterable[Modification]) -> None:
        """Makes modifications as a server does: in their order, all or none. With a schema, the rules of the
        schema are kept too.

        Raises ResultError with the code of the server and the number of the modification.
        """

@final
class Schema:
    """A schema: the attribute types and object classes of a server."""

    @staticmethod
    def read(text: str) -> Schema:
        """Reads a schema from LDIF: subschema entries, or the schema partition of Active Directory.

        Raises ParseError.
        """
    @overload
    @staticmethod
    def of(connection: Connection) -> Schema:
        """Reads the schema of a server; with asyncio, the call is awaited.

        Raises ResultError, ParseError.
        """
    @overload
    @staticmethod
    def of(connection: AsyncConnection) -> Operation[Schema]: ...
    @property
    def attribute_types(self) -> list[str]:
        """The names of the attribute types."""
    @property
    def object_classes(self) -> list[str]:
        """The names of the object classes."""

@final
class SchemaDraft(Draft):
    """A draft that is checked and repaired by a schema. Values are compared by the rules of the schema. The
    draft that is given stays as it is."""

    def __new__(cls, draft: Draft, schema: Schema) -> Self: ...
    def allowed(self) -> list[str]:
        """The attributes that the object classes require or allow, sorted."""
    def missing(self) -> list[str]:
        """The attributes that the object classes require and the entry lacks, sorted."""
    def present(self) -> list[str]:
        """The attributes of the entry, sorted."""
    def illegal(self) -> list[str]:
        """The attributes of the entry that its object classes do not allow, sorted."""
    def is_allowed(self, attribute: str) -> bool:
        """Reports whether the object classes require or allow an attribute."""
    def is_missing(self, attribute: str) -> bool:
        """Reports whether the object classes require an attribute that the entry lacks."""
    def check(self) -> list[str]:
        """The rules of the schema that the entry breaks, one text each; empty if there are none."""
    def repair(self, mode: Literal["optimistic", "pessimistic"]) -> list[str]:
        """Repairs the entry, and returns what was done and why. `optimistic` adds object classes that allow
        its attributes, `pessimistic` drops object classes without their superior, and attributes that are
        not allowed."""
    def plan(self, mode: Literal["optimistic", "pessimistic"]) -> list[str]:
        """Returns what `repair` would do, without doing it."""

@final
class Generators:
    """Generators of attributes. Each requires attributes, which may be generated themselves; they run in an
    order in which all that is required is there."""

    def __new__(cls) -> Self: ...
    def add(self, attribute: str, requires: Sequence[str], make: Callable[[Draft], Values]) -> None:
        """Adds the generator of an attribute: the attributes that it requires, and a function that returns the
        values for a draft."""
    def add_from_attribute(self, attribute: str, source: str, before: str = "", after: str = "") -> None:
        """Adds a generator that makes the value of another attribute with a text before and after it, as a
        home directory."""
    def add_login_name(self, attribute: str = "uid", given: str = "givenName", family: str = "sn") -> None:
        """Adds a generator that makes a login name: the first letter of one attribute and another attribute,
        in letters of ASCII."""
    def add_gecos(self, attribute: str = "gecos", source: str = "cn") -> None:
        """Adds a generator that makes the `gecos` of another attribute: ASCII without colons and commas."""
    def add_password(
        self, password: str, scheme: Literal["argon2id", "ssha512"] = "argon2id", attribute: str = "userPassword"
    ) -> None:
        """Adds a generator that makes `userPassword` of a password, by `argon2id` or `ssha512`."""
    def generate(self, draft: Draft, attributes: Sequence[str]) -> list[str]:
        """Generates attributes that an entry lacks, and those that they require; attributes with values stay.
        Returns the names of what was generated, in this order.

        Raises UsageError for unknown attributes and for cycles; what a function raises.
        """

@final
class Services:
    """Sets of attributes that belong together, with the generators of their attributes."""

    def __new__(cls, generators: Generators | None = None) -> Self: ...
    def add(
        self,
        name: str,
        values: Mapping[str, Values] | None = None,
        *,
        generate: Sequence[str] = [],
        depends: Sequence[str] = [],
    ) -> None:
        """Adds a service: values that an entry with it has, attributes that are generated, services on which
        it depends."""
    def add_service(self, draft: Draft, name: str) -> list[str]:
        """Adds a service to an entry, and those on which it depends; twice is once. Returns the names of the
        services of which something was added.

        Raises UsageError for unknown services and for cycles.
        """
    def remove_service(self, draft: Draft, name: str) -> list[str]:
        """Removes a service from an entry, and before it those that depend on it; values that other services
        of the entry have stay. Returns the names of the services that were removed.

        Raises UsageError for unknown services and for cycles.
        """
    def has_service(self, draft: Draft, name: str) -> bool:
        """Reports whether an entry has a service and those on which it depends.

        Raises UsageError for unknown services and for cycles.
        """
    def services(self, draft: Draft) -> list[str]:
        """The names of the services that an entry has.

        Raises UsageError for cycles.
        """

@final
class Filter:
    """A filter of searches (RFC 4515).

    Raises ParseError.
    """

    def __new__(cls, text: str) -> Self: ...
    @staticmethod
    def equal(attribute: str, value: Value) -> Filter:
        """Entries in which an attribute has this value, which needs no escapes."""
    @staticmethod
    def at_least(attribute: str, value: Value) -> Filter:
        """Entries in which an attribute has this value or a greater one."""
    @staticmethod
    def at_most(attribute: str, value: Value) -> Filter:
        """Entries in which an attribute has this value or a lesser one."""
    @staticmethod
    def present(attribute: str) -> Filter:
        """Entries that have an attribute."""
    def matches(self, entry: Draft | Entry | Record) -> bool:
        """Reports whether the filter selects an entry."""
    def __and__(self, other: Filter, /) -> Filter: ...
    def __or__(self, other: Filter, /) -> Filter: ...
    def __rand__(self, other: Filter, /) -> Filter: ...
    def __ror__(self, other: Filter, /) -> Filter: ...
    def __invert__(self) -> Filter: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def escape_filter(value: Value) -> str:
    """Escapes a value for the text of a filter. Text from users has to go through this before it becomes part of
    one; `Filter.equal` does it by itself."""

@final
class Entry(Mapping[str, list[bytes]]):
    """An entry: attribute descriptions, compared without case, with their values.

    It is a view of what was received, and safe to keep; `compact` those that are few of many, as a view keeps all that
    was received with it, up to 256 KiB.
    """

    @property
    def dn(self) -> str:
        """The name of the entry."""
    @property
    def controls(self) -> list[Control]:
        """The controls that came with the entry."""
    def __getitem__(self, attribute: str, /) -> list[bytes]: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def text(self, attribute: str) -> str | None:
        """The first value of an attribute as text; None if there is none.

        Raises UnicodeDecodeError.
        """
    def texts(self, attribute: str) -> list[str]:
        """The values of an attribute as text; empty if there is none."""
    def to_dict(self) -> dict[str, list[bytes]]:
        """All attributes as a `dict`."""
    def ldif(self, *, wrap: int | None = 78) -> bytes:
        """The entry as LDIF with the empty line after it, folded after so many columns; None folds nothing."""
    def compact(self) -> Entry:
        """A copy of the entry in separate memory."""

@final
class Entries(Iterator[Found]):
    """The answers to a search, as they come. Memory stays bounded however many they are; who drops it before its end
    abandons the search."""

    @classmethod
    def __class_getitem__(cls, item: Any) -> GenericAlias: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> Found: ...
    @property
    def references(self) -> list[Reference]:
        """References to other servers that were not followed, a thousand at most."""
    @property
    def result(self) -> Result | None:
        """The server's result, once the search has ended well."""
    def close(self) -> None:
        """Abandons the search."""

@final
class AsyncEntries(AsyncIterator[Found]):
    """The answers to a search, as they come."""

    @classmethod
    def __class_getitem__(cls, item: Any) -> GenericAlias: ...
    def __aiter__(self) -> Self: ...
    def __anext__(self) -> Awaitable[Found]: ...
    @property
    def references(self) -> list[Reference]:
        """References to other servers that were not followed, a thousand at most."""
    @property
    def result(self) -> Result | None:
        """The server's result, once the search has ended well."""
    def aclose(self) -> Operation[None]:
        """Abandons the search."""

@final
class Transaction:
    """Several changes, of which all are made or none: `with connection.transaction(...) as transaction`.

    At the end of the block the changes are made; after an exception none of them is.
    """
    def read(self, dn: Name) -> Draft:
        """Locks an entry and returns it as a draft. With the server's transactions it is not locked: `commit` fails
        if values that change have changed meanwhile.

        Raises Timeout if somebody else has the lock, NoSuchObject.
        """
    def update(self, draft: Draft) -> None:
        """Changes an entry to its draft."""
    def add(self, dn: Name, attributes: Mapping[str, Values]) -> None:
        """Adds an entry."""
    def modify(self, dn: Name, modifications: Iterable[Modification]) -> None:
        """Changes an entry by modifications, as `Connection.modify` takes them."""
    def delete(self, dn: Name) -> None:
        """Deletes an entry. A deletion cannot be undone completely, and requires `allow_irreversible`."""
    def rename(self, dn: Name, new_rdn: Name, *, superior: Name | None = None, delete_old: bool = True) -> None:
        """Gives an entry another name, and with `superior` another place."""
    def apply(self, record: Record | Entry) -> None:
        """Makes the change of a record of LDIF."""
    def commit(self) -> None:
        """Makes all changes, or none.

        Raises TransactionAborted.
        """
    def rollback(self) -> None:
        """Drops the changes and releases the locks."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None: ...

@final
class AsyncTransaction:
    """Several changes, of which all are made or none: `async with connection.transaction(...) as transaction`.

    At the end of the block the changes are made; after an exception none of them is. `read`, `commit` and
    `rollback` are awaited.
    """
    def read(self, dn: Name) -> Operation[Draft]:
        """Locks an entry and returns it as a draft. With the server's transactions it is not locked: `commit` fails
        if values that change have changed meanwhile.

        Raises Timeout if somebody else has the lock, NoSuchObject.
        """
    def update(self, draft: Draft) -> None:
        """Changes an entry to its draft."""
    def add(self, dn: Name, attributes: Mapping[str, Values]) -> None:
        """Adds an entry."""
    def modify(self, dn: Name, modifications: Iterable[Modification]) -> None:
        """Changes an entry by modifications, as `Connection.modify` takes them."""
    def delete(self, dn: Name) -> None:
        """Deletes an entry. A deletion cannot be undone completely, and requires `allow_irreversible`."""
    def rename(self, dn: Name, new_rdn: Name, *, superior: Name | None = None, delete_old: bool = True) -> None:
        """Gives an entry another name, and with `superior` another place."""
    def apply(self, record: Record | Entry) -> None:
        """Makes the change of a record of LDIF."""
    def commit(self) -> Operation[None]:
        """Makes all changes, or none.

        Raises TransactionAborted.
        """
    def rollback(self) -> Operation[None]:
        """Drops the changes and releases the locks."""
    def __aenter__(self) -> Operation[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> Awaitable[None]: ...

@final
class Connection:
    """A connection to a server. It may be used by many threads; their calls take turns."""

    def bind(self, dn: Name = "", password: str = "", *, controls: Controls = None) -> Result:
        """Binds with a name and a password; without either, anonymously.

        Raises UsageError for a password on a connection without encryption to another host, InvalidCredentials."""
    def bind_sasl(
        self,
        mechanism: Mechanism,
        user: str = "",
        password: str = "",
        *,
        authorization: str = "",
        controls: Controls = None,
    ) -> Result:
        """Binds by a SASL mechanism. EXTERNAL takes the user of the TLS certificate or of the socket; names that end in
        `-PLUS` bind the exchange to the TLS channel. GSSAPI is Kerberos, with the tickets of `kinit`, or of the
        principal `user` if given. NTLM takes a user as `DOMAIN\\user` or `user@domain`, and is called GSS-SPNEGO
        with Active Directory. Both are there where this package was built with them."""
    def start_tls(self) -> Result:
        """Encrypts a connection that is open until now, with the certificates that it was made with. While other
        operations are on their way it is a UsageError; if it fails otherwise, the connection ends."""
    @overload
    def search(
        self,
        base: Name,
        filter: str | Filter | None = None,
        *,
        everything: Literal[False] = False,
        **options: Unpack[SearchOptions],
    ) -> Entries[Entry]:
        """Starts a search at a base, for all entries without a filter. With `everything`, references and
        intermediate responses come too.

        Raises ParseError for the filter; the iterator raises ResultError."""
    @overload
    def search(
        self,
        base: Name,
        filter: str | Filter | None = None,
        *,
        everything: Literal[True],
        **options: Unpack[SearchOptions],
    ) -> Entries[Entry | Reference | Intermediate]: ...
    def search_ldif(
        self,
        file: str | PathLike[str] | BinaryIO,
        base: Name,
        filter: str | Filter | None = None,
        *,
        wrap: int | None = 78,
        **options: Unpack[SearchOptions],
    ) -> int:
        """Writes what a search finds as LDIF to a path or a binary file, without making Python objects; gives the
        number of entries. A path is written whole or not at all; a file has the entries that came before a fault."""
    def apply(self, record: Record | Entry, *, controls: Controls = None) -> Result:
        """Applies a record of LDIF, with its controls; an entry is added."""
    def add(self, dn: Name, attributes: Mapping[str, Values], *, controls: Controls = None) -> Result:
        """Adds an entry."""
    def modify(self, dn: Name, modifications: Iterable[Modification], *, controls: Controls = None) -> Result:
        """Changes an entry: `[("replace", "sn", "King"), ("delete", "title"), ("increment", "uidNumber", 1)]`."""
    def delete(self, dn: Name, *, controls: Controls = None) -> Result:
        """Deletes an entry."""
    def rename(
        self,
        dn: Name,
        new_rdn: Name,
        *,
        superior: Name | None = None,
        delete_old: bool = True,
        controls: Controls = None,
    ) -> Result:
        """Gives an entry another name, and with `superior` another place."""
    def compare(self, dn: Name, attribute: str, value: Value, *, controls: Controls = None) -> bool:
        """Reports whether an entry has a value."""
    def modify_password(
        self, user: Name | None = None, *, old: Value | None = None, new: Value | None = None, controls: Controls = None
    ) -> bytes | None:
        """Changes a password (RFC 3062), the own one by default; gives the one that the server made up, if `new`
        is not given."""
    def who_am_i(self, *, controls: Controls = None) -> str:
        """Returns the authorization identity of the connection (RFC 4532): `dn:…`, `u:…`, or an empty text for
        anonymous."""
    def extended(self, name: str, value: Value | None = None, *, controls: Controls = None) -> Extended:
        """Sends an extended operation; returns the answer with any result code."""
    def start_transaction(self) -> bytes:
        """Begins a transaction (RFC 5805). Returns its identifier, for the control `transaction`."""
    def end_transaction(self, identifier: bytes, *, commit: bool = True) -> Result:
        """Ends a transaction."""
    def transaction(
        self,
        *,
        locks: Name | None = None,
        journal: str | PathLike[str] | None = None,
        engine: Literal["auto", "server", "advisory"] = "auto",
        lock_wait: float = 30.0,
        lease: float = 30.0,
        allow_irreversible: bool = False,
    ) -> Transaction:
        """Several changes, of which all are made or none: by transactions of the server (RFC 5805), or by locks, which
        are entries below `locks`, and a `journal`, a folder from which `tercet ldap recover` finishes interrupted
        ones. `engine` is `auto`, `server` or `advisory`; `lock_wait` and `lease` are seconds."""
    def recover(self, journal: str | PathLike[str], *, lock_wait: float = 30.0) -> list[Recovered]:
        """Finishes interrupted transactions of a journal: a folder, or one of its files. Their operations are undone,
        unless all were made. `lock_wait` is the time in seconds for locks that others have taken over.

        Raises Timeout, ParseError, NetworkError; the journal stays then."""
    def with_timeout(self, timeout: float | None) -> Connection:
        """Returns the same connection with another time limit for answers."""
    @property
    def closed(self) -> bool:
        """True after the connection has ended."""
    def close(self) -> None:
        """Ends the connection; operations in progress fail."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

@final
class AsyncConnection:
    """A connection to a server, whose operations are awaited. Several may be on their way at once."""

    def bind(self, dn: Name = "", password: str = "", *, controls: Controls = None) -> Operation[Result]:
        """Binds with a name and a password; without either, anonymously.

        Raises UsageError for a password on a connection without encryption to another host, InvalidCredentials."""
    def bind_sasl(
        self,
        mechanism: Mechanism,
        user: str = "",
        password: str = "",
        *,
        authorization: str = "",
        controls: Controls = None,
    ) -> Operation[Result]:
        """Binds by a SASL mechanism. EXTERNAL takes the user of the TLS certificate or of the socket; names that end in
        `-PLUS` bind the exchange to the TLS channel. GSSAPI is Kerberos, with the tickets of `kinit`, or of the
        principal `user` if given. NTLM takes a user as `DOMAIN\\user` or `user@domain`, and is called GSS-SPNEGO
        with Active Directory. Both are there where this package was built with them."""
    def start_tls(self) -> Operation[Result]:
        """Encrypts a connection that is open until now, with the certificates that it was made with. While other
        operations are on their way it is a UsageError; if it fails otherwise, the connection ends."""
    @overload
    def search(
        self,
        base: Name,
        filter: str | Filter | None = None,
        *,
        everything: Literal[False] = False,
        **options: Unpack[SearchOptions],
    ) -> AsyncEntries[Entry]:
        """Starts a search at a base, for all entries without a filter. With `everything`, references and
        intermediate responses come too.

        Raises ParseError for the filter; the iterator raises ResultError."""
    @overload
    def search(
        self,
        base: Name,
        filter: str | Filter | None = None,
        *,
        everything: Literal[True],
        **options: Unpack[SearchOptions],
    ) -> AsyncEntries[Entry | Reference | Intermediate]: ...
    def search_ldif(
        self,
        file: str | PathLike[str] | BinaryIO,
        base: Name,
        filter: str | Filter | None = None,
        *,
        wrap: int | None = 78,
        **options: Unpack[SearchOptions],
    ) -> Operation[int]:
        """Writes what a search finds as LDIF to a path or a binary file, without making Python objects; gives the
        number of entries. A path is written whole or not at all; a file has the entries that came before a fault."""
    def apply(self, record: Record | Entry, *, controls: Controls = None) -> Operation[Result]:
        """Applies a record of LDIF, with its controls; an entry is added."""
    def add(self, dn: Name, attributes: Mapping[str, Values], *, controls: Controls = None) -> Operation[Result]:
        """Adds an entry."""
    def modify(
        self, dn: Name, modifications: Iterable[Modification], *, controls: Controls = None
    ) -> Operation[Result]:
        """Changes an entry: `[("replace", "sn", "King"), ("delete", "title"), ("increment", "uidNumber", 1)]`."""
    def delete(self, dn: Name, *, controls: Controls = None) -> Operation[Result]:
        """Deletes an entry."""
    def rename(
        self,
        dn: Name,
        new_rdn: Name,
        *,
        superior: Name | None = None,
        delete_old: bool = True,
        controls: Controls = None,
    ) -> Operation[Result]:
        """Gives an entry another name, and with `superior` another place."""
    def compare(self, dn: Name, attribute: str, value: Value, *, controls: Controls = None) -> Operation[bool]:
        """Reports whether an entry has a value."""
    def modify_password(
        self, user: Name | None = None, *, old: Value | None = None, new: Value | None = None, controls: Controls = None
    ) -> Operation[bytes | None]:
        """Changes a password (RFC 3062), the own one by default; gives the one that the server made up, if `new`
        is not given."""
    def who_am_i(self, *, controls: Controls = None) -> Operation[str]:
        """Returns the authorization identity of the connection (RFC 4532): `dn:…`, `u:…`, or an empty text for
        anonymous."""
    def extended(self, name: str, value: Value | None = None, *, controls: Controls = None) -> Operation[Extended]:
        """Sends an extended operation; returns the answer with any result code."""
    def start_transaction(self) -> Operation[bytes]:
        """Begins a transaction (RFC 5805). Returns its identifier, for the control `transaction`."""
    def end_transaction(self, identifier: bytes, *, commit: bool = True) -> Operation[Result]:
        """Ends a transaction."""
    def transaction(
        self,
        *,
        locks: Name | None = None,
        journal: str | PathLike[str] | None = None,
        engine: Literal["auto", "server", "advisory"] = "auto",
        lock_wait: float = 30.0,
        lease: float = 30.0,
        allow_irreversible: bool = False,
    ) -> AsyncTransaction:
        """Several changes, of which all are made or none: by transactions of the server (RFC 5805), or by locks, which
        are entries below `locks`, and a `journal`, a folder from which `tercet ldap recover` finishes interrupted
        ones. `engine` is `auto`, `server` or `advisory`; `lock_wait` and `lease` are seconds."""
    def recover(self, journal: str | PathLike[str], *, lock_wait: float = 30.0) -> Operation[list[Recovered]]:
        """Finishes interrupted transactions of a journal: a folder, or one of its files. Their operations are undone,
        unless all were made. `lock_wait` is the time in seconds for locks that others have taken over.

        Raises Timeout, ParseError, NetworkError; the journal stays then."""
    def with_timeout(self, timeout: float | None) -> AsyncConnection:
        """Returns the same connection with another time limit for answers."""
    @property
    def closed(self) -> bool:
        """True after the connection has ended."""
    def close(self) -> None:
        """Ends the connection; operations in progress fail."""
    def __aenter__(self) -> Awaitable[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None, /
    ) -> Awaitable[None]: ...

def connect(*urls: str | Url, **options: Unpack[ConnectOptions]) -> Connection:
    """Connects to the first of these servers that can be reached: `ldap://`, `ldaps://`, `ldapi://`, and
    `ldap:///dc=…` for those of a domain.

    Raises NetworkError, TlsError, Timeout; of several servers, for the last one.
    """

def connect_async(*urls: str | Url, **options: Unpack[ConnectOptions]) -> Operation[AsyncConnection]:
    """The same, to be awaited."""

def pending(journal: str | PathLike[str]) -> list[Pending]:
    """The transactions that have a journal in a folder: interrupted ones, and those that go on at this moment.

    `Connection.recover` finishes them.

    Raises ParseError, NetworkError if a file cannot be read.
    """

class Stopped(Exception):
    """The client takes no more entries of a search."""

@final
class Responder:
    """Where answers of a handler go."""
    def entry(self, entry: Draft | Entry | Record) -> Awaitable[None] | None:
        """Sends an entry. If it has to wait for the client, an awaitable is returned.

        Raises Stopped."""
    def done(
        self,
        code: int,
        message: str,
        matched_dn: str,
        referrals: list[str],
        controls: Iterable[Control],
        identity: str | None,
        credentials: bytes | None,
        name: str | None,
        value: bytes | None,
    ) -> None:
        """Ends the request."""

@final
class Serving:
    """A server that listens."""
    @property
    def url(self) -> str:
        """The URL to connect to."""
    def close(self, timeout: float) -> bool:
        """Stops; reports whether all requests ended in so many seconds."""

def serve(
    start: Callable[[str, tuple[Any, ...], tuple[Any, ...], Responder], Any],
    listen: str,
    controls: list[str],
    root: dict[str, list[str]],
    certificate: Pem,
    key: Pem,
    ldaps: bool,
    max_connections: int | None,
    idle: float | None,
) -> Serving:
    """Listens, and calls `start` for each request."""

def search_cldap(
    url: str | Url, base: Name = "", filter: str | Filter | None = None, **options: Unpack[SearchOptions]
) -> list[Entry]:
    """Searches by datagrams (LDAP over UDP), as domain controllers of Active Directory answer them: `cldap://` and the
    host, or several with spaces between, which are asked in turn. The scope is `base` by default; `timeout` is the
    time that a server has, 6 seconds by default. Nothing is bound or encrypted: who sees the request can answer.

    Raises Timeout, NetworkError, LimitError, UsageError, and ResultError as any search.
    """

def search_cldap_async(
    url: str | Url, base: Name = "", filter: str | Filter | None = None, **options: Unpack[SearchOptions]
) -> Operation[list[Entry]]:
    """The same, to be awaited."""

@final
class Directory:
    """A directory in memory that listens on this host until it is closed, for tests.

    It has no schema, and lets anybody write unless there is a root user. LDIF is given as `str` or `bytes`, or as the
    `Path` of a file. `root` is the name and password of the one user who may write then. With a certificate and its key
    there is StartTLS, or TLS at once with `ldaps`. `socket` is the path of a local socket to listen on instead of
    `listen`. With `cldap`, searches by datagrams are answered and nothing else.

    Raises ParseError, UsageError, OSError.
    """

    def __new__(
        cls,
        ldif: str | bytes | Path | None = None,
        *,
        root: tuple[str, str] | None = None,
        certificate: Pem = None,
        key: Pem = None,
        ldaps: bool = False,
        listen: str = "127.0.0.1:0",
        socket: str | PathLike[str] | None = None,
        cldap: bool = False,
    ) -> Self: ...
    @property
    def url(self) -> str:
        """The URL to connect to."""
    def load(self, ldif: str | bytes | Path) -> int:
        """Takes in more LDIF, content and changes; gives the number of records."""
    def close(self) -> None:
        """Stops; connections to it end."""
    def __len__(self) -> int: ...
    def __bool__(self) -> Literal[True]: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

@final
class LdifReader(Iterator[Record]):
    """The records of LDIF."""
    def __new__(
        cls, source: str | bytes | Path | BinaryIO, *, max_line: int = 67_108_864, read_files: bool = False
    ) -> Self: ...
    def __next__(self) -> Record: ...

def ldif_text(record: Record | Entry, wrap: int | None) -> bytes:
    """An entry or a record as LDIF."""

def ldif_difference(before: Iterable[Record | Entry], after: Iterable[Record | Entry]) -> list[Record]:
    """Changes that make entries of others."""

def read_control(control: Control) -> Response | None:
    """Returns the parsed control of an answer; None for an unknown one."""

def read_sync_info(name: str | None, value: bytes | None) -> SyncInfo | None:
    """Returns the state in an intermediate response of content synchronization; None for another kind."""

def manage_dsa_it() -> Control:
    """Referral objects are taken as the entries that they are (RFC 3296)."""

def tree_delete() -> Control:
    """An entry is deleted with all below it (draft-armijo-ldap-treedelete)."""

def relax() -> Control:
    """Schema and other rules are relaxed (draft-zeilenga-ldap-relax)."""

def domain_scope() -> Control:
    """Active Directory does not refer to other domains."""

def dont_use_copy() -> Control:
    """The server does not answer from a copy (RFC 6171)."""

def password_policy() -> Control:
    """Asks for `PasswordPolicy` in the answer."""

def authorization_identity() -> Control:
    """Asks for the authorization identity in the answer to a bind (RFC 3829)."""

def no_op() -> Control:
    """The request is checked and not done (draft-zeilenga-ldap-noop)."""

def paged_results(size: int, cookie: bytes | None = None, *, critical: bool = False) -> Control:
    """A page of a search (RFC 2696); `page_size` of a search does all of them."""

def sort(*keys: str, critical: bool = False) -> Control:
    """Sorting by the server (RFC 2891), by keys in the form `[-]attribute[:rule]`."""

def virtual_list_view(
    before: int,
    after: int,
    *,
    offset: int | None = None,
    count: int = 0,
    value: Value | None = None,
    context: bytes | None = None,
) -> Control:
    """A part of a sorted list, around the entry at an offset or with a value (draft-ietf-ldapext-ldapv3-vlv)."""

def sync(*, persist: bool = False, cookie: bytes | None = None, reload_hint: bool = False) -> Control:
    """Content synchronization (RFC 4533); with `persist`, the search goes on and reports changes."""

def matched_values(*filters: str | Filter) -> Control:
    """Only values that one of these filters selects are returned (RFC 3876)."""

def assertion(filter: str | Filter) -> Control:
    """The operation is done only if the filter selects its entry (RFC 4528)."""

def proxied_authorization(identity: str) -> Control:
    """The operation is done as somebody else (RFC 4370): `dn:…`, `u:…`, or empty for anonymous."""

def subentries(visible: bool = True) -> Control:
    """Only subentries, or only others, are returned (RFC 3672)."""

def pre_read(*attributes: str) -> Control:
    """The entry before the change, as far as these attributes (RFC 4527)."""

def post_read(*attributes: str) -> Control:
    """The entry after the change, as far as these attributes (RFC 4527)."""

def persistent_search(change_types: int = 15, *, changes_only: bool = True, return_changes: bool = True) -> Control:
    """The search goes on and reports changes (draft-ietf-ldapext-psearch): 1 add, 2 delete, 4 modify, 8 modify DN."""

def dir_sync(cookie: bytes | None = None, *, flags: int = 0, max_bytes: int = 0) -> Control:
    """Changes of Active Directory since a cookie."""

def dereference(wanted: Mapping[str, Sequence[str]]) -> Control:
    """Adds the entries that found ones name, with their `wanted` attributes (draft-masarati-ldap-deref)."""

def session_tracking(
    identifier: str,
    *,
    address: str = "",
    host: str = "",
    format: Literal["username", "radius-session", "radius-multi-session"] = "username",
) -> Control:
    """Names to the server, for its log, the user of the client (draft-wahl-ldap-session)."""

def transaction(identifier: bytes) -> Control:
    """The operation is part of a transaction (RFC 5805)."""
