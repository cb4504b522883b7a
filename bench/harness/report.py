"""Figures as a table for people and as a dated record for later comparison."""

from __future__ import annotations

import csv
import datetime
import os
import platform
import statistics
from dataclasses import dataclass
from pathlib import Path

from .definitions import BENCH


@dataclass
class Row:
    """One peer, one work, one input."""

    input: str
    work: str
    peer: str
    octets: float = 0.0
    low: float = 0.0
    median: float = 0.0
    high: float = 0.0
    allocations: float | None = None
    digest: str = ""
    note: str = ""

    @property
    def records_per_second(self) -> float:
        return 1e9 / self.median if self.median else 0.0

    @property
    def megabytes_per_second(self) -> float:
        return self.octets / self.median * 1e3 if self.median else 0.0


def summarize(row: Row, samples: list[dict[str, float]]) -> None:
    """Nanoseconds a record over the rounds."""
    each = [sample["ns"] / sample["records"] for sample in samples]
    row.low, row.median, row.high = min(each), statistics.median(each), max(each)
    row.octets = samples[0]["octets"] / samples[0]["records"]


def table(rows: list[Row]) -> str:
    """Markdown, one table for each input."""
    lines: list[str] = []
    for name in dict.fromkeys(row.input for row in rows):
        lines += [
            f"\n## {name}\n",
            "| work | engine | ns/record: median (min–max) | records/s | MB/s | allocations | ratio | digest |",
            "|---|---|---:|---:|---:|---:|---:|---|",
        ]
        ours = {row.work: row.median for row in rows if row.input == name and row.peer.startswith("tercet")}
        for row in (row for row in rows if row.input == name):
            if not row.median:
                lines.append(f"| {row.work} | {row.peer} | {row.note} | | | | | |")
                continue
            base = ours.get(row.work, 0.0)
            ratio = f"{row.median / base:.1f}" if base and not row.note else "–"
            allocations = "" if row.allocations is None else f"{row.allocations:.1f}"
            shown = row.note or row.digest
            rate = f"{row.records_per_second:,.0f} | {row.megabytes_per_second:,.1f}"
            lines.append(
                f"| {row.work} | {row.peer} | {row.median:,.0f} ({row.low:,.0f}–{row.high:,.0f}) "
                f"| {rate} | {allocations} | {ratio} | {shown} |"
            )
    return "\n".join(lines) + "\n"


def record(rows: list[Row]) -> Path:
    """Writes the figures of today for this kind of machine; no host name is in it."""
    folder = BENCH / "record" / machine()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{datetime.date.today().isoformat()}.csv"
    kept = _kept(path, {row.input for row in rows})
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(
            ["input", "work", "engine", "octets", "ns_median", "ns_min", "ns_max", "allocations", "digest", "note"]
        )
        out.writerows(kept)
        for row in rows:
            times = [f"{value:.1f}" if value else "" for value in (row.octets, row.median, row.low, row.high)]
            allocations = "" if row.allocations is None else f"{row.allocations:.2f}"
            out.writerow([row.input, row.work, row.peer, *times, allocations, row.digest, row.note])
    return path


def _kept(path: Path, measured: set[str]) -> list[list[str]]:
    """Rows of an earlier run of the same day that are of other inputs."""
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return [row for row in list(csv.reader(file))[1:] if row[0] not in measured]


def machine() -> str:
    """Architecture and processor, as far as the system tells."""
    model = ""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1]
                break
    except OSError:
        pass
    words = [word for word in model.replace("(R)", " ").replace("(TM)", " ").replace("@", " ").split() if word != "CPU"]
    text = "-".join([platform.machine(), *words, f"{os.cpu_count()}cpu"]).lower()
    return "".join(c for c in text if c.isalnum() or c in "-_.")
