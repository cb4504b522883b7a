"""Runs the benches: see bench/README.md."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from typing import Any

from . import canonical, counts, definitions, records, runners
from .records import Row
from .runners import Runner

#: Values compared between peers; enough to see each kind of record, few enough for the slow ones.
COMPARED = 100


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench/run", description="Measures decoding and encoding, ours and peers'.")
    parser.add_argument("inputs", nargs="*", help="names of definitions (all when none is given)")
    parser.add_argument("--work", action="append", choices=list(runners.WORKS), help="only this work")
    parser.add_argument("--peer", action="append", choices=runners.PEERS, help="only this engine")
    parser.add_argument("--rounds", type=int, default=7, help="rounds A B A B … (default 7)")
    parser.add_argument("--seconds", type=float, default=0.2, help="thread CPU time of a batch (default 0.2)")
    parser.add_argument("--no-counts", action="store_true", help="no instructions and allocations, which take valgrind")
    records.arguments(parser)
    options = parser.parse_args()
    rows: list[Row] = []
    found = [d for d in definitions.load(options.inputs) if d.available or options.inputs]
    if not any(not d.own for d in found):
        print(f"bench/run: no corpora at {definitions.corpora()}, only our own records", file=sys.stderr)
    for definition in found:
        if not definition.available:
            print(f"bench/run: {definition.name}: {definition.input} is missing", file=sys.stderr)
            continue
        for work in options.work or list(runners.WORKS):
            rows += _measure(definition, work, options)
    if not rows:
        print("bench/run: nothing to measure", file=sys.stderr)
        return 1
    print(records.table(rows))
    records.keep(rows, options)
    return records.verdict(rows)


def _measure(definition: definitions.Definition, work: str, options: argparse.Namespace) -> list[Row]:
    peers = [p for p in runners.PEERS if p in runners.WORKS[work] and (not options.peer or p in options.peer)]
    peers = [peer for peer in peers if runners.does(definition, peer) and runners.does(definition, work)]
    print(f"{definition.name}: {work}", file=sys.stderr)
    started = [runners.start(definition, peer, work) for peer in peers]
    rows = [Row(definition.name, work, runner.name, note=runner.refusal) for runner in started]
    ready = [(runner, row) for runner, row in zip(started, rows, strict=True) if not runner.refusal]
    try:
        for runner, row in ready:
            try:
                row.digest = _digest(definition, work, runner)
            except (RuntimeError, ValueError) as error:
                row.note = f"fails: {error}"
        ready = [(runner, row) for runner, row in ready if not row.note]
        records.refuse_unlike([row for _, row in ready])
        for runner, _ in ready:
            runner.ask(f"run {options.seconds / 4}")
        for _ in range(options.rounds):
            for runner, _ in ready:
                runner.samples.append(_timed(runner, options.seconds))
        for runner, row in ready:
            records.summarize(row, runner.samples)
            row.peak = records.peak(runner.process.pid) if runner.process else 0
            if work in ("decode", "encode", "reuse", "check") and not options.no_counts:
                counted = counts.count(definition, runner.peer, work)
                if counted:
                    row.instructions, row.allocations = counted.instructions, counted.allocations
    finally:
        for runner in started:
            runner.close()
    return rows


def _digest(definition: definitions.Definition, work: str, runner: Runner) -> str:
    """What the work produced, in a form that peers can be compared by."""
    if work in ("walk", "memcpy", "csv", "validate"):
        return str(runner.ask("digest")["digest"])
    answers = runner.dump(COMPARED)
    if answers and "hex" in answers[0]:
        answers = _decoded_by_reference(definition, answers)
    return canonical.digest(definition, answers)


def _decoded_by_reference(
    definition: definitions.Definition, answers: list[dict[str, object]]
) -> list[dict[str, object]]:
    """Encodings may differ and say the same (SET order, lengths): one independent decoder reads them all.

    asn1tools does not compile the larger specifications of PER, so that pycrate is that decoder there.
    """
    peer = "asn1tools" if definition.family == "ber" else "pycrate"
    codec = REFERENCES.get((peer, definition.name))
    if codec is None:
        path = definitions.BENCH / "engines" / peer / "runner.py"
        sys.path.insert(0, str(path.parent.parent))
        spec = importlib.util.spec_from_file_location(f"reference_{peer}", path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        make = module.Asn1tools if peer == "asn1tools" else module.Pycrate
        schema = [str(path) for path in definition.schema]
        codec = make(schema, definition.module, definition.type, definition.rules)
        REFERENCES[peer, definition.name] = codec
    return [{"json": codec.plain(codec.decode(bytes.fromhex(str(answer["hex"]))))} for answer in answers]


#: Independent decoders that are ready.
REFERENCES: dict[tuple[str, str], Any] = {}


def _timed(runner: Runner, seconds: float) -> dict[str, Any]:
    """A batch, with the time of the clock on the wall."""
    start = time.perf_counter_ns()
    sample = runner.ask(f"run {seconds}")
    return sample | {"wall_ns": time.perf_counter_ns() - start}


if __name__ == "__main__":
    sys.exit(main())
