"""LDIF (RFC 2849), read and written as streams.

>>> from tercet.ldap import ldif
>>> [record] = ldif.read("dn: cn=a,o=test\\ncn: a\\n")
>>> record.dn, record.attributes
('cn=a,o=test', {'cn': [b'a']})
>>> ldif.text(record)
b'dn: cn=a,o=test\\ncn: a\\n\\n'
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO

from tercet._errors import ArgumentError, file_error
from tercet.ldap import _ldap
from tercet.ldap._ldap import Entry
from tercet.ldap._values import Record

__all__ = ["difference", "read", "text", "write"]


def read(
    source: str | bytes | Path | BinaryIO, *, max_line: int = 67_108_864, read_files: bool = False
) -> Iterator[Record]:
    """The records of LDIF: of itself as ``str`` or ``bytes``, of the file at a ``Path``, or of a binary file.

    ``max_line`` are the bytes that a line may have with its continuations. ``attribute:< file:///…`` reads that file
    only with ``read_files``.

    Raises ParseError, with the number of the line, and OSError.
    """
    return _ldap.LdifReader(source, max_line=max_line, read_files=read_files)


def write(
    target: str | os.PathLike[str] | BinaryIO, records: Iterable[Record | Entry], *, wrap: int | None = 78
) -> int:
    """Writes entries and records to a path or a binary file, and gives their number. Lines are folded after ``wrap``
    columns, or not if it is None. For whole searches, ``search_ldif`` of a connection is faster."""
    count = 0
    with _opened(target) as file:
        for record in records:
            file.write(_ldap.ldif_text(record, wrap))
            count += 1
    return count


def _opened(target: str | os.PathLike[str] | BinaryIO) -> AbstractContextManager[BinaryIO]:
    """The file to write to."""
    if not isinstance(target, (str, os.PathLike)):
        if not hasattr(target, "write"):
            raise ArgumentError("a path or a binary file is expected")
        return nullcontext(target)
    try:
        return open(target, "wb")
    except OSError as error:
        raise file_error(error) from None
    except ValueError as error:
        raise ArgumentError(str(error)) from None


def text(record: Record | Entry, *, wrap: int | None = 78) -> bytes:
    """An entry or a record as LDIF, with the empty line after it."""
    return _ldap.ldif_text(record, wrap)


def difference(before: Iterable[Record | Entry], after: Iterable[Record | Entry]) -> list[Record]:
    """Changes that make the entries of ``after`` of those of ``before``: new ones from the top down, then what changes,
    then what goes from the bottom up. Names are compared as names, values by the rules of their attributes."""
    return _ldap.ldif_difference(before, after)
