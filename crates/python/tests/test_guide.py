"""The examples of the guide are what it says they are."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def test_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs" / "guide-python.md").read_text()
    names: dict[str, object] = {}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    told: list[str] = []
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)):
        test = doctest.DocTestParser().get_doctest(block, names, f"example {number}", "guide-python.md", 0)
        runner.run(test, out=told.append, clear_globs=False)
        names = test.globs
    assert runner.summarize(verbose=False).attempted > 10
    assert not told, "".join(told)
