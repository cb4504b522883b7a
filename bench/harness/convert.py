"""Files of records to tables and texts by whole commands, ours and peers': see bench/README.md."""

from __future__ import annotations

import argparse
import itertools
import statistics
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from . import canonical, commands, definitions, files, records
from .definitions import BENCH, BUILD, Definition
from .records import Row

KIND = "convert"

#: Inputs and what their records become; the page of ASN1C has the first two.
WORKS = [
    ("msc", "csv"),
    ("scp", "xml"),
    ("msc", "parquet"),
    ("msc", "jsonl"),
    ("scp", "parquet"),
    ("tap-typical", "csv"),
]

#: Where the corpora are missing.
OWN = [("demo", "csv"), ("demo", "xml"), ("demo", "parquet")]

#: Behind the name of an engine that reads a table of ours instead of the records.
COPIES = ", copies the table"

#: Behind ours where what it writes is not kept.
TO_PIPE, TO_NOWHERE = ", to a pipe", ", to nowhere"

#: What ours becomes that is written to a pipe and to nowhere, too: what is left to the file is the cost of the disk.
STREAMS = ["csv", "jsonl"]

#: Records that are compared between outputs, and characters of XML that have them.
COMPARED = 100
LOOKED_AT = 1 << 20


@dataclass
class Lane:
    """One command and what its rounds took."""

    row: Row
    command: list[str]
    out: Path
    #: Where the command says what is to be kept: in a file that it is told, or on standard output.
    prints: bool = False
    #: Where what it prints goes in the rounds, if not to that file.
    goes: str = ""
    samples: list[commands.Spent] = field(default_factory=list)

    def prove(self) -> None:
        """Runs it with a file as its output, whatever the rounds have."""
        commands.run(self.command, out=self.out if self.prints else None)

    def once(self) -> commands.Spent:
        out = self.out if self.prints and not self.goes else None
        return commands.run(self.command, out=out, is_piped=self.goes == TO_PIPE)


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench/convert", description="Measures whole commands, ours and peers'.")
    parser.add_argument("--rounds", type=int, default=5, help="rounds A B C A B C … (default 5)")
    parser.add_argument("--megabytes", type=float, default=40, help="of input (default 40)")
    parser.add_argument("--jobs", type=int, help="threads of ours (default: one for each processor)")
    records.arguments(parser)
    options = parser.parse_args()
    known = {definition.name: definition for definition in definitions.load([]) if definition.available}
    works = [(known[name], work) for name, work in WORKS if name in known]
    works = works or [(known[name], work) for name, work in OWN if name in known]
    rows = [row for definition, work in works for row in _measure(definition, work, options)]
    if not rows:
        print("bench/convert: no inputs: run bench/setup", file=sys.stderr)
        return 1
    print(records.table(rows))
    records.keep(rows, options, KIND)
    return records.verdict(rows)


def ours(definition: Definition, work: str, source: Path, out: Path | None, jobs: int | None) -> list[str]:
    """Our command: the specification is read, the file decoded, the output written, to a file or standard output."""
    command = [commands.tercet(), "convert", "--quiet", "-t", definition.type, "-f", work]
    command += ["-o", str(out)] if out else []
    # Peers leave octets as they are.
    command += ["--render", "none"]
    command += [word for path in definition.schema for word in ("-s", str(path))]
    return [*command, *(["--jobs", str(jobs)] if jobs else []), str(source)]


def _measure(definition: Definition, work: str, options: argparse.Namespace) -> list[Row]:
    lanes = []
    for lane in _lanes(definition, work, options):
        print(f"{definition.name}: {lane.row.peer}, {work}", file=sys.stderr)
        if not lane.row.note:
            try:
                lane.prove()
                lane.row.digest = _digest(definition, work, lane.out)
            except (commands.Failed, OSError, ValueError, SyntaxError) as error:
                lane.row.note = f"fails: {error}"
        lanes.append(lane)
    return interleaved(lanes, options.rounds)


def interleaved(lanes: list[Lane], rounds: int) -> list[Row]:
    """Rounds of the commands that have proved themselves, A B C A B C …; their outputs are removed."""
    ready = [lane for lane in lanes if not lane.row.note]
    records.refuse_unlike([lane.row for lane in ready])
    for _ in range(rounds):
        for lane in ready:
            lane.samples.append(lane.once())
    for lane in ready:
        summarize(lane.row, lane.samples)
        if lane.out.is_file() and not lane.goes:
            lane.row.written = lane.out.stat().st_size / lane.row.records
        lane.out.unlink(missing_ok=True)
    return [lane.row for lane in lanes]


