"""Builds the runners of a peer in Rust for all inputs of PER: see bench/setup-rust."""

from __future__ import annotations

import shutil
import subprocess
import sys

from . import definitions
from .definitions import BENCH, BUILD

#: Seconds for one specification.
LIMIT = 1800


def main(peer: str, names: list[str]) -> None:
    for definition in definitions.load(names):
        if definition.rules == "ber" or not definition.available:
            continue
        out = BUILD / peer / definition.name
        if (out / "runner").exists() or (out / "refused").exists():
            continue
        arguments = [definition.rules, definition.module, definition.type, *map(str, definition.schema)]
        command = [str(BENCH / "engines" / peer / "build"), str(out), *arguments]
        try:
            made = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
            why = "" if made.returncode == 0 else made.stdout.strip() or "cannot compile"
        except subprocess.TimeoutExpired:
            why = f"not compiled within {LIMIT} seconds"
        print(f"{peer} {definition.name}: {why or 'ready'}", file=sys.stderr)
        if why:
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir(parents=True)
            (out / "refused").write_text(why[:200])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
