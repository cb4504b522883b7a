"""Gateways and controllers of Megaco: ours beside Erlang/OTP's."""

from __future__ import annotations

from ..records import Record, Row
from . import words
from .codecs import source
from .document import Block, Table, Text

#: How many times as much Erlang is to take at least.
GOAL = 10.0

Found = dict[str, tuple[Record, list[Row]]]


def _row(rows: list[Row], work: str, ours: bool) -> Row | None:
    return next((r for r in rows if r.work == work and words.ours(r.peer) == ours and r.comparable), None)


def blocks(found: Found) -> list[Block]:
    """The table of all rows."""
    if not found:
        return [Text("No record yet: `bench/gateways --record` makes it.")]
    lines, short, has_latencies = [], [], False
    for name, (_, have) in found.items():
        line = [name]
        for ours in (True, False):
            line += [_us(_row(have, work, ours)) for work in ("gateway", "controller", "both")]
        mine, peer = (_row(have, "both", ours) for ours in (True, False))
        if mine and peer:
            ratio = peer.low / mine.low
            line.append(words.bold(words.times(ratio), ratio < 1))
            if ratio < GOAL:
                short.append(f"{name} ({words.times(ratio)})")
        else:
            line.append("–")
        latencies = [_row(have, f"{quantile} at half load", True) for quantile in ("p50", "p99")]
        has_latencies |= any(latencies)
        lines.append([*line, *(_ms(row) for row in latencies)])
    record = next(reversed(found.values()))[0]
    columns = [
        *["both by the loopback", "ours µs: gateway:", "controller:", "both:"],
        *["Erlang µs: gateway:", "controller:", "both:", "ratio:"],
    ]
    # Older records have none.
    if has_latencies:
        columns += ["ours ms at half load: p50:", "p99:"]
    lines = [line[: len(columns)] for line in lines]
    out: list[Block] = [
        Text(
            "Gateways and controllers: a gateway registers with a controller and sends it requests over the loopback, "
            "UDP unless a row names TCP, 16 at once unless it is one at a time. CPU time of a transaction, a request "
            "and its reply, with that of the system, on each side."
        ),
        Table(columns, lines),
    ]
    if has_latencies:
        out.append(
            Text(
                "Latencies are from a request to its reply, at half the rate that was reached, with both sides on this "
                "machine. Erlang's gateway has no rate."
            )
        )
    both = [(name, row) for name, (_, have) in found.items() for row in have if row.work == "both"]
    refused = [f"{name}, {row.peer}: {row.note}" for name, row in both if row.note]
    if refused:
        out.append(Text("Without figures: " + "; ".join(refused) + "."))
    if short:
        out.append(Text(f"Below {GOAL:.0f} times: {', '.join(short)}."))
    out.append(
        Text(
            f"From `bench/gateways --record`, {source(record)}: the best of the rounds, `tercet megaco load` and `mgc` "
            "beside Erlang's application on one scheduler a side. Ours prints an event for each request. The rows of a "
            "scanner in C, of cast and of threads are Erlang's alone; ours is the plain one there."
        )
    )
    return out


def _us(row: Row | None) -> str:
    return f"{row.low / 1e3:.2f}" if row else "–"


def _ms(row: Row | None) -> str:
    return f"{row.low / 1e6:.2f}" if row else "–"


def behind(found: Found) -> list[str]:
    """Rows in which Erlang takes less."""
    out = []
    for name, (_, have) in found.items():
        mine, peer = (_row(have, "both", ours) for ours in (True, False))
        if mine and peer and peer.low < mine.low:
            out.append(f"**Gateways, {name}: {peer.peer} {_us(peer)} µs, ours {_us(mine)} µs**")
    return out
