"""Compilers of specifications, ours and peers': time, memory, and how much code they make: see bench/README.md."""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import commands, definitions, records, runners
from .definitions import BENCH, BUILD, Definition
from .records import Row

KIND = "compilers"

#: The inputs whose specifications are compiled: one for each specification, from small to large.
INPUTS = ["demo", "personnel-1-uper", "scp", "x509", "tap", "nbap", "ngap-ics", "nr-measurement"]

#: The specification whose code is built, and whose code that is: by `cargo build --release` of the runner that
#: `bench/setup-compiled` has made, with everything else built already.
BUILT, BUILDERS = "nr-measurement", ["tercet-generated", "tercet-generated-small", "rasn", "hampi"]

#: What asn1c copies to where it makes code.
SKELETONS = Path("/usr/share/asn1c")

#: Compiles with asn1tools, which keeps what it made in memory.
ASN1TOOLS = "import asn1tools, sys; asn1tools.compile_files(sys.argv[2:], sys.argv[1])"


@dataclass
class Lane:
    """A compiler as a command; what it makes is in files with these endings in its folder."""

    row: Row
    command: list[str]
    folder: Path
    endings: tuple[str, ...] = ()

    def once(self) -> commands.Spent:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        return commands.run(self.command, limit=900.0, folder=self.folder)

    def code(self) -> int:
        """Octets of code; what a compiler links to or copies as it is belongs to its library."""
        files = (path for path in self.folder.rglob("*") if path.suffix in self.endings and not path.is_symlink())
        return sum(path.stat().st_size for path in files if not (SKELETONS / path.name).exists())


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench/compilers", description="Measures compilers of specifications.")
    parser.add_argument("inputs", nargs="*", help="names of definitions (default: one for each specification)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds A B C A B C … (default 5)")
    records.arguments(parser)
    options = parser.parse_args()
    known = {definition.name: definition for definition in definitions.load([])}
    rows = []
    for name in options.inputs or INPUTS:
        definition = known[name]
        if all(path.exists() for path in definition.schema):
            rows += _measure(definition, options.rounds)
            rows += [_built(definition, peer) for peer in BUILDERS if name == BUILT]
    if not rows:
        print("bench/compilers: no specifications", file=sys.stderr)
        return 1
    print(records.table(rows))
    records.keep(rows, options, KIND)
    return 0


def _measure(definition: Definition, rounds: int) -> list[Row]:
    lanes = list(_lanes(definition))
    samples: dict[int, list[commands.Spent]] = {}
    for turn in range(rounds):
        for number, lane in enumerate(lanes):
            if lane.row.note:
                continue
            if turn == 0:
                print(f"{definition.name}: {lane.row.peer}, {lane.row.work}", file=sys.stderr)
            taken = samples.setdefault(number, [])
            # What takes minutes is not done again.
            if taken and taken[0].cpu > 60e9:
                continue
            try:
                taken.append(lane.once())
                lane.row.octets = lane.code()
            except (commands.Failed, OSError):
                lane.row.note = "cannot compile the specification"
    for number, lane in enumerate(lanes):
        if not lane.row.note:
            each = [float(spent.cpu) for spent in samples[number]]
            lane.row.low, lane.row.median, lane.row.high = min(each), statistics.median(each), max(each)
            lane.row.wall = statistics.median(spent.wall for spent in samples[number])
            lane.row.peak = max(spent.peak for spent in samples[number])
    shutil.rmtree(BUILD / "compilers", ignore_errors=True)
    return [lane.row for lane in lanes]


def _built(definition: Definition, peer: str) -> Row:
    """What building code takes, and how large the program is. Once, for it takes minutes."""
    text = sum(path.stat().st_size for path in definition.schema)
    row = Row(definition.name, "build", peer, records=text)
    folder = runners.code(definition, peer)
    main = folder / "src" / "main.rs"
    if not main.exists():
        is_refused = (folder / "refused").exists()
        row.note = "cannot compile the specification" if is_refused else "not built: run bench/setup-compiled"
        return row
    print(f"{definition.name}: {peer}, build", file=sys.stderr)
    main.touch()
    target = BUILD / ("rust-generated" if peer.startswith("tercet") else "rust")
    command = ["cargo", "build", "--quiet", "--release", "--target-dir", str(target)]
    try:
        spent = commands.run(command, limit=3600.0, folder=folder)
    except commands.Failed:
        row.note = "cannot compile the specification"
        return row
    row.low = row.median = row.high = float(spent.cpu)
    row.wall, row.peak = float(spent.wall), spent.largest
    row.octets = (target / "release" / f"{folder.parent.name}-{folder.name}").stat().st_size
    return row


def _lanes(definition: Definition) -> Iterator[Lane]:
    schema = [str(path) for path in definition.schema]
    text = sum(path.stat().st_size for path in definition.schema)
    tools, tercet = BUILD / "tools" / "bin", commands.tercet()
    python = BENCH / ".venv" / "bin" / "python"
    sources = [word for path in schema for word in ("-s", path)]
    root = f"{definition.module}.{definition.type}"
    mine = commands.said(tercet, "--version") or "tercet"

    def lane(peer: str, work: str, program: str, words: list[str], *endings: str) -> Lane:
        note = "" if shutil.which(program) else "not installed: run bench/setup and bench/setup-compiled"
        row = Row(definition.name, work, peer, note=note, records=text)
        return Lane(row, [program, *words], BUILD / "compilers" / peer.split()[0], endings)

    yield lane(mine, "read", tercet, ["check", *schema])
    yield lane(
        "asn1tools 0.169.0", "read", str(python), ["-c", ASN1TOOLS, definition.rules.replace("aper", "per"), *schema]
    )
    words = ["compile", *sources, "--roots", root, "--rules", definition.rules, "-o", "generated.rs"]
    yield lane(mine, "code", tercet, words, ".rs")
    yield lane("asn1c 0.9.28", "code", "asn1c", ["-fcompound-names", *schema], ".c", ".h")
    modules = [word for path in schema for word in ("-m", path)]
    yield lane(
        "rasn-compiler 0.16.0", "code", str(tools / "rasn_compiler_cli"), [*modules, "-o", "generated.rs"], ".rs"
    )
    if definition.family == "per":
        words = ["--codec", definition.rules, "--module", "generated.rs", "--", *schema]
        yield lane("hampi 0.7.2", "code", str(tools / "rs-asn1c"), words, ".rs")
    if definition.family == "ber":
        words = [
            "-cp",
            f"{BUILD / 'asn1bean-lib'}/*",
            "com.beanit.asn1bean.compiler.Compiler",
            "-p",
            "made",
            "-o",
            ".",
            "-f",
        ]
        yield lane("asn1bean 1.14.0", "code", "java", [*words, *schema], ".java")


if __name__ == "__main__":
    sys.exit(main())
