"""Files of any size, made of the records of an input again and again."""

from __future__ import annotations

import struct
from pathlib import Path

from .definitions import BUILD, Definition


def raw(definition: Definition, size: float) -> tuple[Path, int]:
    """A file of records one behind the other, of at least so many octets, and how many there are."""
    data = definition.records().read_bytes()
    records, at = [], 0
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        records.append(data[at + 4 : at + 4 + length])
        at += 4 + length
    whole = b"".join(records)
    rounds, rest = divmod(int(size), len(whole))
    tail, count = 0, rounds * len(records)
    while tail < rest:
        tail += len(records[count % len(records)])
        count += 1
    path = BUILD / "files" / f"{definition.name}-{size:.0e}.ber".replace("+", "")
    wanted = rounds * len(whole) + tail
    if not path.exists() or path.stat().st_size != wanted:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb") as out:
            for _ in range(rounds):
                out.write(whole)
            out.write(whole[:tail])
    return path, count
