"""Compilers of specifications: time, memory, and how much code they make."""

from __future__ import annotations

from ..records import Record, Row
from . import words
from .codecs import source
from .document import Block, Heading, Table, Text

Found = dict[str, tuple[Record, list[Row]]]

WORKS = {"read": "read and checked", "code": "code made", "build": "code built"}

#: What specifications are called here, by the input that stands for each.
NAMES = {
    "demo": "Demo-CDR", "personnel-1-uper": "PersonnelRecord", "scp": "IN/SCP", "x509": "PKIX 1988",
    "tap": "TAP 3.12",
    "nbap": "NBAP", "ngap-ics": "NGAP", "nr-measurement": "NR RRC",
}  # fmt: skip


def _ours(rows: list[Row], work: str) -> Row | None:
    mine = [row for row in rows if row.work == work and words.ours(row.peer) and row.comparable]
    return min(mine, key=lambda row: row.median, default=None)


def _faster(rows: list[Row], work: str) -> list[Row]:
    """Peers that are faster than the fastest of ours."""
    ours = _ours(rows, work)
    peers = [row for row in rows if row.work == work and row.comparable and not words.ours(row.peer)]
    return [row for row in peers if ours and row.median < ours.median]


def behind(found: Found) -> list[str]:
    out = []
    for name, (_, rows) in found.items():
        for work, title in WORKS.items():
            ours, nearest = _ours(rows, work), min(_faster(rows, work), key=lambda row: row.median, default=None)
            if ours and nearest:
                told = f"{NAMES.get(name, name)}, {title}: {nearest.peer} {_ms(nearest)} ms"
                out.append(f"**{told}, ours {_ms(ours)} ms**")
    return out


def blocks(found: Found) -> list[Block]:
    out: list[Block] = [Heading(3, "Compilers of specifications")]
    if not found:
        return [*out, Text("No record yet: `bench/compilers --record` makes it.")]
    out.append(
        Text(
            "One command from its start to its end: specifications read and checked, or code made of them, ours in "
            "Rust for one type and one set of rules, peers' for what they have options for. Code that is the same "
            "for all specifications is not counted. *Code built* is `cargo build --release` of a program that decodes "
            "and encodes, all that it needs being built already, and the size of that program."
        )
    )
    columns = ["specification", "work", "compiler", "CPU ms:", "ratio:", "memory:", "code:", "what it says"]
    lines = []
    for name, (_, rows) in found.items():
        text = next((row.records for row in rows if row.records), 0)
        for row in rows:
            ours = _ours(rows, row.work)
            slow = row is ours and bool(_faster(rows, row.work))
            lines.append(
                [
                    f"{NAMES.get(name, name)}, {words.size(text)}",
                    WORKS[row.work],
                    row.peer,
                    words.bold(_ms(row), slow) if row.comparable else "–",
                    words.times(row.median / ours.median) if row.comparable and ours else "–",
                    words.size(row.peak * 1024) if row.peak else "",
                    words.size(row.octets) if row.octets else "",
                    words.refusal(row.note) if row.note else "",
                ]
            )
    record = next(iter(found.values()))[0]
    return [*out, Table(columns, lines), Text(f"From `bench/compilers --record`, {source(record)}.")]


def _ms(row: Row) -> str:
    return words.digits(row.median / 1e6)
