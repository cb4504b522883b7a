"""Writes the report, or says whether what is written is current: see bench/README.md."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .. import records
from ..definitions import BENCH, REPOSITORY
from . import readme, whole


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench/write-report", description="Makes the report of the records.")
    parser.add_argument("--check", action="store_true", help="write nothing; tell whether all is current")
    parser.add_argument("--records", type=Path, default=BENCH / "record", metavar="FOLDER")
    parser.add_argument("--into", type=Path, default=BENCH / "report", metavar="FOLDER")
    options = parser.parse_args()
    found = records.load(options.records)
    if not found:
        print(f"bench/write-report: no records in {options.records}", file=sys.stderr)
        return 1
    files = {options.into / name: text for name, text in whole.files(found).items()}
    if options.into == BENCH / "report":
        front = REPOSITORY / "README.md"
        files[front] = readme.filled(front.read_text(), found)
    return _check(files, options.into) if options.check else _write(files, options.into)


def _write(files: dict[Path, str], folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    for old in _strangers(files, folder):
        old.unlink()
    for path, text in files.items():
        path.write_text(text)
    print(f"{os.path.relpath(folder)}: README.md, index.html")
    return 0


def _check(files: dict[Path, str], folder: Path) -> int:
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    for path in [*stale, *_strangers(files, folder)]:
        print(f"{os.path.relpath(path)} is not what the records say: run bench/write-report", file=sys.stderr)
    return 1 if stale or _strangers(files, folder) else 0


def _strangers(files: dict[Path, str], folder: Path) -> list[Path]:
    """Files of an earlier report that this one does not have."""
    return [path for path in sorted(folder.glob("*")) if path.is_file() and path not in files]


if __name__ == "__main__":
    sys.exit(main())
