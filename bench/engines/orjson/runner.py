"""orjson, which reads the values of a record from JSON that our package made. Octets stay hexadecimal text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import orjson  # noqa: E402
import tercet  # noqa: E402
from python_runner import Codec, main  # noqa: E402


class Orjson(Codec):
    name = f"orjson {orjson.__version__}, from JSON"

    def __init__(self, schema: list[str], module: str, type_name: str, rules: str) -> None:
        read = tercet.Schema.load(schema)
        self._octets = read.codec(f"{module}.{type_name}", rules)
        self._text = read.codec(f"{module}.{type_name}", "jer")
        self.decode = orjson.loads  # type: ignore[method-assign]

    def given(self, octets: bytes) -> bytes:
        return self._text.encode(self._octets.decode(octets))

    def plain(self, value: Any) -> Any:
        return value


if __name__ == "__main__":
    main(Orjson)
