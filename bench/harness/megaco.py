"""Codecs of Megaco/H.248, ours and Erlang's, and mstone: `tercet megaco meas` and `mstone`, several times."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from pathlib import Path

from . import commands, definitions, records
from .records import Row

KIND = "megaco"

#: Configurations of Erlang/OTP, in the order of its page.
CONFIGURATIONS = [
    "pretty", "pretty-flex", "compact", "compact-flex", "per", "per-native", "ber", "ber-native",
    "etf", "etf-mc", "etf-zlib", "etf-mc-zlib",
]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="bench/megaco", description="Measures the codecs of Megaco, ours and Erlang's."
    )
    parser.add_argument("--messages", type=Path, metavar="FOLDER", help="one message a file (default: the corpora's)")
    parser.add_argument("--rounds", type=int, default=7, help="runs of meas and mstone (default 7)")
    parser.add_argument("--time", type=int, default=200, metavar="MS", help="for each encoding and direction")
    parser.add_argument("--threads", type=int, help="most threads of mstone (default: as many as processors)")
    records.arguments(parser)
    options = parser.parse_args()
    folder = options.messages or definitions.corpora() / "megaco" / "pretty"
    messages = sorted(str(path) for path in folder.glob("*")) if folder.is_dir() else []
    if not messages:
        print(f"bench/megaco: no messages in {folder}: give --messages", file=sys.stderr)
        return 1
    samples: dict[tuple[str, str, bool], list[tuple[float, float]]] = {}
    stones: dict[tuple[str, int], list[float]] = {}
    for _ in range(options.rounds):
        for name, cells in _table(["meas", "--time", str(options.time), *messages]).items():
            for ours, part in ((True, cells[:4]), (False, cells[4:8])):
                for work, value in zip(("encode", "decode"), part[1:3], strict=False):
                    samples.setdefault((name, work, ours), []).append((part[0], value * 1e3))
        threads = ["--threads", str(options.threads)] if options.threads else []
        for name, cells in _table(["mstone", "--time", str(options.time), *threads, *messages]).items():
            for i, rate in enumerate(cells[:-1]):
                stones.setdefault((name, i + 1), []).append(1e9 / rate)
    rows = _rows(samples, stones, len(messages))
    print(records.table(rows))
    records.keep(rows, options, KIND)
    return 0


def _table(arguments: list[str]) -> dict[str, list[float]]:
    """The numbers of each line of a table that the command prints."""
    command = [commands.tercet(), "megaco", *arguments]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = (line.split() for line in text.splitlines()[1:])
    return {words[0]: [float(word) for word in words[1:]] for words in lines}


def _rows(
    samples: dict[tuple[str, str, bool], list[tuple[float, float]]],
    stones: dict[tuple[str, int], list[float]],
    count: int,
) -> list[Row]:
    mine, theirs = commands.said(commands.tercet(), "--version"), _erlang()
    rows = []
    for name in CONFIGURATIONS:
        for work in ("encode", "decode"):
            for ours in (True, False):
                # A configuration that is Erlang's alone stands beside ours of the same encoding.
                plain = name.removesuffix("-flex").removesuffix("-native")
                found = samples.get((name, work, ours)) or (samples.get((plain, work, ours)) if ours else None)
                row = Row(name, work, mine if ours else theirs or "Erlang/OTP megaco", records=count)
                if found:
                    row.octets = found[0][0]
                    _summarize(row, [value for _, value in found])
                else:
                    row.note = "no such configuration here" if theirs else "not installed: run bench/setup"
                rows.append(row)
        for (encoding, threads), each in stones.items():
            if encoding == name:
                row = Row(
                    name, "mstone", mine, octets=samples[name, "decode", True][0][0], workers=threads, records=count
                )
                _summarize(row, each)
                rows.append(row)
    # Encodings of terms differ by release and by version of zlib; the others are the same octets or no comparison.
    for name in CONFIGURATIONS[:8]:
        pair = [row for row in rows if row.input == name and row.work != "mstone" and row.median]
        for row in pair:
            row.digest = f"{row.octets:.0f} octets"
        records.refuse_unlike(pair)
    return rows


def _summarize(row: Row, values: list[float]) -> None:
    row.low, row.median, row.high = min(values), statistics.median(values), max(values)
    row.wall = row.median


def _erlang() -> str:
    """Name and version of the peer; nothing if it is not there."""
    code = (
        'case application:load(megaco) of ok -> {ok, V} = application:get_key(megaco, vsn), '
        'io:format("Erlang/OTP ~s megaco ~s", [erlang:system_info(otp_release), V]); _ -> ok end, halt().'
    )  # fmt: skip
    return commands.said("erl", "-noinput", "-eval", code)


if __name__ == "__main__":
    sys.exit(main())
