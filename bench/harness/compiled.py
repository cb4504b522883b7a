"""Builds the runners of a peer in Rust, one for each specification and its rules: see bench/setup-compiled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from . import definitions, runners
from .definitions import BENCH, Definition

#: Seconds for one specification.
LIMIT = 3600


def main(peer: str, names: list[str]) -> None:
    """Builds what is missing: for all inputs, or for those with these names."""
    groups: dict[Path, list[Definition]] = {}
    for definition in definitions.load([]):
        if runners.does(definition, peer) and definition.available:
            groups.setdefault(runners.code(definition, peer), []).append(definition)
    for out, group in groups.items():
        wanted = not names or any(definition.name in names for definition in group)
        if not wanted or (out / "runner").exists() or (out / "refused").exists():
            continue
        first, types = group[0], dict.fromkeys(definition.type for definition in group)
        arguments = [first.rules, first.module, ",".join(types), *map(str, first.schema)]
        command = [str(BENCH / "engines" / peer / "build"), str(out), *arguments]
        overlay = f"{first.overlay}\n{first.views}" if peer == runners.VIEWS else first.overlay
        environment = {**os.environ, "OVERLAY": overlay}
        try:
            made = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env=environment)
            why = "" if made.returncode == 0 else made.stdout.strip() or "cannot compile"
        except subprocess.TimeoutExpired:
            why = f"not compiled within {LIMIT} seconds"
        print(f"{peer} {out.name}: {why or 'ready'}", file=sys.stderr)
        if why:
            shutil.rmtree(out, ignore_errors=True)
        # A peer that is not here may come; one that refuses is not asked again.
        if why and not why.endswith("is not installed"):
            out.mkdir(parents=True)
            (out / "refused").write_text(why[:200])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
