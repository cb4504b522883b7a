"""Whole files to tables by commands as a user runs them, and how time and memory grow."""

from __future__ import annotations

from ..records import Record, Row
from . import words
from .codecs import less, short, source
from .document import Block, Figure, Heading, Table, Text
from .plots import Series, curves

#: What the page of ASN1C for Java says, records/s on its authors' machine, by input and work.
PUBLISHED = {("msc", "csv"): "2,745–3,034", ("scp", "xml"): "2,391–4,263"}

Found = dict[str, tuple[Record, list[Row]]]


def behind(found: Found) -> list[str]:
    out = []
    for name, (_, rows) in found.items():
        for work in dict.fromkeys(row.work for row in rows):
            ours, peers = _split(rows, work)
            nearest = min(peers, key=lambda row: row.median, default=None)
            if ours and nearest and nearest.median < ours.median:
                told = f"{short(name)} to {work}: {nearest.peer} {words.rate(nearest.records_per_second)} records/s"
                out.append(f"**{told}, ours {words.rate(ours.records_per_second)}**")
    return out


def _split(rows: list[Row], work: str) -> tuple[Row | None, list[Row]]:
    """Ours, and the peers', that are comparable."""
    these = [row for row in rows if row.work == work and row.comparable and not less(row.peer)]
    mine = [row for row in these if words.ours(row.peer)]
    return min(mine, key=lambda r: r.median, default=None), [r for r in these if not words.ours(r.peer)]


def blocks(found: Found) -> list[Block]:
    """The tables of whole commands."""
    out: list[Block] = [Heading(3, "Whole files, by command")]
    if not found:
        return [*out, Text("No record yet: `bench/convert --record` makes it.")]
    out.append(
        Text(
            "A file of records to a file of another kind, as one command from its start to its end: reading the "
            "specification, decoding, writing the file. CPU time of the process, all its threads."
        )
    )
    columns = [
        "work", "engine", "records/s:", "MB/s:", "by the clock, MB/s:", "ratio:", "memory:", "published, records/s:",
        "what it says",
    ]  # fmt: skip
    rows = []
    has_sizes = any(row.written for _, have in found.values() for row in have)
    for name, (_, have) in found.items():
        for work in dict.fromkeys(row.work for row in have):
            for row in (row for row in have if row.work == work):
                size = words.size(row.written * row.records) if row.written else ""
                rows.append(_line(name, work, row, have) + ([size] if has_sizes else []))
    columns += ["file:"] if has_sizes else []
    record = next(iter(found.values()))[0]
    return [*out, Table(columns, rows), Text(f"From `bench/convert --record`, {source(record)}.")]


def _line(name: str, work: str, row: Row, have: list[Row]) -> list[str]:
    ours, peers = _split(have, work)
    label = f"{short(name)} to {work}"
    published = PUBLISHED.get((name, work), "") if words.ours(row.peer) else ""
    if not row.median:
        return [label, row.peer, *["–"] * 5, published, words.refusal(row.note)]
    slow = words.ours(row.peer) and any(peer.median < row.median for peer in peers)
    wall = words.digits(row.octets / row.wall * 1e3) if row.wall else ""
    ratio = words.times(row.median / ours.median) if ours and not row.note else "–"
    ratio = f"({ratio})" if less(row.peer) else ratio
    return [
        label,
        row.peer,
        words.bold(words.rate(row.records_per_second), slow),
        words.digits(row.megabytes_per_second),
        wall,
        ratio,
        words.size(row.peak * 1024) if row.peak else "",
        published,
        words.refusal(row.note) if row.note else "",
    ]


def growth(found: Found) -> list[Block]:
    """Time a record and memory over the size of a file, and over processors."""
    if not found:
        return [Text("No record yet: `bench/growth --record` makes it.")]
    out: list[Block] = []
    for name, (record, rows) in found.items():
        for work in dict.fromkeys(row.work for row in rows):
            these = [row for row in rows if row.work == work and row.comparable]
            starts = {row.workers: row.wall for row in these if row.records == 1}
            these = [row for row in these if row.records > 1]
            counts = sorted({row.workers for row in these})
            threads = [f"{n} thread{'s' if n > 1 else ''}" for n in counts]
            columns = ["size:", "records:", *(f"ns a record by the clock, {n}:" for n in threads)]
            columns += [f"without the start, {n}:" for n in threads if starts]
            columns += ["scaling:", "memory:"]
            lines = []
            for count in sorted({row.records for row in these}):
                at = {row.workers: row for row in these if row.records == count}
                some = next(iter(at.values()))
                net = {n: at[n].wall - starts.get(n, 0.0) / count for n in at}
                cells = [words.ns(at[n].wall) if n in at else "–" for n in counts]
                cells += [words.ns(net[n]) if n in at else "–" for n in counts if starts]
                scale = net[counts[0]] / net[counts[-1]] if len(at) == len(counts) else 0.0
                memory = max(row.peak for row in at.values())
                whole = words.size(some.records * some.octets)
                scaling = f"{scale:.2f}" if scale and len(counts) > 1 else "–"
                lines.append([whole, f"{count:,}", *cells, scaling, words.size(memory * 1024)])
            out += [Heading(3, f"Growth: {short(name)} to {work}"), Table(columns, lines)]
            series = [
                Series(
                    f"{n} thread{'s' if n > 1 else ''}",
                    [(r.records * r.octets, r.wall) for r in sorted(these, key=lambda r: r.records) if r.workers == n],
                    "ours" if n == counts[-1] else "l-other",
                )
                for n in counts
            ]
            svg = curves(
                f"Time a record as files grow: {name} to {work}",
                "nanoseconds by the clock, from start to end of the command",
                series,
                ("size of the file", "ns a record"),
                f"bench/growth --record · bench/record/{record.name}",
                log=True,
            )
            file = f"growth-{name}-{work}.svg"
            out.append(Figure(file, svg, f"Curves: nanoseconds a record over the size of the file, {name} to {work}"))
            said = f"From `bench/growth --record`, {source(record)}."
            if starts:
                named = zip(counts, threads, strict=True)
                start = " and ".join(f"{words.ns(starts[n] / 1e6)} ms with {name}" for n, name in named if n in starts)
                said = f"The start, that is a file of one record, takes {start}. The output goes nowhere. {said}"
            out.append(Text(said))
    return out
