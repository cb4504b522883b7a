"""Instructions and allocations of a record, of runners that are programs: what some more passes add, under valgrind."""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from . import runners
from .definitions import Definition

#: Engines that valgrind can look into.
NATIVE = [
    *["tercet", "tercet-generated", runners.ARENA, runners.VIEWS, "rasn", "hampi", "asn1c", "rust-asn1", "x509-cert"],
    *["openssl", "floor", *runners.DECODERS],
]

#: Records of a pass at most: valgrind takes some fifty times as long.
RECORDS = 500

#: Passes of the two processes whose difference counts.
PASSES = (1, 5)

#: Each call of one of these is an allocation.
ALLOCATORS = {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"}


@dataclass
class Counts:
    """What a process, or a record, took."""

    instructions: float
    allocations: float


def count(definition: Definition, peer: str, work: str) -> Counts | None:
    """Of one record; nothing where valgrind is not there or does not say."""
    if peer not in NATIVE or not shutil.which("valgrind"):
        return None
    few, many = (_process(definition, peer, work, passes) for passes in PASSES)
    if not few or not many:
        return None
    (before, records), (after, _) = few, many
    each = (PASSES[1] - PASSES[0]) * records
    return Counts((after.instructions - before.instructions) / each, (after.allocations - before.allocations) / each)


def _process(definition: Definition, peer: str, work: str, passes: int) -> tuple[Counts, int] | None:
    """Of a process with so many passes, and the number of records of each."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "callgrind"
        under = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={file}"]
        runner = runners.start(definition, peer, work, under, RECORDS)
        if runner.refusal:
            return None
        try:
            runner.ask(f"passes {passes}")
        except (RuntimeError, ValueError):
            return None
        finally:
            runner.close(patience=60)
        return (read(file.read_text()), runner.records) if file.exists() else None


def read(text: str) -> Counts:
    """What callgrind says: the total, and each call of an allocator from elsewhere.

    A function has a number, and its name where it stands first: `cfn=(12) malloc`, then `cfn=(12)`.
    """
    total = re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)
    names: dict[str, str] = {}
    caller = callee = ""
    allocations = 0
    for line in text.splitlines():
        if found := re.match(r"(c?fn)=\((\d+)\)(?: (\S+))?", line):
            kind, number, name = found.groups()
            names[number] = name or names.get(number, "")
            if kind == "fn":
                caller = names[number]
            else:
                callee = names[number]
        elif line.startswith("calls=") and callee in ALLOCATORS and caller not in ALLOCATORS:
            allocations += int(line[6:].split()[0])
    return Counts(float(total[1]) if total else 0.0, float(allocations))
