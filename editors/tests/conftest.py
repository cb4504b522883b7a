"""The language server of one test, and how skips count."""

import os
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "crates" / "testing"))

from tercet_skips import (  # noqa: E402, F401
    pytest_make_collect_report,
    pytest_runtest_logreport,
    pytest_runtest_makereport,
    pytest_sessionstart,
)


@pytest.fixture(scope="session")
def tercet() -> str:
    """The command: `$TERCET`, or the one on PATH."""
    command = os.environ.get("TERCET") or shutil.which("tercet")
    assert command, "build the command first: cargo build --bin tercet"
    return command
