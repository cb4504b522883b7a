"""Controls: those that requests may come with, and what those of answers say.

>>> from tercet.ldap import controls
>>> controls.sort("-cn", "sn").oid
'1.2.840.113556.1.4.473'
>>> controls.find([controls.paged_results(500)], controls.PagedResults)
PagedResults(size=500, cookie=b'')
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from tercet._errors import ArgumentError
from tercet.ldap import _ldap
from tercet.ldap._ldap import (
    assertion,
    authorization_identity,
    dereference,
    dir_sync,
    domain_scope,
    dont_use_copy,
    manage_dsa_it,
    matched_values,
    no_op,
    paged_results,
    password_policy,
    persistent_search,
    post_read,
    pre_read,
    proxied_authorization,
    relax,
    session_tracking,
    sort,
    subentries,
    sync,
    transaction,
    tree_delete,
    virtual_list_view,
)
from tercet.ldap._values import Control, Intermediate

__all__ = [
    "Dereferenced",
    "DirSync",
    "EntryChange",
    "ListView",
    "PagedResults",
    "PasswordPolicy",
    "PostRead",
    "PreRead",
    "Referent",
    "Response",
    "SortResult",
    "SyncDone",
    "SyncInfo",
    "SyncState",
    "assertion",
    "authorization_identity",
    "dereference",
    "dir_sync",
    "domain_scope",
    "dont_use_copy",
    "find",
    "manage_dsa_it",
    "matched_values",
    "no_op",
    "paged_results",
    "password_policy",
    "persistent_search",
    "post_read",
    "pre_read",
    "proxied_authorization",
    "read",
    "relax",
    "session_tracking",
    "sort",
    "subentries",
    "sync",
    "sync_info",
    "transaction",
    "tree_delete",
    "virtual_list_view",
]


class PagedResults(NamedTuple):
    """A page of a search (RFC 2696)."""

    size: int
    """An estimate of all entries; 0 if the server does not know."""
    cookie: bytes
    """The cookie for the next request; empty at the end."""


class SortResult(NamedTuple):
    """The result of sorting (RFC 2891)."""

    code: int
    attribute: str | None
    """The attribute at fault."""


class ListView(NamedTuple):
    """The position of a list view (draft-ietf-ldapext-ldapv3-vlv)."""

    position: int
    """Position of the target."""
    entries: int
    """Of the whole list."""
    code: int
    context: bytes | None
    """The value for the next request."""


class SyncState(NamedTuple):
    """The change of an entry (RFC 4533 2.3); it comes with the entry."""

    state: Literal["present", "add", "modify", "delete"]
    uuid: bytes
    cookie: bytes | None


class SyncDone(NamedTuple):
    """The end of a refresh (RFC 4533 2.4)."""

    cookie: bytes | None
    refresh_deletes: bool
    """True if the server lists deleted entries; otherwise all entries that it does not list are deleted."""


class SyncInfo(NamedTuple):
    """An intermediate response of content synchronization (RFC 4533 2.5)."""

    kind: Literal["new-cookie", "refresh-delete", "refresh-present", "present", "deleted"]
    cookie: bytes | None
    done: bool
    """True if the whole refresh ends."""
    ids: list[bytes]
    """Entries that are present, or deleted."""


class PreRead(NamedTuple):
    """The entry before the change (RFC 4527)."""

    dn: str
    attributes: dict[str, list[bytes]]


class PostRead(NamedTuple):
    """The entry after the change (RFC 4527)."""

    dn: str
    attributes: dict[str, list[bytes]]


class PasswordPolicy(NamedTuple):
    """The server's report on a password (draft-behera-ldap-password-policy)."""

    expires_in: int | None
    """Seconds until the password expires."""
    grace_logins: int | None
    """Binds that are left with an expired password."""
    error: int | None
    message: str | None
    """The error in words."""


class EntryChange(NamedTuple):
    """The change of an entry of a persistent search."""

    change_type: int
    """1 add, 2 delete, 4 modify, 8 modify DN."""
    previous_dn: str | None


class DirSync(NamedTuple):
    """Changes of Active Directory."""

    flags: int
    """Not 0 if there is more."""
    max_bytes: int
    cookie: bytes
    """The value for the next request."""


class Referent(NamedTuple):
    """An entry that another one names."""

    attribute: str
    """The attribute that names it."""
    dn: str
    attributes: dict[str, list[bytes]]
    """The requested attributes, as far as they exist."""


class Dereferenced(NamedTuple):
    """Entries that an entry names (draft-masarati-ldap-deref); it comes with the entry."""

    referents: list[Referent]


Response: TypeAlias = (
    PagedResults
    | SortResult
    | ListView
    | SyncState
    | SyncDone
    | PreRead
    | PostRead
    | PasswordPolicy
    | EntryChange
    | DirSync
    | Dereferenced
)
Kind = TypeVar("Kind", bound=Response)


def read(control: Control) -> Response | None:
    """Returns the parsed control of an answer; None for an unknown one.

    Raises ProtocolError.
    """
    return _ldap.read_control(control)


def find(controls: Iterable[Control], kind: type[Kind]) -> Kind | None:
    """Returns the first control of a kind in ``result.controls`` or ``entry.controls``; None without one.

    Raises ProtocolError.
    """
    for control in controls:
        found = read(control)
        if isinstance(found, kind):
            return found
    return None


def sync_info(response: Intermediate) -> SyncInfo | None:
    """Returns the state in an intermediate response of content synchronization; None for another kind.

    Raises ProtocolError.
    """
    if not isinstance(response, Intermediate):
        raise ArgumentError("an intermediate response is expected")
    return _ldap.read_sync_info(response.name, response.value)
