"""Figures as dated records: one CSV file for a kind of bench and a day, in `bench/record/<machine>`.

All kinds have one shape, so that one reader does for all; a column that a kind has no use for is empty. Columns are
only ever added at the end, so that old files stay readable. Beside a record stands what it was taken with (`.toml`).
"""

from __future__ import annotations

import argparse
import csv
import datetime
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .definitions import BENCH, REPOSITORY

#: The kind of records whose files have a date and nothing else as their name.
CODECS = "codecs"

COLUMNS = [
    *["input", "work", "engine", "octets", "ns_median", "ns_min", "ns_max", "allocations", "digest", "note"],
    *["wall_ns", "peak_kib", "workers", "records", "instructions", "written"],
]


@dataclass
class Row:
    """One engine, one work, one input. Times and sizes are those of one record (message, entry)."""

    input: str
    work: str
    peer: str
    #: Octets.
    octets: float = 0.0
    #: Nanoseconds of CPU time (of the thread, or of the whole process where that is what is measured).
    low: float = 0.0
    median: float = 0.0
    high: float = 0.0
    allocations: float | None = None
    digest: str = ""
    #: Why there are no figures, or why they cannot be compared.
    note: str = ""
    #: Nanoseconds by the clock on the wall, the median.
    wall: float = 0.0
    #: The most memory that the process had, in KiB.
    peak: int = 0
    #: Threads, connections or processes at once.
    workers: int = 1
    #: Records of one pass.
    records: int = 0
    instructions: float | None = None
    #: Octets of the file that was written, for a record.
    written: float = 0.0

    @property
    def records_per_second(self) -> float:
        return 1e9 / self.median if self.median else 0.0

    @property
    def megabytes_per_second(self) -> float:
        return self.octets / self.median * 1e3 if self.median else 0.0

    @property
    def comparable(self) -> bool:
        """Whether it has a figure of work that gave the same values as that of the others."""
        return bool(self.median) and not self.note


def summarize(row: Row, samples: list[dict[str, float]]) -> None:
    """Nanoseconds a record over the rounds."""
    each = [sample["ns"] / sample["records"] for sample in samples]
    row.low, row.median, row.high = min(each), statistics.median(each), max(each)
    row.octets = samples[0]["octets"] / samples[0]["records"]
    walls = [sample["wall_ns"] / sample["records"] for sample in samples if "wall_ns" in sample]
    row.wall = statistics.median(walls) if walls else 0.0


def refuse_unlike(rows: list[Row]) -> None:
    """No ratio between engines with different values; the digest of most engines is taken as the right one."""
    digests = [row.digest for row in rows]
    if len(set(digests)) > 1:
        common = max(set(digests), key=lambda d: (digests.count(d), -digests.index(d)))
        for row in rows:
            if row.digest != common:
                row.note = f"other values: {row.digest} instead of {common}"


def verdict(rows: list[Row]) -> int:
    """The exit code: 1 if ours gave other values than the rest. Of a peer that does, the report says so."""
    return int(any(row.peer.startswith("tercet") and row.note.startswith("other values") for row in rows))


