"""asn1tools as a peer."""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import asn1tools  # noqa: E402
from asn1tools.codecs import generalized_time_to_datetime, utc_time_to_datetime  # noqa: E402
from python_runner import Peer, Tree, main  # noqa: E402

CODECS = {"ber": "ber", "der": "der", "aper": "per", "uper": "uper", "oer": "oer", "jer": "jer", "xer": "xer"}


class Asn1tools(Peer):
    name = f"asn1tools {asn1tools.__version__}"

    def __init__(self) -> None:
        self._compiled: dict[str, Any] = {}

    def open(self, name: str, files: list[str], modules: list[str], rules: list[str]) -> dict[str, str]:
        self._compiled = {}
        parsed = asn1tools.parse_files(files)
        answer = {}
        for rule in rules:
            if rule not in CODECS:
                continue
            try:
                self._compiled[rule] = asn1tools.compile_dict(copy.deepcopy(parsed), CODECS[rule])
                answer[rule] = ""
            except Exception as error:
                answer[rule] = f"{type(error).__name__}: {error}"[:300]
        return answer

    def decode(self, module: str, type_name: str, rule: str, octets: bytes) -> Any:
        return self._type(module, type_name, rule).decode(octets)

    def encode(self, module: str, type_name: str, rule: str, value: Any) -> bytes:
        return self._type(module, type_name, rule).encode(value)

    def _type(self, module: str, type_name: str, rule: str) -> Any:
        return self._compiled[rule].modules[module][type_name]

    def content(self, tree: Tree, value: Any) -> tuple[Tree, Any] | None:
        return None

    def leaf(self, tree: Tree, value: Any) -> bool:
        form = tree[0]
        if form == "boolean":
            return value is (tree[1] == "true")
        if form == "integer":
            return value == int(tree[1])
        if form == "big":
            return value == int.from_bytes(bytes.fromhex(tree[1]), "big", signed=True)
        if form == "enumerated":
            return value == tree[1]
        if form == "real":
            return value == float(tree[1]) or (tree[1] == "NaN" and value != value)
        if form == "bits":
            octets, bits = value
            return bits == int(tree[2]) and bytes(octets).hex() == tree[1]
        if form in ("octets", "unknown"):
            return bytes(value).hex() == tree[1]
        if form == "encoding":
            octets = value[0] if isinstance(value, tuple) else value
            return bytes(octets).hex() == tree[1]
        if form == "null":
            return value is None
        if form == "oid":
            return value == tree[1]
        if form == "text":
            return value == _text(tree[2])
        if form == "time":
            text = _text(tree[2])
            if tree[1] == "UTCTime":
                return value == utc_time_to_datetime(text)
            if tree[1] == "GeneralizedTime":
                # The zone is told by some codecs only.
                return value.replace(tzinfo=None) == generalized_time_to_datetime(text).replace(tzinfo=None)
            return str(value).replace(" ", "T") == text
        return False


def _text(digits: str) -> str:
    return bytes.fromhex(digits).decode()


if __name__ == "__main__":
    main(Asn1tools())
