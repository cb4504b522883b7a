"""The examples of the guides are what they say they are."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("guide", ["guide-python.md", "guide-python-ldap.md"])
def test_examples(monkeypatch: pytest.MonkeyPatch, guide: str) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs" / guide).read_text()
    names: dict[str, object] = {}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    told: list[str] = []
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)):
        test = doctest.DocTestParser().get_doctest(block, names, f"example {number}", guide, 0)
        runner.run(test, out=told.append, clear_globs=False)
        names = test.globs
    assert runner.summarize(verbose=False).attempted > 10
    assert not told, "".join(told)