def table(rows: list[Row]) -> str:
    """Markdown, one table for each input: what a run shows when it ends."""
    lines: list[str] = []
    for name in dict.fromkeys(row.input for row in rows):
        lines += [
            f"\n## {name}\n",
            "| work | engine | ns/record: median (min–max) | records/s | MB/s | instructions | allocations "
            "| ratio | digest |",
            "|---|---|---:|---:|---:|---:|---:|---:|---|",
        ]
        ours = {row.work: row.median for row in rows if row.input == name and row.peer.startswith("tercet")}
        for row in (row for row in rows if row.input == name):
            if not row.median:
                lines.append(f"| {row.work} | {row.peer} | {row.note} | | | | | | |")
                continue
            base = ours.get(row.work, 0.0)
            ratio = f"{row.median / base:.1f}" if base and not row.note else "–"
            instructions = "" if row.instructions is None else f"{row.instructions:,.0f}"
            allocations = "" if row.allocations is None else f"{row.allocations:.1f}"
            shown = row.note or row.digest
            rate = f"{row.records_per_second:,.0f} | {row.megabytes_per_second:,.1f}"
            lines.append(
                f"| {row.work} | {row.peer} | {row.median:,.0f} ({row.low:,.0f}–{row.high:,.0f}) "
                f"| {rate} | {instructions} | {allocations} | {ratio} | {shown} |"
            )
    return "\n".join(lines) + "\n"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of every bench that tell whether and where figures are kept."""
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/record")
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="keep the figures in this folder")


def keep(rows: list[Row], options: argparse.Namespace, kind: str = CODECS) -> None:
    """Writes the figures where the options say, if they do."""
    if options.record or options.into:
        path = write(rows, kind, options.into or BENCH / "record")
        print(f"recorded in {os.path.relpath(path)}")


def write(rows: list[Row], kind: str = CODECS, root: Path = BENCH / "record") -> Path:
    """Writes the figures of today for this kind of machine; no host name is in it."""
    folder = root / machine()
    folder.mkdir(parents=True, exist_ok=True)
    suffix = "" if kind == CODECS else f"-{kind}"
    path = folder / f"{datetime.date.today().isoformat()}{suffix}.csv"
    measured = {row.input for row in rows}
    kept = [row for row in read(path) if row.input not in measured] if path.exists() else []
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        out.writerows(_cells(row) for row in [*kept, *rows])
    path.with_suffix(".toml").write_text("".join(f"{key} = {_quoted(value)}\n" for key, value in about().items()))
    return path


def _cells(row: Row) -> list[str]:
    times = [f"{value:.1f}" if value else "" for value in (row.octets, row.median, row.low, row.high)]
    allocations = "" if row.allocations is None else f"{row.allocations:.2f}"
    instructions = "" if row.instructions is None else f"{row.instructions:.1f}"
    more = [f"{row.wall:.1f}" if row.wall else "", str(row.peak or ""), str(row.workers), str(row.records or "")]
    more += [instructions, f"{row.written:.1f}" if row.written else ""]
    return [row.input, row.work, row.peer, *times, allocations, row.digest, row.note, *more]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def read(path: Path) -> list[Row]:
    """The rows of a record, of whatever age."""
    with open(path, newline="") as file:
        return [_row(cells) for cells in csv.DictReader(file)]


def _row(cells: dict[str, str]) -> Row:
    def number(name: str) -> float:
        return float(cells.get(name) or 0)

    return Row(
        input=cells["input"],
        work=cells["work"],
        peer=cells["engine"],
        octets=number("octets"),
        low=number("ns_min"),
        median=number("ns_median"),
        high=number("ns_max"),
        allocations=number("allocations") if cells["allocations"] else None,
        digest=cells["digest"],
        note=cells["note"],
        wall=number("wall_ns"),
        peak=int(number("peak_kib")),
        workers=int(number("workers")) or 1,
        records=int(number("records")),
        instructions=number("instructions") if cells.get("instructions") else None,
        written=number("written"),
    )


@dataclass
class Record:
    """A file of figures."""

    path: Path
    kind: str
    machine: str
    date: str
    rows: list[Row]
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.machine}/{self.path.name}"


def load(root: Path = BENCH / "record") -> list[Record]:
    """Of each kind all records of the machine that has the newest one, or the larger one of a day; the oldest first."""
    found = []
    for path in sorted(root.glob("*/*.csv")):
        date, kind = path.stem[:10], path.stem[11:] or CODECS
        beside = path.with_suffix(".toml")
        told = tomllib.loads(beside.read_text()) if beside.exists() else {}
        found.append(Record(path, kind, path.parent.name, date, read(path), told))
    newest_last = sorted(found, key=lambda record: (record.date, len(record.rows), record.machine))
    last = {record.kind: record.machine for record in newest_last}
    chosen = (record for record in found if record.machine == last[record.kind])
    return sorted(chosen, key=lambda record: (record.date, record.path.name))


def newest(records: Iterable[Record], kind: str) -> dict[str, tuple[Record, list[Row]]]:
    """For each input of a kind, the last record that has it, and its rows there: all of a comparison is of one run."""
    found: dict[str, tuple[Record, list[Row]]] = {}
    for record in records:
        if record.kind == kind:
            for name in dict.fromkeys(row.input for row in record.rows):
                found[name] = record, [row for row in record.rows if row.input == name]
    return found


def peak(pid: int) -> int:
    """The most memory in KiB that a process that runs has had; 0 where the system does not tell."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    except (OSError, ValueError):
        pass
    return 0


def machine() -> str:
    """Architecture and processor, as far as the system tells."""
    words = [word for word in _processor().replace("(R)", " ").replace("(TM)", " ").replace("@", " ").split()]
    text = "-".join([platform.machine(), *(w for w in words if w != "CPU"), f"{os.cpu_count()}cpu"]).lower()
    return "".join(c for c in text if c.isalnum() or c in "-_.")


def about() -> dict[str, str]:
    """What a record is taken with, so that the report can say so."""
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "command": " ".join([os.environ.get("BENCH_COMMAND", "bench"), *sys.argv[1:]]),
        "commit": _said("git", "-C", str(REPOSITORY), "rev-parse", "--short=10", "HEAD"),
        "processor": _processor(),
        "processors": str(os.cpu_count()),
        "memory": f"{pages / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "rustc": _said("rustc", "--version"),
        "load": load,
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor()


def _said(*command: str) -> str:
    if not shutil.which(command[0]):
        return ""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip()
