"""Our Python package as a peer of those in Python: octets to plain values, or with `lazy` to mappings of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tercet  # noqa: E402
from python_runner import Codec, main  # noqa: E402


class Tercet(Codec):
    is_lazy = "lazy" in sys.argv[1:]
    name = f"tercet-python {tercet.__version__}" + (", lazy" if is_lazy else "")

    def __init__(self, schema: list[str], module: str, type_name: str, rules: str) -> None:
        read = tercet.Schema.load(schema)
        codec = read.codec(f"{module}.{type_name}", rules, lazy=self.is_lazy)
        # What a loop calls most: the methods themselves, as the other runners have them.
        self.decode = codec.decode  # type: ignore[method-assign]
        self.encode = codec.encode  # type: ignore[method-assign]
        self._text = read.codec(f"{module}.{type_name}", "jer")

    def plain(self, value: Any) -> Any:
        return json.loads(self._text.encode(value))


if __name__ == "__main__":
    main(Tercet)
