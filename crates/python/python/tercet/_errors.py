"""Errors, with their details as attributes."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tercet._values import Diagnostic, Reject


class Error(ValueError):
    """Any error of this package."""


class ArgumentError(Error, TypeError):
    """An argument of a call is wrong: its name, its type or its value."""


class RangeError(ArgumentError, OverflowError):
    """A number is too large or too small for its argument."""


class PackageError(Error, ImportError):
    """An optional package is required and not installed."""

    def __init__(self, message: str, *, name: str | None = None) -> None:
        super().__init__(message)
        self.name = name


class InternalError(Error, RuntimeError):
    """Something failed that should not fail. Please report it."""


class FileError(Error, OSError):
    """A file cannot be read or written. The text names it."""

    def __str__(self) -> str:
        # That of OSError would repeat the name and the number.
        return str(self.args[0]) if self.args else ""


class MissingFileError(FileError, FileNotFoundError):
    """A file or directory does not exist, or no file matches."""


class ForbiddenFileError(FileError, PermissionError):
    """A file or directory may not be read or written."""


class DirectoryError(FileError, IsADirectoryError):
    """A directory where a file is required."""


class NoDirectoryError(FileError, NotADirectoryError):
    """A file where a directory is required."""


class ExistingFileError(FileError, FileExistsError):
    """A file exists already."""


def file_error(error: OSError) -> FileError:
    """Returns an error of Python about a file as one of this package."""
    text = f"{os.fsdecode(error.filename)}: {error.strerror}" if error.filename else str(error)
    kinds = (MissingFileError, ForbiddenFileError, DirectoryError, NoDirectoryError, ExistingFileError)
    return next((kind for kind in kinds if isinstance(error, kind.__bases__[1])), FileError)(text)


class SchemaError(Error):
    """The specifications have errors, or do not define a type.

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
    """The kind of error, by a stable name: ``incomplete``, ``value-mismatch``; ``text`` for faults in XML, JSON and
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
    """A value is not a value of its type, or has no encoding."""


class DecodeError(CodecError):
    """Data is not an encoding of its type."""

    offset: int
    """Bytes before the fault."""
    bit: int | None
    """The bit in the byte at the offset, 0 the first, in rules whose fields are not whole bytes (PER)."""
    missing: int | None
    """If the data ends too early: the least number of bytes that have to follow."""
    line: int | None
    """The line of text, from 1."""
    column: int | None
    """The column in characters, from 1."""
    partial: object = None
    """The value as far as it was decoded before the fault, without the components after it; `None` if nothing was."""

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
    """A file has more rejects than the limit, or no record at all."""

    rejects: list[Reject]
    """The first places."""

    def __init__(self, message: str, *, rejects: list[Reject] | None = None) -> None:
        super().__init__(message)
        self.rejects = rejects or []


_NUMBER = re.compile(r" \(os error (\d+)\)")
FILE_ERRORS: list[tuple[type[OSError], type[FileError]]] = [
    (FileNotFoundError, MissingFileError),
    (PermissionError, ForbiddenFileError),
    (IsADirectoryError, DirectoryError),
    (NotADirectoryError, NoDirectoryError),
    (FileExistsError, ExistingFileError),
]


def of_python(error: BaseException) -> BaseException:
    """The error of this package for an exception of Python that a wrong argument or a file has caused; exceptions of
    other kinds stay as they are."""
    if isinstance(error, Error):
        return error
    made: Error
    if isinstance(error, OSError):
        classes = [ours for theirs, ours in FILE_ERRORS if isinstance(error, theirs)]
        # The number is an attribute.
        text, number = str(error), _NUMBER.search(str(error))
        made = (classes[0] if classes else FileError)(_NUMBER.sub("", text))
        made.errno = int(number[1]) if number else error.errno
        made.filename = error.filename
    elif isinstance(error, OverflowError):
        made = RangeError(str(error))
    elif isinstance(error, (TypeError, ValueError)):
        made = ArgumentError(str(error))
    elif isinstance(error, ImportError):
        made = PackageError(str(error), name=error.name)
    else:
        return error
    made.__cause__ = error.__cause__
    return made
