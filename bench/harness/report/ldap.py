"""LDAP clients: fetching every entry of a directory."""

from __future__ import annotations

import re

from ..records import Record, Row
from . import words
from .codecs import source
from .document import Block, Figure, Heading, Table, Text
from .plots import Lead, leads

WORKS = {"discard": "thrown away", "ldif": "as LDIF"}

#: What stands for the limit: octets received into a buffer, and nothing else.
LIMIT = "recv"

#: What the page of Ocamldap says, KB/s over the network of its authors, by engine and work.
PUBLISHED = {
    ("net::ldap", "discard"): "55",
    ("ldapsearch", "ldif"): "1,085 (2.1), 1,536 (2.2)",
    ("ocamldap", "ldif"): "135 to 1,659",
}

Found = dict[str, tuple[Record, list[Row]]]


def _ours(rows: list[Row], work: str) -> Row | None:
    mine = [row for row in rows if row.work == work and words.ours(row.peer) and row.comparable]
    return min(mine, key=lambda row: row.median, default=None)


def _peers(rows: list[Row], work: str) -> list[Row]:
    return [
        r for r in rows if r.work == work and r.comparable and not words.ours(r.peer) and words.first(r.peer) != LIMIT
    ]


def table_leads(rows: list[Row]) -> list[Lead]:
    out = []
    for work, title in WORKS.items():
        ours, peers = _ours(rows, work), _peers(rows, work)
        if ours and peers:
            detail = f"{words.digits(ours.megabytes_per_second)} MB/s"
            out.append(Lead(f"LDAP, {title}", detail, [(row.peer, row.median / ours.median) for row in peers]))
    return out


def behind(found: Found) -> list[str]:
    out = []
    for name, (_, rows) in found.items():
        for work, title in WORKS.items():
            ours, nearest = _ours(rows, work), min(_peers(rows, work), key=lambda row: row.median, default=None)
            if ours and nearest and nearest.median < ours.median:
                rates = [words.digits(row.megabytes_per_second) for row in (nearest, ours)]
                out.append(f"**LDAP, {name}, {title}: {nearest.peer} {rates[0]} MB per CPU s, ours {rates[1]}**")
    return out


def blocks(found: Found) -> list[Block]:
    if not found:
        return [Text("No record yet: `bench/ldap/run --record` makes it.")]
    out: list[Block] = [
        Text(
            "Every entry of a directory, over loopback. A server that replays recorded octets makes the client the "
            "limit; slapd is the real thing. MB of the answer for each second of CPU time of the client, all its "
            "threads and system calls. The digest is that of names and values that the client gave, in any order "
            "of attributes. What the page of Ocamldap calls major collections is allocations an entry in ours."
        )
    ]
    for name, (record, rows) in found.items():
        some = next((row for row in rows if row.records), None)
        size = f": {some.records:,} entries, {words.size(some.records * some.octets)}" if some else ""
        out += [Heading(3, f"{name}{size}"), _table(rows)]
        pictured = table_leads(rows)
        if pictured:
            file = f"ldap-{re.sub(r'[^a-z]+', '-', name).strip('-')}.svg"
            svg = leads(
                f"LDAP clients: {name}",
                "CPU time for the whole answer; Tercet is 1",
                pictured,
                f"bench/ldap/run --record · bench/record/{record.name}",
            )
            out.append(Figure(file, svg, "Bars: how many times the CPU time of Tercet other LDAP clients take"))
        out.append(Text(f"From `bench/ldap/run --record`, {source(record)}."))
    return out


def _table(rows: list[Row]) -> Table:
    columns = [
        "client", "discard: MB per CPU s:", "ratio:", "LDIF: MB per CPU s:", "ratio:", "LDIF by the clock, MB/s:",
        "allocations an entry:", "memory:", "page, KB/s:", "what it says",
    ]  # fmt: skip
    engines: dict[str, dict[str, Row]] = {}
    for row in rows:
        engines.setdefault(row.peer, {})[row.work] = row
    order = sorted(engines, key=lambda engine: _place(engine, engines[engine]))
    return Table(columns, [_line(rows, engine, engines[engine]) for engine in order])


def _place(engine: str, have: dict[str, Row]) -> tuple[int, float]:
    measured = [row.median for row in have.values() if row.comparable]
    if words.first(engine) == LIMIT:
        return 9, 0.0
    return (0 if words.ours(engine) else 1 if measured else 2), min(measured, default=0.0)


def _line(rows: list[Row], engine: str, have: dict[str, Row]) -> list[str]:
    limit = words.first(engine) == LIMIT
    cells = [f"limit: {engine}" if limit else engine]
    for work in WORKS:
        row, ours = have.get(work), _ours(rows, work)
        if not row or not row.comparable or not ours:
            cells += ["–", "–"]
            continue
        beaten = any(p.median < ours.median for p in _peers(rows, work))
        slow = beaten if words.ours(engine) else not limit and row.median < ours.median
        cells.append(words.bold(words.digits(row.megabytes_per_second), slow))
        cells.append(
            "" if limit else words.bold(words.times(row.median / ours.median), slow and not words.ours(engine))
        )
    ldif = have.get("ldif")
    cells.append(words.digits(ldif.octets / ldif.wall * 1e3) if ldif and ldif.comparable and ldif.wall else "")
    counted = [row.allocations for row in have.values() if row.allocations is not None]
    cells.append(f"{min(counted):.2f}" if counted else "")
    memory = max((row.peak for row in have.values()), default=0)
    cells.append(words.size(memory * 1024) if memory else "")
    pages = [PUBLISHED[words.first(engine), work] for work in WORKS if (words.first(engine), work) in PUBLISHED]
    cells.append("; ".join(pages))
    notes = {work: words.refusal(row.note) for work, row in have.items() if row.note}
    same = len(notes) == len(have) and len(set(notes.values())) == 1
    cells.append(next(iter(notes.values())) if same else "; ".join(f"{work}: {why}" for work, why in notes.items()))
    return cells
