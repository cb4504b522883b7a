"""The type stubs say what there is at run time: names, signatures, docstrings."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import tercet

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
import stubs  # noqa: E402

# Aliases and dictionaries of keyword arguments are types and nothing else; `get` comes from Mapping in the stub.
TYPES_ALONE = r"""
tercet\._tercet\.(CaptureError|CaptureWarning|DecodeOptions|ValueOptions|FileOptions|FramingOptions|RowOptions|RecordOptions|ScanOptions)
tercet\._tercet\.(Input|Specification|SupportsRead|Tags|_ldap|_megaco|__all__)
tercet\.ldap\._ldap\.(ConnectOptions|SearchOptions|Controls|Found|Mechanism|Modification|Name|Operation|Pem|Scope)
tercet\.ldap\._ldap\.(Value|Values|__all__)
tercet\._tercet\.LazyDict\.get
tercet\.ldap\._ldap\.Entry\.get
tercet\.megaco\._megaco\.(Data|Ended|Way|__all__)
"""


@pytest.mark.parametrize("module", stubs.MODULES)
def test_docstrings_of_stubs_are_those_at_run_time(module: str) -> None:
    assert stubs.written(module) == stubs.path_of(module).read_text(), "run `scripts/python stubs`"


@pytest.mark.parametrize("module", stubs.MODULES)
def test_everything_has_a_docstring(module: str) -> None:
    texts = {name: stubs.docstring(found) for name, _, found in stubs.items(module)}
    assert [name for name, text in texts.items() if not text] == []
    # That of a static method is not that of `staticmethod`.
    generic = inspect.cleandoc(staticmethod.__doc__ or "")
    assert [name for name, text in texts.items() if text == generic] == []
    assert len(list(stubs.items(module))) > 14


def test_everything_public_has_a_docstring() -> None:
    from tercet import ldap

    for module in (tercet, ldap):
        assert inspect.getdoc(module)
        for name in module.__all__:
            assert name.startswith("__") or inspect.getdoc(getattr(module, name)), name


def test_signatures_of_stubs_are_those_at_run_time(tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.write_text(TYPES_ALONE)
    command = [sys.executable, "-m", "mypy.stubtest", "--concise", "--allowlist", str(allowed), "--mypy-config-file"]
    done = subprocess.run(
        [*command, str(ROOT / "pyproject.toml"), *stubs.MODULES], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
