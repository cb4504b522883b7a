"""Packet captures: ours beside tshark."""

from __future__ import annotations

from ..records import Record, Row
from . import words
from .codecs import source
from .document import Block, Figure, Table, Text
from .plots import Lead, leads

WORKS = {
    "list": ("a line for each packet", "`tercet capture list --no-decode`, `tshark -n`"),
    "json": ("JSON of decoded messages", "`tercet capture list --json`, `tshark -n -T json`"),
}

Found = dict[str, tuple[Record, list[Row]]]


def _pair(rows: list[Row], work: str) -> tuple[Row | None, Row | None]:
    """Ours and the peer."""
    these = [row for row in rows if row.work == work and row.comparable]
    ours = next((row for row in these if words.ours(row.peer)), None)
    return ours, next((row for row in these if not words.ours(row.peer)), None)


def blocks(found: Found) -> list[Block]:
    """The table, its picture, and the memory of a long capture."""
    if "signalling" not in found:
        return [Text("No record yet: `bench/captures --record` makes it.")]
    record, have = found["signalling"]
    lines, pictured = [], []
    for work, (title, how) in WORKS.items():
        ours, peer = _pair(have, work)
        slow = bool(ours and peer and peer.median < ours.median)
        ratio = words.times(peer.median / ours.median) if ours and peer else "–"
        rates = [words.rate(row.records_per_second) if row else "–" for row in (ours, peer)]
        memory = [words.size(row.peak * 1024) if row else "–" for row in (ours, peer)]
        lines.append([f"{title}: {how}", words.bold(rates[0], slow), rates[1], words.bold(ratio, slow), *memory])
        if ours and peer:
            detail = f"{words.rate(ours.records_per_second)}/s"
            pictured.append(Lead(title[0].upper() + title[1:], detail, [(peer.peer, peer.median / ours.median)]))
    columns = ["work", "packets/s: ours:", "tshark:", "ratio:", "memory: ours:", "tshark:"]
    packets = max(row.records for row in have)
    out: list[Block] = [
        Text(
            f"A capture of {packets:,} packets, each with a message of S1AP or NGAP, by whole commands: packets for a "
            "second of CPU time."
        ),
        Table(columns, lines),
    ]
    if pictured:
        svg = leads(
            "Packet captures: tshark beside Tercet",
            f"CPU time of the command, {packets:,} packets; Tercet is 1",
            pictured,
            f"bench/captures --record · bench/record/{record.name}",
        )
        out.append(Figure("captures.svg", svg, "Bars: how many times as long tshark takes as Tercet"))
    refused = [f"{row.peer}: {row.note}" for row in have if row.note]
    if refused:
        out.append(Text("Without figures: " + "; ".join(dict.fromkeys(refused)) + "."))
    if "signalling, long" in found:
        long = found["signalling, long"][1]
        some = long[0]
        told = ", ".join(f"{words.size(row.peak * 1024)} ({row.work})" for row in long)
        out.append(
            Text(
                f"Memory does not grow with the capture: {some.records:,} packets, "
                f"{words.size(some.records * some.octets)}: {told}."
            )
        )
    out.append(Text(f"From `bench/captures --record`, {source(record)}."))
    return out


def behind(found: Found) -> list[str]:
    """Works at which tshark is faster."""
    out = []
    for work, (title, _) in WORKS.items():
        ours, peer = _pair(found["signalling"][1], work) if "signalling" in found else (None, None)
        if ours and peer and peer.median < ours.median:
            rates = [words.rate(row.records_per_second) for row in (peer, ours)]
            out.append(f"**Packet captures, {title}: {peer.peer} {rates[0]} packets/s, ours {rates[1]}**")
    return out
