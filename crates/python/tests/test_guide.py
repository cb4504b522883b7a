"""The examples of the guides are what they say they are."""

import base64
import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def run(guide: str, needs: str) -> doctest.TestResults:
    """Runs the examples of a guide that need a library, or those that need none, one after the other."""
    text = (ROOT / "docs" / guide).read_text()
    names: dict[str, object] = {}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    told: list[str] = []
    blocks = re.findall(rf"^```python{needs}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    for number, block in enumerate(blocks):
        test = doctest.DocTestParser().get_doctest(block, names, f"example {number}", guide, 0)
        runner.run(test, out=told.append, clear_globs=False)
        names = test.globs
    assert not told, "".join(told)
    return runner.summarize(verbose=False)


GUIDES_WITH_FILES = ["guide-captures.md"]
GUIDES = ["guide-python.md", "guide-python-ldap.md", "guide-python-megaco.md", "tutorial-python.md"]


@pytest.mark.parametrize("guide", GUIDES)
def test_examples(monkeypatch: pytest.MonkeyPatch, guide: str) -> None:
    monkeypatch.chdir(ROOT)
    assert run(guide, "").attempted > 10


@pytest.mark.parametrize("guide", GUIDES_WITH_FILES)
def test_examples_with_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, guide: str) -> None:
    text = (ROOT / "docs" / guide).read_text()
    for name, block in re.findall(r"^```\w+ file=(\S+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        if name.endswith(".base64"):
            (tmp_path / name).with_suffix(".pcap").write_bytes(base64.b64decode(block))
        else:
            (tmp_path / name).write_text(block)
    monkeypatch.chdir(tmp_path)
    assert run(guide, "").attempted > 8


@pytest.mark.parametrize("library", ["dask", "ray"])
def test_recipes(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    pytest.importorskip(library, reason=f"python: {library} is not installed: its recipe is not run")
    monkeypatch.chdir(ROOT)
    assert run("guide-python.md", f" needs={library}").attempted > 4
