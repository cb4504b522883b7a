"""Decoding and encoding of records: a table for each input, and the tables of published pages made of them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from itertools import product

from ..definitions import BENCH
from ..records import Record, Row
from ..runners import ARENA
from . import words
from .document import Block, Folded, Heading, Table, Text
from .plots import Lead

WORKS = ["decode", "encode", "json"]

#: Inputs in the order of the report, by the pages that they stand for: name, what it is called, what is published.
RECORDS = ["msc", "scp", "tap", "tap-typical", "demo"]
PER = [
    "nbap", "ngap-ulnas", "ngap-ics", "nr-measurement", "nr-reconfiguration",
    "personnel-1-aper", "personnel-1-uper", "personnel-2-aper", "personnel-2-uper",
    "personnel-3-aper", "personnel-3-uper",
]  # fmt: skip
OTHERS = ["personnel-2-ber", "ldap", "x509"]

#: What the page of ASN1C for Java says, records/s on its authors' machine, by input and work.
PUBLISHED = {
    ("tap", "encode"): "1,555–1,608",
    ("tap", "decode"): "198–203",
    ("nbap", "encode"): "9,158–10,729",
    ("nbap", "decode"): "7,987–8,091",
    ("personnel-1-aper", "encode"): "3,424–3,566",
    ("personnel-1-aper", "decode"): "3,776–3,858",
    ("personnel-1-uper", "encode"): "3,603–3,686",
    ("personnel-1-uper", "decode"): "3,852–3,937",
}

#: What an engine says in its name when it does less than the others: open types are left, or lists not yet read, or
#: it is written by hand for the input, copies a table that ours has written, reads another form, or keeps nothing.
LESS = ("as octets", "as views", "lazy", "by hand", "copies the table", "from JSON", "to a pipe", "to nowhere")


def less(engine: str) -> bool:
    """Whether an engine does less than the others."""
    return any(told in engine for told in LESS)


@cache
def title(name: str) -> str:
    path = BENCH / "definitions" / f"{name}.toml"
    return str(tomllib.loads(path.read_text())["title"]) if path.exists() else name


#: Inputs in a few words, for tables and pictures of many of them.
SHORT = {
    "msc": "MSC call records",
    "scp": "SCP call records",
    "tap": "TAP 3 batches",
    "tap-typical": "TAP 3 events",
    "demo": "Our own call records",
    "nbap": "NBAP",
    "ngap-ulnas": "NGAP uplink NAS",
    "ngap-ics": "NGAP context setup",
    "nr-measurement": "NR RRC report",
    "nr-reconfiguration": "NR RRC reconfiguration",
    "ldap": "LDAP entries",
    "x509": "Certificates",
}

ALIGNED = {"aper": "aligned", "uper": "unaligned", "ber": "BER"}


def short(name: str) -> str:
    """An input in a few words."""
    if name.startswith("personnel-"):
        _, part, rules = name.split("-")
        return f"Personnel A.{part} {ALIGNED[rules]}"
    return SHORT.get(name, name)


@dataclass
class Input:
    """The rows of one input, all of one record."""

    name: str
    record: Record
    rows: list[Row]

    def of(self, work: str) -> list[Row]:
        return [row for row in self.rows if row.work == work]

    def mine(self, work: str) -> list[Row]:
        """Ours: the engine of plans, generated code, the Python package."""
        return [r for r in self.of(work) if words.ours(r.peer) and r.comparable and not less(r.peer)]

    def ours(self, work: str) -> Row | None:
        """The fastest of ours."""
        return min(self.mine(work), key=lambda row: row.median, default=None)

    def peers(self, work: str) -> list[Row]:
        """Peers with the same work and the same result."""
        return [r for r in self.of(work) if not words.ours(r.peer) and r.comparable and not less(r.peer)]

    def nearest(self, work: str) -> Row | None:
        return min(self.peers(work), key=lambda row: row.median, default=None)

    def lead(self, work: str, label: str, detail: str) -> Lead | None:
        ours = self.ours(work)
        if not ours or not self.peers(work):
            return None
        return Lead(label, detail, [(row.peer, row.median / ours.median) for row in self.peers(work)])

    @property
    def octets(self) -> float:
        return next((row.octets for row in self.rows if row.octets), 0.0)


def inputs(found: dict[str, tuple[Record, list[Row]]]) -> dict[str, Input]:
    order = [*RECORDS, *PER, *OTHERS]
    names = sorted(found, key=lambda name: (order.index(name) if name in order else len(order), name))
    return {name: Input(name, *found[name]) for name in names}


def behind(all_inputs: list[Input]) -> tuple[list[str], list[str]]:
    """Works at which a peer is faster than both of ours, and those at which it is faster than the engine alone."""
    both, plans = [], []
    for one in all_inputs:
        for work in WORKS:
            ours, nearest = one.ours(work), one.nearest(work)
            engine = next((r for r in one.of(work) if words.ours(r.peer) and r.peer.split()[0] == "tercet"), None)
            if not ours or not nearest:
                continue
            told = f"{short(one.name)}, {work}: {words.short(nearest.peer)} {words.ns(nearest.median)} ns"
            if nearest.median < ours.median:
                both.append(
                    f"**{told}, ours {words.ns(ours.median)} ns** ({words.times(nearest.median / ours.median)})"
                )
            elif engine and engine.comparable and nearest.median < engine.median:
                plans.append(
                    f"{told}, the engine {words.ns(engine.median)} ns, generated code {words.ns(ours.median)} ns"
                )
    return both, plans


def without(all_inputs: list[Input]) -> list[str]:
    """Works at which ours has no figure, and why."""
    return [
        f"**{short(one.name)}, {row.work}: {row.peer}: {words.refusal(row.note)}**"
        for one in all_inputs
        for row in one.rows
        if words.ours(row.peer) and row.note and not words.absent(row.note)
    ]


def absent(all_inputs: list[Input]) -> list[str]:
    """Peers that were not there, each with the number of inputs that it is missing at."""
    counts: dict[str, set[str]] = {}
    for one in all_inputs:
        for row in one.rows:
            if words.absent(row.note):
                counts.setdefault(row.peer, set()).add(one.name)
    return [f"{peer} ({len(names)} input{'s' if len(names) > 1 else ''})" for peer, names in sorted(counts.items())]


def summary(all_inputs: dict[str, Input]) -> Table:
    """One line for each work: ours, the nearest peer, what the page says, what the machine could do."""
    columns = [
        "work", "octets:", "generated ns:", "engine ns:", "records/s:", "MB/s:", "nearest peer", "ns:", "ratio:",
        "published, records/s:", "walk ns:", "memcpy ns:",
    ]  # fmt: skip
    rows = []
    for one in all_inputs.values():
        walk = next((row for row in one.of("walk") if row.comparable), None)
        copy = next((row for row in one.of("memcpy") if row.comparable), None)
        for work in ("decode", "encode"):
            ours, nearest = one.ours(work), one.nearest(work)
            if not ours:
                continue
            cells = {row.peer.split()[0]: row for row in one.mine(work)}
            rows.append(
                [
                    f"{short(one.name)}, {work}",
                    f"{one.octets:,.0f}",
                    _ours(cells.get(words.GENERATED), nearest),
                    _ours(cells.get("tercet"), nearest),
                    words.rate(ours.records_per_second),
                    words.digits(ours.megabytes_per_second),
                    words.short(nearest.peer) if nearest else "–",
                    words.ns(nearest.median) if nearest else "–",
                    _ratio(nearest.median / ours.median) if nearest else "–",
                    PUBLISHED.get((one.name, work), ""),
                    words.ns(walk.median) if walk else "",
                    words.ns(copy.median) if copy else "",
                ]
            )
    return Table(columns, rows)


def floors(all_inputs: dict[str, Input]) -> list[Block]:
    """Generated code beside codecs that are written by hand for an input."""
    columns = [
        "work", "generated ns:", "floor ns:", "ratio:", "instructions:", "floor:", "ratio:", "used memory ns:",
        "checked only ns:",
    ]  # fmt: skip
    rows = []
    for one in all_inputs.values():
        for work, engine in product(("decode", "encode"), (words.GENERATED, ARENA)):
            ours = _named(one, work, engine)
            floor = _named(one, work, "floor")
            if not ours or not floor:
                continue
            counted = ours.instructions and floor.instructions
            more = [_named(one, other, "floor") if work == "decode" else None for other in ("reuse", "check")]
            rows.append(
                [
                    f"{short(one.name)}, {work}" + (", arena" if engine == ARENA else ""),
                    words.ns(ours.median),
                    words.ns(floor.median),
                    words.times(ours.median / floor.median),
                    f"{ours.instructions:,.0f}" if counted else "",
                    f"{floor.instructions:,.0f}" if counted else "",
                    words.times((ours.instructions or 0) / (floor.instructions or 1)) if counted else "",
                    *(words.ns(row.median) if row else "" for row in more),
                ]
            )
    if not rows:
        return []
    told = "The floor: codecs in safe Rust for one input, written by hand (bench/floor). They check less than ours do."
    return [Text(told), Table(columns, rows)]


def caches(all_inputs: dict[str, Input]) -> list[Block]:
    """Few records, again and again, beside all of an input."""
    figures = ["all, ns:", "few, ns:", "ratio:"]
    columns = ["work", *(f"generated, {name}" for name in figures), "nearest peer", *figures]
    columns += [f"floor, {name}" for name in figures]
    rows = []
    for one in all_inputs.values():
        for work in ("decode", "encode"):
            nearest = one.nearest(f"{work}-few")
            peer = words.first(nearest.peer) if nearest else ""
            cells = [_in_and_out(one, work, engine) for engine in (words.GENERATED, peer, "floor")]
            if any(cells[0]):
                name = words.short(nearest.peer) if nearest else "–"
                rows.append([f"{short(one.name)}, {work}", *cells[0], name, *cells[1], *cells[2]])
    if not rows:
        return []
    told = "In and out of the cache: the thousands of records of an input, beside 300 of them again and again."
    return [Text(told), Table(columns, rows)]


def _in_and_out(one: Input, work: str, engine: str) -> list[str]:
    both = _named(one, work, engine), _named(one, f"{work}-few", engine)
    if not both[0] or not both[1]:
        return ["", "", ""]
    return [*(words.ns(row.median) for row in both if row), words.times(both[0].median / both[1].median)]


def _named(one: Input, work: str, engine: str) -> Row | None:
    """The row of an engine by the first word of its name, without forms of it that do less."""
    found = (row for row in one.of(work) if words.first(row.peer) == engine and row.comparable)
    return next((row for row in found if engine == "floor" or not less(row.peer)), None)


def _ours(row: Row | None, nearest: Row | None) -> str:
    if not row:
        return "–"
    return words.bold(words.ns(row.median), bool(nearest and nearest.median < row.median))


def _ratio(value: float) -> str:
    return words.bold(words.times(value), value < 1)


def details(one: Input) -> list[Block]:
    """Every engine on one input."""
    works = [work for work in WORKS if one.of(work)]
    columns = ["engine"]
    for work in works:
        columns += [f"{'text' if work == 'json' else work} ns:", "MB/s:", "ratio:"]
    columns += ["memory:", "what it says"]
    by_engine: dict[str, dict[str, Row]] = {}
    for row in one.rows:
        if row.work in works:
            by_engine.setdefault(row.peer, {})[row.work] = row
    merged = _merge(by_engine)
    order = sorted(merged, key=lambda engine: _place(merged[engine], engine))
    rows = [_line(one, works, engine, merged[engine]) for engine in order]
    for work, name in (("walk", "limit: element walk"), ("memcpy", "limit: memcpy")):
        rows += [
            [name, words.ns(row.median), words.digits(row.megabytes_per_second), "", *[""] * (3 * len(works) - 1)]
            for row in one.of(work)
            if row.comparable
        ]
    alone = [
        f"{name} {words.ns(row.median)} ns ({words.digits(row.megabytes_per_second)} MB/s)"
        for work, name in (("validate", "decoded into nothing"), ("csv", "as a row of CSV"))
        for row in one.of(work)
        if row.comparable
    ]
    blocks: list[Block] = [Table(columns, rows), *_counts(merged, order)]
    if alone:
        blocks.append(Text(f"Tercet's engine alone: {', '.join(alone)}."))
    blocks.append(Text(f"From `bench/run --record {one.name}`, {source(one.record)}."))
    heading = f"{title(one.name)} ({one.octets:,.0f} octets a record)"
    return [Heading(4, heading[0].upper() + heading[1:]), *blocks]


def _counts(merged: dict[str, dict[str, Row]], order: list[str]) -> list[Block]:
    """Instructions and allocations of a record, of the engines that valgrind looked into."""
    works = ("decode", "encode")
    rows = []
    for engine in order:
        cells = []
        for work in works:
            row = merged[engine].get(work)
            if row and row.comparable and row.instructions is not None:
                cells += [f"{row.instructions:,.0f}", f"{row.allocations or 0:,.1f}"]
            else:
                cells += ["–", "–"]
        if any(cell != "–" for cell in cells):
            rows.append([engine, *cells])
    columns = ["engine", *(f"{work}, {what}:" for work in works for what in ("instructions", "allocations"))]
    return [Table(columns, rows)] if rows else []


def source(record: Record) -> str:
    return f"[{record.path.name}](../record/{record.name})"


def _merge(by_engine: dict[str, dict[str, Row]]) -> dict[str, dict[str, Row]]:
    """A peer that does not start has only its first name in that row: it goes with those of its full name."""
    merged: dict[str, dict[str, Row]] = {}
    for engine, rows in by_engine.items():
        longer = (name for name in by_engine if name.casefold().startswith((f"{engine} ", f"{engine}/")))
        merged.setdefault(next(longer, engine), {}).update(rows)
    return merged


def _place(rows: dict[str, Row], engine: str) -> tuple[int, float]:
    measured = [row.median for row in rows.values() if row.comparable]
    return (0 if words.ours(engine) else 1 if measured else 2), measured[0] if measured else 0.0


def _line(one: Input, works: list[str], engine: str, rows: dict[str, Row]) -> list[str]:
    cells, notes = [engine], []
    for work in works:
        row, ours, nearest = rows.get(work), one.ours(work), one.nearest(work)
        if not row or not row.median or (row.note and not row.comparable):
            if row and row.note:
                notes.append(f"{work}: {words.refusal(row.note)}")
            cells += ["–", "–", "–"]
            continue
        if words.ours(engine):
            shown = _ours(row, nearest)
        else:
            shown = words.bold(words.ns(row.median), bool(ours and row.median < ours.median and not less(engine)))
        ratio = words.times(row.median / ours.median) if ours else ""
        cells += [shown, words.digits(row.megabytes_per_second), f"({ratio})" if less(engine) else ratio]
    memory = max((row.peak for row in rows.values()), default=0)
    told = "; ".join(dict.fromkeys(_same(notes)))
    return [*cells, words.size(memory * 1024) if memory else "", told]


def _same(notes: list[str]) -> list[str]:
    """One note where all works have the same."""
    reasons = {note.split(": ", 1)[1] for note in notes}
    return [reasons.pop()] if len(notes) > 1 and len(reasons) == 1 else notes


def blocks(all_inputs: dict[str, Input]) -> list[Block]:
    """The tables of all inputs, folded."""
    groups = [("Call records (BER)", RECORDS), ("PER", PER), ("Other BER and DER", OTHERS)]
    known = {name for _, names in groups for name in names}
    groups.append(("Further inputs", [name for name in all_inputs if name not in known]))
    out: list[Block] = []
    for name, names in groups:
        present = [all_inputs[n] for n in names if n in all_inputs]
        if present:
            out.append(Folded(f"Every engine: {name}", [block for one in present for block in details(one)]))
    return out
