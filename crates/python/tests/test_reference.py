"""The pages of the docs about the package are those of its stubs."""

import importlib.util
from pathlib import Path


def test_pages_are_current() -> None:
    path = Path(__file__).parents[1] / "reference.py"
    spec = importlib.util.spec_from_file_location("reference", path)
    assert spec and spec.loader
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    assert not reference.stale(), "run scripts/python stubs"
    text = (path.parents[2] / "docs" / "reference" / "python.md").read_text()
    assert "\n### Schema.decode\n" in text and "\n## DecodeOptions\n" in text
