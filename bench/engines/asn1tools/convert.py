"""A file of records to another with asn1tools: convert.py csv|xml|jsonl TYPE FROM TO SPECIFICATION..."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

import asn1tools

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from runner import plain  # noqa: E402

#: No record is longer.
WINDOW = 1 << 16


def main() -> None:
    work, name, source, target, *files = sys.argv[1:]
    ber = asn1tools.compile_files(files, "ber")
    data = Path(source).read_bytes()
    at = 0
    with open(target, "w", encoding="utf-8", newline="") as out:
        write = writer(work, name, files, out)
        while at < len(data):
            value, length = ber.decode_with_length(name, data[at : at + WINDOW])
            write(value)
            at += length


def writer(work: str, name: str, files: list[str], out: TextIO) -> Callable[[Any], object]:
    """What writes one value; asn1tools has text forms of its own, but no tables: a row is the leaves that are there."""
    if work == "csv":
        rows = csv.writer(out)
        return lambda value: rows.writerow(leaves(plain(value)))
    text = asn1tools.compile_files(files, {"xml": "xer", "jsonl": "jer"}[work])
    return lambda value: out.write(text.encode(name, value).decode() + "\n")


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield value


if __name__ == "__main__":
    main()
