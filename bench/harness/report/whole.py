"""The report as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from ..records import Record, newest
from . import captures, codecs, compilers, convert, gateways, ldap, megaco, overview, python
from .document import Block, Figure, Folded, Heading, Items, Table, Text, markdown, page

TITLE = "Tercet beside others"


def files(records: list[Record]) -> dict[str, str]:
    """The text of every file of the report, by name."""
    blocks = document(records)
    out = {figure.file: figure.svg for figure in _figures(blocks)}
    out["README.md"] = markdown(blocks)
    out["index.html"] = page(TITLE, blocks)
    return out


def _figures(blocks: list[Block]) -> Iterator[Figure]:
    for block in blocks:
        if isinstance(block, Figure):
            yield block
        elif isinstance(block, Folded):
            yield from _figures(block.blocks)


def behind(records: list[Record]) -> tuple[list[str], list[str]]:
    """Where a peer is faster than everything of ours, and where than the engine only."""
    both, plans = codecs.behind(list(codecs.inputs(newest(records, "codecs")).values()))
    both += ldap.behind(newest(records, "ldap")) + megaco.behind(newest(records, "megaco"))
    both += gateways.behind(newest(records, "gateways"))
    both += convert.behind(newest(records, "convert")) + compilers.behind(newest(records, "compilers"))
    both += python.behind(newest(records, "python")) + captures.behind(newest(records, "captures"))
    return both, plans


def document(records: list[Record]) -> list[Block]:
    inputs = codecs.inputs(newest(records, "codecs"))
    both, plans = behind(records)
    out: list[Block] = [
        Heading(1, TITLE),
        Text(_intro(records)),
        *overview.blocks(records),
        Heading(2, "Where Tercet is not first"),
    ]
    if both:
        out += [Text("A peer is faster than everything of ours at:"), Items(both)]
    else:
        out.append(Text("Nowhere, in what is recorded here."))
    if plans:
        out.append(
            Text(
                "A peer that compiles the specification is faster than the engine that reads it when it starts; "
                "our own generated code is faster than that peer:"
            )
        )
        out.append(Items(plans))
    missing = codecs.without(list(inputs.values()))
    if missing:
        out += [Text("Ours has no figure at:"), Items(missing)]
    absent = codecs.absent(list(inputs.values()))
    if absent:
        out.append(
            Text(f"Not there when the records were taken, so that nothing is said of them: {', '.join(absent)}.")
        )
    out += [Heading(2, "1. Megaco / H.248"), *megaco.blocks(newest(records, "megaco"))]
    out += gateways.blocks(newest(records, "gateways"))
    out += [Heading(2, "2. LDAP clients"), *ldap.blocks(newest(records, "ldap"))]
    out += [Heading(2, "3. Records"), *_records(inputs)]
    out += convert.blocks(newest(records, "convert"))
    out += python.blocks(newest(records, "python"))
    out += [Heading(2, "4. Packet captures"), *captures.blocks(newest(records, "captures"))]
    out += [Heading(2, "5. What the published pages lack"), *convert.growth(newest(records, "growth"))]
    out += compilers.blocks(newest(records, "compilers"))
    out += [Heading(2, "How the figures come about"), *_how(records)]
    return out


def _intro(records: list[Record]) -> str:
    machines = list(dict.fromkeys(record.machine for record in reversed(records)))
    where = "; ".join(_machine(records, machine, len(machines) > 1) for machine in machines)
    days = sorted({record.date for record in records})
    span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    return (
        "Each published table that Tercet set out to beat, taken anew, with the peers on the same octets in the "
        f"same run on one machine. Machine: {where}. Records of {span}. A ratio says how many times as long a peer "
        "takes as the faster of ours, so that more than 1 is slower than Tercet. **Bold: ours is not first "
        "there.** A dash is work that an engine does not do or whose result differs; the last column says which. "
        "`make bench` makes this report on your machine in its short form, `make bench-full` all of it."
    )


def _machine(records: list[Record], machine: str, is_one_of_several: bool) -> str:
    """What is known of a machine, and for which kinds of records it served if others served too."""
    mine = [record for record in records if record.machine == machine]
    about = next((record.about for record in reversed(mine) if record.about), {})
    text = f"`{machine}`"
    if about:
        text = (
            f"{about['processor']}, {about['processors']} processors, {about['memory']}, {about['system']}, "
            f"{about['rustc'].split(' (')[0]} ({text})"
        )
    kinds = ", ".join(dict.fromkeys(record.kind for record in mine))
    return f"{text} for {kinds}" if is_one_of_several else text


def _records(inputs: dict[str, codecs.Input]) -> list[Block]:
    if not inputs:
        return [Text("No record yet: `bench/run --record` makes it.")]
    out: list[Block] = [
        Text(
            "Decoding makes the engine's own value of a record: structures, objects or maps in code that was made "
            "of one specification, ours (`generated`) and peers'; a reused tape in ours that reads any "
            "specification when it starts (`engine`); Python values. *walk* steps over identifiers and lengths "
            "only, *memcpy* copies the octets: no decoder can be faster. *published* is the page of ASN1C for "
            "Java, on its authors' machine."
        )
    ]
    out.append(codecs.summary(inputs))
    out += codecs.floors(inputs) + codecs.caches(inputs)
    for name, title, members in (
        ("records.svg", "Call records, certificates, entries: BER and DER", [*codecs.RECORDS, *codecs.OTHERS]),
        ("per.svg", "Signalling and PersonnelRecord: PER", codecs.PER),
    ):
        figure = overview.works(name, title, [inputs[member] for member in members if member in inputs])
        out += [figure] if figure else []
    return out + codecs.blocks(inputs)


def _how(records: list[Record]) -> list[Block]:
    rows = []
    for record in reversed(records):
        about = record.about
        command = about.get("command", "bench/run --record")
        rows.append(
            [
                f"[{record.path.name}](../record/{record.name})",
                f"`{command}`",
                str(len(record.rows)),
                about.get("commit", "–"),
                about.get("load", "–"),
                _spread(record),
            ]
        )
    return [
        Text(
            "CPU time, interleaved rounds A B C A B C … after a warm-up, median; minimum and maximum are in the "
            "records. Results are reduced to a digest before anything is timed; an engine with another digest has "
            "no ratio. More: [bench/README.md](../README.md). The spread is how much more the median of the rounds "
            "is than their minimum, in the middle of a record's figures: beyond 10 % the machine was not quiet, "
            "and small ratios say little."
        ),
        Table(["record", "made by", "figures:", "commit", "load at the end", "spread:"], rows),
    ]


def _spread(record: Record) -> str:
    ratios = sorted(row.median / row.low for row in record.rows if row.low)
    return f"{100 * (ratios[len(ratios) // 2] - 1):.0f} %" if ratios else "–"
