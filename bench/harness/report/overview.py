"""The picture of everything: one line for each work of the published pages."""

from __future__ import annotations

from ..records import Record, newest
from . import codecs, ldap, megaco, words
from .document import Block, Figure
from .plots import Lead, leads

#: Lines of codecs: input, work, label.
LINES = [
    ("msc", "decode", "MSC call records, decode"),
    ("scp", "decode", "SCP call records, decode"),
    ("tap", "decode", "TAP 3 batches, decode"),
    ("tap", "encode", "TAP 3 batches, encode"),
    ("nbap", "decode", "NBAP, PER, decode"),
    ("nbap", "encode", "NBAP, PER, encode"),
    ("nr-measurement", "decode", "5G RRC report, PER, decode"),
    ("ngap-ics", "decode", "NGAP context, PER, decode"),
    ("personnel-1-aper", "decode", "Employee, aligned, decode"),
    ("personnel-1-aper", "encode", "Employee, aligned, encode"),
    ("personnel-1-uper", "decode", "Employee, unaligned, decode"),
    ("x509", "decode", "Certificates, DER, decode"),
]

#: Configurations of megaco that the picture has.
MEGACO = ["pretty-flex", "compact-flex", "ber-native", "per-native"]


ALT = (
    "Bars on a logarithmic scale: for each work, how many times as long as Tercet the nearest peer takes; dots: others"
)


def rows(records: list[Record]) -> list[Lead]:
    """The lines that there are records of."""
    inputs = codecs.inputs(newest(records, "codecs"))
    found = newest(records, "megaco")
    out = megaco.table_leads({name: found[name] for name in MEGACO if name in found}, "Megaco ")
    replayed = next((have for name, (_, have) in newest(records, "ldap").items() if "slapd" not in name), [])
    out += ldap.table_leads(replayed)
    for name, work, label in LINES:
        ours = inputs[name].ours(work) if name in inputs else None
        lead = inputs[name].lead(work, label, f"{words.ns(ours.median)} ns") if ours else None
        out += [lead] if lead else []
    return out


def blocks(records: list[Record]) -> list[Block]:
    lines = rows(records)
    if not lines:
        return []
    svg = leads(
        "How long others take, Tercet being 1",
        "time for the same work on the same octets, logarithmic; the bar ends at the nearest peer, dots are all",
        lines,
        _footer(records),
    )
    return [Figure("overview.svg", svg, ALT)]


def _footer(records: list[Record]) -> str:
    """Which machine, and who is missing in the picture."""
    inputs = list(codecs.inputs(newest(records, "codecs")).values())
    there = {words.first(row.peer).split("/")[0] for one in inputs for row in one.rows if row.comparable}
    names = [name for name in (text.split(" (")[0] for text in codecs.absent(inputs)) if name not in there]
    missing = f" · not built there: {', '.join(names)}" if names else ""
    machines = ", ".join(dict.fromkeys(record.machine for record in reversed(records)))
    return f"bench/record/{machines}{missing}"


def works(file: str, title: str, inputs: list[codecs.Input]) -> Figure | None:
    """Decoding and encoding of some inputs."""
    lines = []
    for one in inputs:
        for work in ("decode", "encode"):
            ours = one.ours(work)
            lead = one.lead(work, f"{codecs.short(one.name)}, {work}", f"{words.ns(ours.median)} ns") if ours else None
            lines += [lead] if lead else []
    if not lines:
        return None
    paths = sorted({one.record.name for one in inputs})
    svg = leads(
        title,
        "CPU time a record; the bar ends at the nearest peer, dots are all of them; the faster of ours is 1",
        lines,
        f"bench/run --record · bench/record/{', '.join(paths)}",
    )
    return Figure(file, svg, f"Bars on a logarithmic scale: {title}, ratio of each peer's time to Tercet's")
