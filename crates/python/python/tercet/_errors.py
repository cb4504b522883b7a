"""What can go wrong, with what is known about it as attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tercet._values import Diagnostic, Reject


class Error(ValueError):
    """Any fault that this package tells of in data, values and specifications."""


class SchemaError(Error):
    """Specifications that cannot be used, or a type that they do not have.

    The text shows each error with its lines of the specification.
    """

    diagnostics: list[Diagnostic]
    """Errors and warnings, in the order of the texts; empty if it is about a type."""

    def __init__(self, message: str, *, diagnostics: list[Diagnostic] | None = None) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics or []


class CodecError(Error):
    """A fault in data to decode, or in a value to encode."""

    kind: str
    """What is wrong, by a name that stays: ``incomplete``, ``value-mismatch``; ``text`` for faults in XML, JSON and
    value notation."""
    path: str
    """The way to the faulty value: ``CallRecord.moCall.parties[2]``; empty if it is not known."""
    detail: str
    """The tag found, the component missing, or nothing."""
    clause: str | None
    """The clause of the standard that is broken: ``X.690 8.1.3.5``."""

    def __init__(
        self, message: str, *, kind: str = "", path: str = "", detail: str = "", clause: str | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.path = path
        self.detail = detail
        self.clause = clause


class EncodeError(CodecError):
    """A value that is not one of its type, or that has no encoding."""


class DecodeError(CodecError):
    """Data that is not an encoding of its type."""

    offset: int
    """Octets before the fault."""
    bit: int | None
    """The bit in the octet at the offset, 0 the first, in rules whose fields are not octets (PER)."""
    missing: int | None
    """If the data ends too early: the least number of octets that have to follow."""
    line: int | None
    """The line of text, from 1."""
    column: int | None
    """The column in characters, from 1."""

    def __init__(
        self,
        message: str,
        *,
        kind: str = "",
        path: str = "",
        detail: str = "",
        clause: str | None = None,
        offset: int = 0,
        bit: int | None = None,
        missing: int | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message, kind=kind, path=path, detail=detail, clause=clause)
        self.offset = offset
        self.bit = bit
        self.missing = missing
        self.line = line
        self.column = column


class RejectError(Error):
    """More of a file is no record than was allowed, or nothing in it is."""

    rejects: list[Reject]
    """The first places."""

    def __init__(self, message: str, *, rejects: list[Reject] | None = None) -> None:
        super().__init__(message)
        self.rejects = rejects or []
