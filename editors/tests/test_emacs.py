"""`tercet lsp` driven by eglot, in Emacs without a display."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

EDITORS = Path(__file__).resolve().parents[1]
EMACS = shutil.which("emacs")


def has_eglot() -> bool:
    probe = ["--batch", "--eval", "(unless (require 'eglot nil t) (kill-emacs 1))"]
    return EMACS is not None and subprocess.run([EMACS, *probe], capture_output=True).returncode == 0


@pytest.mark.skipif(not has_eglot(), reason="emacs: no Emacs with eglot")
def test_eglot_edits_specifications(tercet: str, tmp_path: Path) -> None:
    path = f"{Path(tercet).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "HOME": str(tmp_path), "PATH": path}
    words = [EMACS, "--batch", "--load", EDITORS / "emacs" / "tercet.el", "--load", EDITORS / "emacs" / "test.el"]
    (tmp_path / "work").mkdir()
    done = subprocess.run(
        words, cwd=tmp_path / "work", env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "all good" in done.stderr, done.stderr
