"""What is measured: one TOML file for each input, and the records cut out of it."""

from __future__ import annotations

import os
import struct
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
REPOSITORY = BENCH.parent
BUILD = BENCH / ".build"


def corpora() -> Path:
    """The folder with inputs that are not part of the repository."""
    return Path(os.environ.get("TERCET_CORPORA", REPOSITORY.parent / "shared" / "corpora")).resolve()


@dataclass
class Definition:
    """An input with its specification."""

    name: str
    title: str
    input: Path
    framing: str
    schema: list[Path]
    module: str
    type: str
    rules: str = "ber"
    inside: list[bytes] = field(default_factory=list)
    bit_strings: set[str] = field(default_factory=set)
    reals: set[str] = field(default_factory=set)
    defaults: dict[str, str] = field(default_factory=dict)
    own: bool = False
    #: Choices about the types of our own generated code, as `tercet compile --overlay` takes them.
    overlay: str = ""
    #: More of them: the lists of `tercet-generated-views`.
    views: str = ""

    @property
    def family(self) -> str:
        """The family of the rules: ber or per."""
        return "ber" if self.rules in ("ber", "der") else "per"

    @property
    def available(self) -> bool:
        return self.input.exists() and all(path.exists() for path in self.schema)

    def records(self) -> Path:
        """The records, each after a four-octet length, which is what all runners read."""
        if self.framing == "prefixed":
            return self.input
        path = BUILD / "records" / f"{self.name}.lp"
        if not path.exists() or path.stat().st_mtime < self.input.stat().st_mtime:
            path.parent.mkdir(parents=True, exist_ok=True)
            data = _content(self.input)
            with open(path, "wb") as out:
                for record in _elements(data, self.inside):
                    out.write(struct.pack(">I", len(record)) + record)
        return path


def load(names: list[str]) -> list[Definition]:
    """The definitions with these names, or all."""
    found = []
    for path in sorted((BENCH / "definitions").glob("*.toml")):
        if names and path.stem not in names:
            continue
        table = tomllib.loads(path.read_text())
        base = REPOSITORY if table.get("own", False) else corpora()
        found.append(
            Definition(
                name=path.stem,
                title=table["title"],
                input=base / table["input"],
                framing=table["framing"],
                schema=[base / file for file in table["schema"]],
                module=table["module"],
                type=table["type"],
                rules=table.get("rules", "ber"),
                inside=[bytes.fromhex(tag) for tag in table.get("inside", [])],
                bit_strings=set(table.get("bit_strings", [])),
                reals=set(table.get("reals", [])),
                defaults=dict(table.get("defaults", {})),
                own=table.get("own", False),
                overlay=table.get("overlay", ""),
                views=table.get("views", ""),
            )
        )
    return found


def _content(path: Path) -> bytes:
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dcq", str(path)], check=True, capture_output=True).stdout
    return path.read_bytes()


def _elements(data: bytes, inside: list[bytes]) -> Iterator[bytes]:
    """The elements of a file, or those within the elements with the given identifiers."""
    start, end = 0, len(data)
    for tag in inside:
        for at, contents, stop in _walk(data, start, end):
            if data[at : at + len(tag)] == tag:
                start, end = contents, stop
                break
        else:
            raise ValueError(f"no element {tag.hex()}")
    for at, _, stop in _walk(data, start, end):
        yield data[at:stop]


def _walk(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Begin, begin of contents and end of each element."""
    while at < end and data[at : at + 2] != b"\0\0":
        contents, stop = _element(data, at)
        yield at, contents, stop
        at = stop


def _element(data: bytes, start: int) -> tuple[int, int]:
    at = start + 1
    if data[start] & 0x1F == 0x1F:
        while data[at] & 0x80:
            at += 1
        at += 1
    length = data[at]
    at += 1
    if length == 0x80:
        stop = at
        while data[stop : stop + 2] != b"\0\0":
            _, stop = _element(data, stop)
        return at, stop + 2
    if length > 0x80:
        octets = length & 0x7F
        length = int.from_bytes(data[at : at + octets], "big")
        at += octets
    return at, at + length
