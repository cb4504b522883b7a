"""Python packages and Spark: files of records to values, tables and Parquet."""

from __future__ import annotations

from ..records import Record, Row
from . import words
from .codecs import short, source
from .document import Block, Heading, Table, Text

WORKS = {"read": "read", "spark": "Spark to Parquet"}

Found = dict[str, tuple[Record, list[Row]]]


def _ours(rows: list[Row], like: Row) -> Row | None:
    """Ours at the same work with as many workers: the faster one."""
    mine = [r for r in _like(rows, like) if words.ours(r.peer) and r.comparable]
    return min(mine, key=lambda row: row.median, default=None)


def _like(rows: list[Row], like: Row) -> list[Row]:
    return [row for row in rows if (row.work, row.workers) == (like.work, like.workers)]


def behind(found: Found) -> list[str]:
    out = []
    for name, (_, rows) in found.items():
        for row in rows:
            ours = _ours(rows, row)
            if row.comparable and not words.ours(row.peer) and ours and row.median < ours.median:
                told = f"{short(name)}, {_work(row)}: {row.peer} {words.rate(row.records_per_second)} records/s"
                out.append(f"**{told}, ours {words.rate(ours.records_per_second)}**")
    return out


def blocks(found: Found) -> list[Block]:
    out: list[Block] = [Heading(3, "Python and Spark")]
    if not found:
        return [*out, Text("No record yet: `bench/python --record` makes it.")]
    out.append(
        Text(
            "A file of records to values in memory, as one process from its start to its end, CPU time of all its "
            "threads: an Arrow table, plain values of `tercet.iter_records`, values of asn1tools. And the data sources "
            "`asn1` of Spark, ours and that of pyspark-asn1, which write Parquet with one worker and with two: time of "
            "the job by the clock, after one that is not counted."
        )
    )
    columns = ["work", "engine", "records/s:", "MB/s:", "ratio:", "memory:", "what it says"]
    lines = []
    for name, (_, rows) in found.items():
        for row in rows:
            ours = _ours(rows, row)
            told = words.refusal(row.note) if row.note else ""
            figures = ["–"] * 4
            if row.median:
                figures = [
                    words.rate(row.records_per_second),
                    words.digits(row.megabytes_per_second),
                    words.times(row.median / ours.median) if ours and row.comparable else "–",
                    words.size(row.peak * 1024) if row.peak else "",
                ]
            lines.append([f"{short(name)}, {_work(row)}", row.peer, *figures, told])
    record = next(iter(found.values()))[0]
    return [*out, Table(columns, lines), Text(f"From `bench/python --record`, {source(record)}.")]


def _work(row: Row) -> str:
    workers = f", {row.workers} worker{'s' if row.workers > 1 else ''}" if row.work == "spark" else ""
    return WORKS.get(row.work, row.work) + workers
