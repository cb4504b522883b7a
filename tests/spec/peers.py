"""Reads the vectors of this folder with asn1tools, an independent decoder.

    bench/.venv/bin/python tests/spec/peers.py

For each value and encoding that asn1tools has the types for, it says whether the two agree. It is known to be wrong, or
not to know, in places; a disagreement asks for another look at the clause, not for another vector.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asn1tools


#: The names that asn1tools has for the rules of a block; its PER is BASIC-PER.
CODECS = {
    "ber": ["ber"],
    "der": ["der"],
    "aper": ["per"],
    "uper": ["uper"],
    "per": ["per", "uper"],
    "oer": ["oer"],
}


@dataclass
class Count:
    agreed: int = 0
    unknown: int = 0
    other: list[str] = field(default_factory=list)


def main() -> int:
    count = Count()
    for path in sorted(Path(__file__).parent.glob("*.md")):
        _document(path, count)
    for line in count.other:
        print(line)
    print(f"{count.agreed} agreed, {len(count.other)} to look at, {count.unknown} not known to the peer")
    return 0


def _document(path: Path, count: Count) -> None:
    text = path.read_text()
    schema, first, value, type_name = "", "", "", ""
    for match in re.finditer(r"^```(\w+)([^\n]*)\n(.*?)^```$", text, re.M | re.S):
        kind, info, body = match.group(1), match.group(2).split(), match.group(3)
        where = f"{path.name}:{text.count(chr(10), 0, match.start()) + 1}"
        if kind == "asn1":
            schema = body if "DEFINITIONS" in body else f"Spec DEFINITIONS ::= BEGIN\n{body}\nEND\n"
            found = re.search(r"^\s*([A-Z][\w-]*)\s*::=", body, re.M)
            first = found.group(1) if found else ""
        elif kind == "value":
            value = _expanded(body)
            type_name = info[0] if info else first
        elif kind in CODECS:
            for number, octets in enumerate(_lines(body)):
                encodes = kind == "der" or kind.endswith("per") and number == 0
                for codec in CODECS[kind]:
                    _compare(schema, type_name, value, octets, codec, encodes, where, count)


def _compare(
    schema: str, type_name: str, value: str, octets: bytes, rules: str, encodes: bool, where: str, count: Count
) -> None:
    shown = f"{rules} {octets.hex()[:60]}"
    try:
        want = asn1tools.compile_string(schema, "jer").decode(type_name, value.encode())
        codec = asn1tools.compile_string(schema, rules)
    except Exception:  # a peer that cannot read the type or the value has nothing to say
        count.unknown += 1
        return
    try:
        got = codec.decode(type_name, octets)
        if not _same(want, got):
            count.other.append(f"{where}: {shown}: peer has {got!r}, not {want!r}"[:300])
            return
        made = codec.encode(type_name, want) if encodes else octets
        if made != octets:
            count.other.append(f"{where}: {shown}: peer encodes {made.hex()}"[:300])
            return
        count.agreed += 1
    except Exception as error:
        count.other.append(f"{where}: {shown}: {type(error).__name__} {error}"[:300])


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, float) or isinstance(b, float):
        return repr(float(a)) == repr(float(b))
    if isinstance(a, list):
        return len(a) == len(b) and (all(map(_same, a, b)) or sorted(map(repr, a)) == sorted(map(repr, b)))
    if isinstance(a, dict):
        return bool(a.keys() == b.keys() and all(_same(a[k], b[k]) for k in a))
    return bool(a == b)


def _lines(body: str) -> list[bytes]:
    joined: list[str] = []
    for line in body.splitlines():
        plain = line.split("#")[0]
        if not plain.strip():
            continue
        if line.startswith(" ") and joined:
            joined[-1] += plain
        else:
            joined.append(plain)
    return [bytes.fromhex(_octets(line)) for line in joined]


def _octets(line: str) -> str:
    line = re.sub(r"'([01 ]+)'B", lambda m: _hexadecimal(m.group(1).replace(" ", "")), line)
    return re.sub(r"\b([0-9A-Fa-f]+)\*(\d+)", lambda m: m.group(1) * int(m.group(2)), line)


def _hexadecimal(bits: str) -> str:
    return "".join(f"{int(bits[at:at + 8], 2):02X}" for at in range(0, len(bits), 8))


def _expanded(text: str) -> str:
    return re.sub(r"\$\{(.+?)\*(\d+)\}", lambda m: m.group(1) * int(m.group(2)), text)


if __name__ == "__main__":
    sys.exit(main())
