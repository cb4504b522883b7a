"""Splits, and sidecar indexes of where they may begin: a large file is cut again without being read again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tercet import _tercet
from tercet._values import Split

# What only indexes need is imported by them: it takes longer than all else of the package.
if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from typing_extensions import Unpack

    from tercet._tercet import FileOptions, Input, Specification

SIZE = 64 << 20
STEP = 1 << 20
"""Bytes between two places that an index knows, at least."""
PLACES = 1 << 16
"""Places that an index knows of a file, about, at most."""


def splits(
    paths: Input | Sequence[Input],
    schema: Specification,
    type: str,
    *,
    size: int = SIZE,
    index: bool | str | PathLike[str] = False,
    **options: Unpack[FileOptions],
) -> list[Split]:
    """Cuts files into stretches of `size` bytes or somewhat more, for several workers to read. A file that is
    compressed, or whose framing cannot be cut, is one split.

    With `index`, places where splits may begin are kept: beside each file that is larger than `size`, as
    `.NAME.splits`, or in the directory given. As long as neither the file, by its size and time of change, nor the
    specification or the options change, it is then cut without being read, also with another `size` that is not
    smaller.

    Raises SchemaError, OSError.
    """
    if index is False:
        return _tercet.splits(paths, schema, type, size=size, **options)
    key = _tercet.split_key(schema, type, **options)
    found = []
    for whole in _tercet.splits(paths, schema, type, size=(1 << 64) - 1, **options):
        if "://" in whole.file:
            found.append(whole)
            continue
        state = os.stat(whole.file)
        if state.st_size <= size:
            found.append(whole)
            continue
        place = _place(whole.file, index)
        now = {"key": key, "octets": state.st_size, "changed": state.st_mtime_ns}
        known = _read(place, now)
        if known is None or known["step"] > size:
            step = min(size, max(STEP, state.st_size // PLACES))
            made = _tercet.splits(whole.file, schema, type, size=step, **options)
            known = {**now, "step": step, **_told(made)}
            _write(place, known)
        found.extend(_joined(whole.file, known, size))
    return found


def _place(file: str, index: bool | str | PathLike[str]) -> Path:
    """The index of a file."""
    from hashlib import sha256
    from pathlib import Path

    path = Path(file)
    if isinstance(index, bool):
        return path.with_name(f".{path.name}.splits")
    # Files of one name may come from several directories.
    name = sha256(os.fsencode(path.resolve())).hexdigest()[:16]
    return Path(os.fspath(index)) / f"{path.name}.{name}.splits"


def _told(splits: Sequence[Split]) -> dict[str, Any]:
    first = splits[0]
    places = [(split.start, split.record, split.around) for split in splits]
    return {"framing": first.framing, "filler": first.filler.hex(), "places": places}


def _read(place: Path, now: dict[str, Any]) -> dict[str, Any] | None:
    """An index, if it is there and still true."""
    import json

    try:
        known = json.loads(place.read_bytes())
        # A damaged index would begin a split inside of a record: it is made again.
        if known.pop("sum") != _sum(known):
            return None
        if any(known[name] != value for name, value in now.items()):
            return None
        _joined("", known, 1)
        int(known["step"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return dict(known)


def _write(place: Path, index: dict[str, Any]) -> None:
    import json

    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        part.write_text(json.dumps({**index, "sum": _sum(index)}, separators=(",", ":")))
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)


def _sum(index: dict[str, Any]) -> str:
    """A checksum of an index."""
    import json
    from hashlib import sha256

    return sha256(json.dumps(index, separators=(",", ":"), sort_keys=True).encode()).hexdigest()[:16]


def _joined(file: str, index: dict[str, Any], size: int) -> list[Split]:
    """Splits of `size` bytes or more that begin where the index allows it."""
    filler, framing = bytes.fromhex(index["filler"]), index["framing"]
    found: list[Split] = []
    for start, record, around in index["places"]:
        if not found or start >= found[-1].start + size:
            if found:
                found[-1] = found[-1]._replace(end=int(start))
            found.append(Split(file, int(start), None, int(record), framing, filler, tuple(around)))
    return found
