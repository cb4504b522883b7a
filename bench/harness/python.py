"""Files of records to values and tables in Python, and to Parquet by Spark: see bench/README.md."""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from . import canonical, commands, convert, definitions, files, records
from .definitions import BENCH, BUILD, Definition
from .records import Row

KIND = "python"

#: Inputs, and what they are read with where the corpora are missing.
INPUTS = ["msc", "scp"]
OWN = ["demo"]

#: Values that are compared.
SHOWN = 100

#: Behind the name of an engine that makes a table, where others make a value of each record.
TABLE = ", Arrow table"

#: The engines that read into Python, with what they are asked for.
READERS = [
    ("table", f"tercet-python{TABLE}"),
    ("records", "tercet-python, values"),
    ("asn1tools", "asn1tools"),
]


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench/python", description="Measures Python packages and Spark.")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default 5)")
    parser.add_argument("--megabytes", type=float, default=40, help="of input (default 40)")
    records.arguments(parser)
    options = parser.parse_args()
    known = {definition.name: definition for definition in definitions.load([]) if definition.available}
    found = [known[name] for name in INPUTS if name in known] or [known[name] for name in OWN if name in known]
    rows = [row for definition in found for row in [*_read(definition, options), *_spark(definition, options)]]
    print(records.table(rows))
    records.keep(rows, options, KIND)
    return records.verdict(rows)


def _read(definition: Definition, options: argparse.Namespace) -> list[Row]:
    """To values in memory, as whole processes; rounds are interleaved."""
    lanes = []
    # One file for all: what a process takes to start would weigh more on the records of a smaller one.
    source, count = files.raw(definition, options.megabytes * 1e6)
    for tool, name in READERS:
        python = commands.python() if name.startswith("tercet") else str(BENCH / ".venv" / "bin" / "python")
        row = Row(definition.name, "read", _version(python, name), octets=source.stat().st_size / count, records=count)
        words = [definition.type, str(source)]
        out = BUILD / "files" / f"python-{tool}.json"
        command = [python, str(BENCH / "engines" / "python_read.py"), tool, *words, str(SHOWN)]
        lanes.append(convert.Lane(row, [*command, *map(str, definition.schema)], out, True))
    for lane in lanes:
        _prove(definition, lane.row, lambda lane=lane: (lane.once(), json.loads(lane.out.read_text()))[1])
    return convert.interleaved(lanes, options.rounds)


def _prove(definition: Definition, row: Row, run: Callable[[], dict[str, object]]) -> dict[str, object]:
    """Runs an engine, and keeps the digest of what it says, or why it says nothing."""
    print(f"{definition.name}: {row.peer}, {row.work}, {row.workers}", file=sys.stderr)
    try:
        said = run()
        if said["records"] != row.records:
            row.note = f"other values: {said['records']} records instead of {row.records}"
        values = said["values"]
        assert isinstance(values, list)
        if row.peer.endswith(TABLE) or row.work == "spark":
            values = [_octets(definition, value) for value in values]
        row.digest = canonical.digest(definition, [{"json": value} for value in values])
        return said
    except (commands.Failed, OSError, ValueError, KeyError) as error:
        row.note = f"fails: {error}"
    return {}


def _octets(definition: Definition, value: Any, name: str = "") -> Any:
    """A value of a table, where a BIT STRING is a text of its bits, as others have it."""
    if isinstance(value, dict):
        return {key: _octets(definition, item, key) for key, item in value.items()}
    if name in definition.bit_strings and isinstance(value, str) and value:
        return f"{int(value, 2) << -len(value) % 8:0{(len(value) + 7) // 8 * 2}x}"
    return value


def _spark(definition: Definition, options: argparse.Namespace) -> list[Row]:
    """To Parquet by Spark, with one worker and with two; only the job is timed, by the clock."""
    rows = []
    python = commands.python()
    source, count = files.raw(definition, options.megabytes * 1e6)
    for tool, name in (("tercet", "tercet-python"), ("pyspark-asn1", "pyspark-asn1")):
        for workers in (1, 2):
            octets = source.stat().st_size / count
            row = Row(definition.name, "spark", _version(python, name), octets=octets, records=count, workers=workers)
            out = BUILD / "files" / "spark.parquet"
            words = [tool, str(workers), definition.type, str(source), str(out), str(options.rounds)]
            command = [python, str(BENCH / "engines" / "spark" / "runner.py"), *words, *map(str, definition.schema)]
            said = _prove(definition, row, lambda command=command: _answer(command))
            walls = said.get("wall_ns")
            if isinstance(walls, list) and not row.note:
                each = [wall / count for wall in walls]
                row.low, row.median, row.high = min(each), statistics.median(each), max(each)
                row.wall = row.median
            rows.append(row)
            shutil.rmtree(out, ignore_errors=True)
    records.refuse_unlike([row for row in rows if not row.note])
    return rows


def _answer(command: list[str]) -> dict[str, object]:
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=3600)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise commands.Failed(lines[-1][:160] if lines else f"exit code {done.returncode}")
    found: dict[str, object] = json.loads(done.stdout)
    return found


def _version(python: str, name: str) -> str:
    """The name of an engine with the version that this Python has of its package."""
    package, _, more = name.partition(",")
    package = {"tercet-python": "tercet"}.get(package, package)
    version = commands.said(python, "-c", f"import importlib.metadata as m; print(m.version('{package}'))")
    version = version.splitlines()[-1] if version else ""
    return " ".join([name.partition(",")[0], version if version[:1].isdigit() else ""]).strip() + (
        f",{more}" if more else ""
    )


if __name__ == "__main__":
    sys.exit(main())
