"""What is compared: specifications, and where their values come from."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from .processes import REPOSITORY


@dataclass
class Specification:
    """Files that make one specification, and known values of its types, if somebody has them."""

    name: str
    files: list[Path]
    values: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))


def corpora() -> Path:
    """The folder with specifications that are not part of the repository."""
    return Path(os.environ.get("TERCET_CORPORA", REPOSITORY.parent / "shared" / "corpora")).resolve() / "asn1"


def load(patterns: list[str]) -> list[Specification]:
    """All specifications, or those whose names match one of the patterns; the smallest first, traps last."""
    found = [*_own(), *_benches(), *_vectors()]
    found.sort(key=lambda s: sum(file.stat().st_size for file in s.files))
    return [s for s in [*found, *_traps()] if not patterns or any(fnmatch(s.name, p) for p in patterns)]


def _own() -> list[Specification]:
    folders = sorted(path for path in (REPOSITORY / "schemas").iterdir() if path.is_dir())
    return [Specification(f"schemas/{folder.name}", sorted(folder.glob("*.asn"))) for folder in folders]


def _benches() -> list[Specification]:
    folders = sorted((corpora() / "bench" / "specs").iterdir())
    return [Specification(f"bench/{folder.name}", sorted(folder.glob("*.asn"))) for folder in folders]


def _vectors() -> list[Specification]:
    manifest = json.loads((corpora() / "vectors" / "MANIFEST.json").read_text())
    found = []
    for name, entry in manifest.items():
        spec = Specification(name, [corpora() / file for file in entry["files"]])
        path = corpora() / "vectors" / f"{name}.jsonl"
        if path.exists():
            with open(path) as lines:
                for record in map(json.loads, lines):
                    spec.values[f"{record['module']}.{record['type']}"].append(record["value"])
        found.append(spec)
    return found


def _traps() -> list[Specification]:
    found: dict[str, Specification] = {}
    with open(corpora() / "traps" / "traps.jsonl") as lines:
        for record in map(json.loads, lines):
            files = [corpora() / file for file in record["files"]]
            spec = found.setdefault(files[0].stem, Specification(f"traps/{files[0].stem}", files))
            spec.values[f"{record['module']}.{record['type']}"].append(record["value"])
    return list(found.values())