def summarize(row: Row, samples: list[commands.Spent]) -> None:
    """What a record takes."""
    each = [spent.cpu / row.records for spent in samples]
    row.low, row.median, row.high = min(each), statistics.median(each), max(each)
    row.wall = statistics.median(spent.wall for spent in samples) / row.records
    row.peak = max(spent.peak for spent in samples)


def _lanes(definition: Definition, work: str, options: argparse.Namespace) -> Iterable[Lane]:
    out = BUILD / "files"
    out.mkdir(parents=True, exist_ok=True)
    # One file for all: what a command takes to start would weigh more on the records of a smaller one.
    source, count = files.raw(definition, options.megabytes * 1e6)

    def row(peer: str, note: str = "") -> Row:
        return Row(definition.name, work, peer, octets=source.stat().st_size / count, records=count, note=note)

    target = out / f"ours.{work}"
    mine = row(commands.said(commands.tercet(), "--version") or "tercet")
    yield Lane(mine, ours(definition, work, source, target, options.jobs), target)
    if work in STREAMS:
        command = ours(definition, work, source, None, options.jobs)
        for goes in (TO_PIPE, TO_NOWHERE):
            yield Lane(row(mine.peer + goes), command, out / f"ours-printed.{work}", True, goes)
    if work == "xml":
        converter, why = _asn1c(definition)
        yield Lane(row("asn1c 0.9.28", why), [converter, "-iber", "-oxer", str(source)], out / "asn1c.xml", True)
    if work in ("csv", "xml", "jsonl"):
        python = BENCH / ".venv" / "bin" / "python"
        script = BENCH / "engines" / "asn1tools" / "convert.py"
        target = out / f"asn1tools.{work}"
        words = [
            str(python),
            str(script),
            work,
            definition.type,
            str(source),
            str(target),
            *map(str, definition.schema),
        ]
        yield Lane(row("asn1tools 0.169.0", "" if python.exists() else "not installed"), words, target)
    if work == "parquet":
        # They decode nothing: each copies the table that ours has written.
        for tool in ("pyarrow", "duckdb"):
            told = commands.said(commands.python(), "-c", f"import {tool}; print({tool}.__version__)")
            version = told.splitlines()[-1] if told else ""
            note = "" if version[:1].isdigit() else "not installed: run bench/setup-python"
            copy = out / f"{tool}.{work}"
            words = [
                commands.python(),
                str(BENCH / "engines" / "parquet" / "copy_table.py"),
                tool,
                str(target),
                str(copy),
            ]
            yield Lane(row(" ".join([tool, *([] if note else [version])]) + COPIES, note), words, copy)


def _asn1c(definition: Definition) -> tuple[str, str]:
    """The converter that asn1c makes of a specification, built when it is missing; why it is not."""
    out = BUILD / "asn1c-converter" / definition.name
    converter = out / "converter"
    if not converter.exists():
        build = BENCH / "engines" / "asn1c" / "build-converter"
        try:
            words = [str(build), str(out), definition.type, *map(str, definition.schema)]
            subprocess.run(words, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return str(converter), "cannot compile the specification, or not installed"
    return str(converter), ""


def _digest(definition: Definition, work: str, out: Path) -> str:
    """Of XML and JSON, the values of the first records; of CSV, whose columns differ by tool, that there is a table; of
    Parquet the number of rows."""
    if work == "xml":
        end = f"</{definition.type}>"
        with open(out, encoding="utf-8") as file:
            pieces = file.read(LOOKED_AT).split(end)[:COMPARED]
        # What stands in front of the first record is the declaration and, in ours, an element around all.
        pieces[0] = pieces[0][pieces[0].index(f"<{definition.type}") :]
        values = [{"xer": piece + end} for piece in pieces]
    elif work == "jsonl":
        with open(out, encoding="utf-8") as lines:
            values = [{"text": line} for line in itertools.islice(lines, COMPARED)]
    elif work == "csv":
        with open(out, encoding="utf-8") as lines:
            return "a table" if sum(1 for _ in itertools.islice(lines, COMPARED)) else "nothing"
    else:
        asks = "import sys, pyarrow.parquet as it; print(it.read_metadata(sys.argv[1]).num_rows)"
        rows = commands.said(commands.python(), "-c", asks, str(out))
        return f"{rows} rows" if rows.isdigit() else "nothing"
    return canonical.digest(definition, values)


if __name__ == "__main__":
    sys.exit(main())
