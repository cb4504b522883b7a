"""Megaco: the table of OTP's page, and mstone."""

from __future__ import annotations

from ..records import Record, Row
from . import words
from .codecs import source
from .document import Block, Figure, Table, Text
from .plots import Lead, Series, curves, leads

#: What OTP's page says: size, microseconds to encode and to decode on its machine, and the total of its older machine.
PUBLISHED: dict[str, tuple[str, int, str, str, str]] = {
    "pretty": ("pretty text", 336, "5", "12", "95"),
    "pretty-flex": ("pretty text, scanner in C", 336, "5", "11", "59"),
    "compact": ("compact text", 181, "4", "10", "79"),
    "compact-flex": ("compact text, scanner in C", 181, "4", "9", "54"),
    "per": ("PER", 91, "6", "6", "124"),
    "per-native": ("PER, native", 91, "4", "3", "93"),
    "ber": ("BER", 165, "6", "6", "70"),
    "ber-native": ("BER, native", 165, "4", "3", "42"),
    "etf": ("Erlang terms", 875, "2", "5", "15"),
    "etf-mc": ("Erlang terms, megaco_compressed", 405, "1", "2", "13"),
    "etf-zlib": ("Erlang terms, zlib", 345, "15", "9", "67"),
    "etf-mc-zlib": ("Erlang terms, megaco_compressed, zlib", 200, "11", "4", "45"),
}

Found = dict[str, tuple[Record, list[Row]]]


def _row(rows: list[Row], work: str, ours: bool) -> Row | None:
    return next((r for r in rows if r.work == work and words.ours(r.peer) == ours and r.comparable), None)


def table_leads(found: Found, before: str = "") -> list[Lead]:
    """Both ways together, each configuration."""
    out = []
    for name, (title, *_) in PUBLISHED.items():
        if name not in found:
            continue
        rows = found[name][1]
        ours = [_row(rows, work, True) for work in ("encode", "decode")]
        theirs = [_row(rows, work, False) for work in ("encode", "decode")]
        if all(ours) and all(theirs):
            total = sum(row.median for row in ours if row)
            other = sum(row.median for row in theirs if row)
            peer = next(row.peer for row in theirs if row)
            out.append(Lead(_label(before + title), f"{total / 1e3:.2f} µs", [(peer, other / total)]))
    return out


def _label(text: str) -> str:
    """A title short enough for a picture."""
    text = text.replace("megaco_compressed", "mc").replace("scanner in C", "C scanner")
    return text[0].upper() + text[1:]


def blocks(found: Found) -> list[Block]:
    """The table, its picture, and mstone."""
    names = [name for name in PUBLISHED if name in found]
    if not names:
        return [Text("No record yet: `bench/megaco --record` makes it.")]
    record = found[names[0]][0]
    columns = [
        "configuration", "octets: ours:", "Erlang:", "encode µs: ours:", "Erlang:", "ratio:",
        "decode µs: ours:", "Erlang:", "ratio:", "page: enc / dec µs:", "older machine, total µs:",
    ]  # fmt: skip
    rows = []
    for name in names:
        title, _, encode, decode, older = PUBLISHED[name]
        line = [title]
        have = found[name][1]
        sizes = [_row(have, "encode", ours) for ours in (True, False)]
        line += [f"{row.octets:,.0f}" if row else "–" for row in sizes]
        for work in ("encode", "decode"):
            ours, theirs = _row(have, work, True), _row(have, work, False)
            slow = bool(ours and theirs and theirs.median < ours.median)
            line.append(words.bold(_us(ours), slow))
            line.append(_us(theirs))
            line.append(words.bold(words.times(theirs.median / ours.median), slow) if ours and theirs else "–")
        rows.append([*line, f"{encode} / {decode}", older])
    out: list[Block] = [Table(columns, rows)]
    refused = [
        f"{PUBLISHED[n][0]}, {r.peer}: {r.note}" for n in names for r in found[n][1] if r.work == "decode" and r.note
    ]
    if refused:
        out.append(Text("Without figures: " + "; ".join(refused) + "."))
    pictured = table_leads(found)
    if pictured:
        svg = leads(
            "Megaco / H.248: Erlang/OTP beside Tercet",
            "time to encode and decode a message, mean of 149 messages; Tercet is 1",
            pictured,
            f"bench/megaco --record · bench/record/{record.name}",
        )
        alt = "Bars: how many times as long Erlang's codecs take as Tercet's, for each of the 12 configurations"
        out.append(Figure("megaco.svg", svg, alt))
    out.append(
        Text(
            f"From `bench/megaco --record`, {source(record)}: best of the rounds of `tercet megaco meas`, Erlang's "
            "codecs in the same run on the same messages; medians over the runs. Ours maps names as the plain "
            "configurations do, in the *native* ones too, which leave that out. The columns of the page are of its "
            "authors' machines."
        )
    )
    return [*out, *_mstone(found, names)]


def _us(row: Row | None) -> str:
    return f"{row.median / 1e3:.2f}" if row else "–"


def _mstone(found: Found, names: list[str]) -> list[Block]:
    """Messages a second over threads."""
    plain = [name for name in names if any(row.work == "mstone" for row in found[name][1])]
    if not plain:
        return []
    counts = sorted({row.workers for name in plain for row in found[name][1] if row.work == "mstone"})
    record = found[plain[0]][0]
    rows, series = [], []
    colours = ["ours", "l-rust", "l-c", "l-java", "l-erlang", "l-go", "l-perl", "l-python", "l-other"]
    for name in plain:
        rates = {r.workers: r.records_per_second for r in found[name][1] if r.work == "mstone"}
        scaling = rates[counts[-1]] / rates[counts[0]] if len(rates) == len(counts) else 0.0
        rows.append([PUBLISHED[name][0], *(words.rate(rates.get(n, 0.0)) for n in counts), f"{scaling:.2f}"])
        points = [(float(n), rate) for n, rate in sorted(rates.items())]
        series.append(Series(_label(PUBLISHED[name][0]), points, colours[len(series) % len(colours)]))
    head = ["messages/s on", *(f"{n} thread{'s' if n > 1 else ''}:" for n in counts), "scaling:"]
    svg = curves(
        "mstone: messages a second over threads",
        "each thread decodes and encodes the messages, one encoding at a time",
        series,
        ("threads", "messages/s"),
        f"bench/megaco --record · bench/record/{record.name}",
    )
    alt = "Curves: messages a second of each encoding over the number of threads"
    told = "mstone: all threads decode and encode at once, without anything shared (`tercet megaco mstone`)."
    return [Text(told), Table(head, rows), Figure("mstone.svg", svg, alt)]


def behind(found: Found) -> list[str]:
    """Configurations at which Erlang is faster."""
    out = []
    for name, (title, *_) in PUBLISHED.items():
        for work in ("encode", "decode"):
            rows = found[name][1] if name in found else []
            ours, theirs = _row(rows, work, True), _row(rows, work, False)
            if ours and theirs and theirs.median < ours.median:
                out.append(f"**Megaco, {title}, {work}: {theirs.peer} {_us(theirs)} µs, ours {_us(ours)} µs**")
    return out
