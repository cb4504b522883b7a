"""asn1tools as a peer: octets decoded to Python dictionaries."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import asn1tools  # noqa: E402
from python_runner import Codec, main  # noqa: E402


class Asn1tools(Codec):
    name = f"asn1tools {asn1tools.__version__}"

    def __init__(self, schema: list[str], module: str, type_name: str, rules: str) -> None:
        codec = {"aper": "per"}.get(rules, rules)
        self._codec = asn1tools.compile_files(schema, codec).types[type_name]
        self._jer = asn1tools.compile_files(schema, "jer").types[type_name]

    def decode(self, octets: bytes) -> Any:
        return self._codec.decode(octets)

    def encode(self, value: Any) -> bytes:
        return bytes(self._codec.encode(value))

    def json(self, value: Any) -> str:
        return bytes(self._jer.encode(value)).decode()

    def plain(self, value: Any) -> Any:
        return plain(value)


def plain(value: Any) -> Any:
    """A value of asn1tools as the digest wants it."""
    if isinstance(value, (bytes, bytearray)):
        return value.hex().upper()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, tuple) and isinstance(value[0], str):  # CHOICE
        return {value[0]: plain(value[1])}
    if isinstance(value, tuple):  # BIT STRING
        return value[0].hex().upper()
    if hasattr(value, "isoformat"):  # UTCTime, GeneralizedTime
        return value.strftime("%Y%m%d%H%M%S") + ("Z" if value.tzinfo else "")
    return value


if __name__ == "__main__":
    main(Asn1tools)
