"""Answers of servers, and parts of requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal, NamedTuple


class ResultCode(IntEnum):
    """Result codes (RFC 4511 appendix A). Servers may send others, so that ``code`` is an ``int`` everywhere."""

    SUCCESS = 0
    OPERATIONS_ERROR = 1
    PROTOCOL_ERROR = 2
    TIME_LIMIT_EXCEEDED = 3
    SIZE_LIMIT_EXCEEDED = 4
    COMPARE_FALSE = 5
    COMPARE_TRUE = 6
    AUTH_METHOD_NOT_SUPPORTED = 7
    STRONGER_AUTH_REQUIRED = 8
    REFERRAL = 10
    ADMIN_LIMIT_EXCEEDED = 11
    UNAVAILABLE_CRITICAL_EXTENSION = 12
    CONFIDENTIALITY_REQUIRED = 13
    SASL_BIND_IN_PROGRESS = 14
    NO_SUCH_ATTRIBUTE = 16
    UNDEFINED_ATTRIBUTE_TYPE = 17
    INAPPROPRIATE_MATCHING = 18
    CONSTRAINT_VIOLATION = 19
    ATTRIBUTE_OR_VALUE_EXISTS = 20
    INVALID_ATTRIBUTE_SYNTAX = 21
    NO_SUCH_OBJECT = 32
    ALIAS_PROBLEM = 33
    INVALID_DN_SYNTAX = 34
    ALIAS_DEREFERENCING_PROBLEM = 36
    INAPPROPRIATE_AUTHENTICATION = 48
    INVALID_CREDENTIALS = 49
    INSUFFICIENT_ACCESS_RIGHTS = 50
    BUSY = 51
    UNAVAILABLE = 52
    UNWILLING_TO_PERFORM = 53
    LOOP_DETECT = 54
    NAMING_VIOLATION = 64
    OBJECT_CLASS_VIOLATION = 65
    NOT_ALLOWED_ON_NON_LEAF = 66
    NOT_ALLOWED_ON_RDN = 67
    ENTRY_ALREADY_EXISTS = 68
    OBJECT_CLASS_MODS_PROHIBITED = 69
    AFFECTS_MULTIPLE_DSAS = 71
    VLV_ERROR = 76
    OTHER = 80
    CANCELED = 118
    NO_SUCH_OPERATION = 119
    TOO_LATE = 120
    CANNOT_CANCEL = 121
    ASSERTION_FAILED = 122
    AUTHORIZATION_DENIED = 123
    SYNC_REFRESH_REQUIRED = 4096


class Control(NamedTuple):
    """A control as encoded in a message; those that are known are made by ``tercet.ldap.controls``."""

    oid: str
    critical: bool = False
    value: bytes | None = None


class Result(NamedTuple):
    """The answer of a server at the end of an operation."""

    code: int
    """A ``ResultCode``, or a number that is none."""
    matched_dn: str
    """As far as the name that was asked for is there."""
    message: str
    """The server's message for people."""
    referrals: list[str]
    controls: list[Control]


class Extended(NamedTuple):
    """The answer to an extended operation."""

    result: Result
    name: str | None
    value: bytes | None


class Reference(NamedTuple):
    """Other servers that have to be asked: one of these URLs."""

    urls: list[str]
    controls: list[Control]


class Intermediate(NamedTuple):
    """An intermediate response."""

    name: str | None
    value: bytes | None
    controls: list[Control]


class Referrals(NamedTuple):
    """How referrals are followed: anonymously, each server and base once, and not for ever."""

    hops: int = 5
    """Servers in a row."""
    total: int = 50
    """Referrals of one search in all."""
    hosts: list[str] = []
    """Hosts that may be asked; all if empty."""


class Modification(NamedTuple):
    """A change of one attribute, of a record of LDIF; ``modify`` takes it as any such tuple."""

    kind: Literal["add", "delete", "replace", "increment"]
    attribute: str
    values: list[bytes]


class Pending(NamedTuple):
    """A transaction that has a journal."""

    transaction: str
    """The identifier, a UUID."""
    state: Literal["open", "committing", "undoing", "conflict"]
    """The progress of the transaction."""
    operations: int
    """Operations that were sent, or were about to be."""
    uris: list[str]
    """The servers."""
    bind_dn: str
    """The name that its connection was bound as."""
    journal: str
    """The file."""


class Recovered(NamedTuple):
    """The outcome of an interrupted transaction."""

    transaction: str
    """The identifier, a UUID."""
    outcome: Literal["finished", "undone", "conflicts", "running"]
    """Nothing was left to do; operations were undone; some could not be; it goes on in another process."""
    conflicts: list[str]
    """Changes that were not undone, because somebody else has changed their entries. The journal stays then."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record of LDIF: an entry, or a change."""

    dn: str
    attributes: dict[str, list[bytes]] = field(default_factory=dict)
    """Of an entry, and of a change that adds one."""
    change: Literal["add", "delete", "modify", "rename"] | None = None
    """None for an entry, whose record has no ``changetype``."""
    modifications: list[Modification] = field(default_factory=list)
    """Of a change that modifies."""
    new_rdn: str = ""
    """Of a change that renames, as the two that follow."""
    delete_old: bool = True
    superior: str | None = None
    controls: list[Control] = field(default_factory=list)
