"""A file of records to values in Python: python_read.py TOOL TYPE FILE SHOWN SPECIFICATION...

TOOL is `table`, our package's Arrow table, `records`, its plain values, or `asn1tools`. How many records there were,
and the first SHOWN of them, are printed as JSON.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

#: No record is longer.
WINDOW = 1 << 16
ENGINES = Path(__file__).resolve().parent


def main() -> None:
    tool, name, source, shown, *files = sys.argv[1:]
    count, first = TOOLS[tool](name, source, int(shown), files)
    json.dump({"records": count, "values": first}, sys.stdout)


def table(name: str, source: str, shown: int, files: list[str]) -> tuple[int, list[Any]]:
    import pyarrow
    import tercet

    found = pyarrow.table(tercet.read(source, tercet.Schema.load(files), name, render="none"))
    return found.num_rows, [row(value) for value in found.slice(0, shown).to_pylist()]


def records(name: str, source: str, shown: int, files: list[str]) -> tuple[int, list[Any]]:
    import tercet

    schema = tercet.Schema.load(files)
    first, count = [], 0
    for record in tercet.iter_records(source, schema, name, render="none"):
        if count < shown:
            first.append(json.loads(schema.encode(name, "jer", record.value)))
        count += 1
    return count, first


def asn1tools(name: str, source: str, shown: int, files: list[str]) -> tuple[int, list[Any]]:
    import asn1tools

    return _counted(_decoded(asn1tools.compile_files(files, "ber"), name, Path(source).read_bytes()), shown, _plain)


def _decoded(codec: Any, name: str, data: bytes) -> Iterator[Any]:
    at = 0
    while at < len(data):
        value, length = codec.decode_with_length(name, data[at : at + WINDOW])
        yield value
        at += length


def _plain(value: Any) -> Any:
    spec = importlib.util.spec_from_file_location("runner", ENGINES / "asn1tools" / "runner.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.plain(value)


def _counted(values: Iterator[Any], shown: int, plain: Callable[[Any], Any]) -> tuple[int, list[Any]]:
    first = list(itertools.islice(values, shown))
    return len(first) + sum(1 for _ in values), [plain(value) for value in first]


def row(value: Any) -> Any:
    """A row of a table as other tools show the value: which alternative there is says the one that is not null."""
    if isinstance(value, dict):
        return {key: row(item) for key, item in value.items() if item is not None and key not in ("choice", "_tag")}
    if isinstance(value, list):
        return [row(item) for item in value]
    return bytes(value).hex().upper() if isinstance(value, (bytes, bytearray)) else value


TOOLS = {"table": table, "records": records, "asn1tools": asn1tools}

if __name__ == "__main__":
    main()
