"""How the time of a record and the memory grow with the size of a file, on one processor and on all of them."""

from __future__ import annotations

import argparse
import os
import sys

from . import commands, convert, definitions, files, records
from .records import Row

KIND = "growth"

#: Files above are read once: their first round would tell nothing that the others don't.
LARGE = 2e9


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench/growth", description="Measures how conversion grows.")
    parser.add_argument("--input", help="a definition (default: msc, or demo without the corpora)")
    parser.add_argument("--work", default="csv", choices=["csv", "jsonl", "parquet", "xml"])
    parser.add_argument("--sizes", default="1,1e6,1e7,1e8,1e9", help="octets (default %(default)s; 1: one record)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each size (default 5)")
    records.arguments(parser)
    options = parser.parse_args()
    known = {definition.name: definition for definition in definitions.load([]) if definition.available}
    definition = known.get(options.input or "msc") or known.get("demo")
    if not definition:
        print("bench/growth: no input: run bench/setup", file=sys.stderr)
        return 1
    name = commands.said(commands.tercet(), "--version") or "tercet"
    jobs = sorted({1, os.cpu_count() or 1})
    rows = []
    for size in (float(text) for text in options.sizes.split(",")):
        source, count = files.raw(definition, size)
        octets = source.stat().st_size / count
        these = [Row(definition.name, options.work, name, octets=octets, records=count, workers=n) for n in jobs]
        samples: list[list[commands.Spent]] = [[] for _ in these]
        # The first round warms the cache of the file up and is not counted.
        large = size > LARGE
        for turn in range(1, 2) if large else range(options.rounds + 1):
            for row, taken in zip(these, samples, strict=True):
                print(f"{definition.name}: {size:.0e} octets, {row.workers} threads", file=sys.stderr)
                # To nowhere: a file of 13 times the size would measure the disk.
                spent = commands.run(convert.ours(definition, options.work, source, None, row.workers))
                if turn:
                    taken.append(spent)
        for row, taken in zip(these, samples, strict=True):
            convert.summarize(row, taken)
        rows += these
        source.unlink()
    print(records.table(rows))
    records.keep(rows, options, KIND)
    return 0


if __name__ == "__main__":
    sys.exit(main())
