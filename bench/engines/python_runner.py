"""The runner protocol for peers in Python.

A runner reads lines `key value` up to `go` from standard input, answers one line of JSON that says whether it is ready,
and then answers each command: `run SECONDS` (one timed batch) with a line, `dump N` with N lines of one value each and
one more, `quit` with nothing. Those that are programs also take `passes N`: so many passes over the records, and no
clock.
"""

from __future__ import annotations

import json
import struct
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO


class Codec:
    """What a peer has to offer; a method that is not overridden is an operation that the peer lacks."""

    #: Name and version, as the report shows them.
    name = ""

    def __init__(self, schema: list[str], module: str, type_name: str, rules: str) -> None:
        raise NotImplementedError

    def given(self, octets: bytes) -> Any:
        """What `decode` gets of a record: its octets."""
        return octets

    def decode(self, octets: Any) -> Any:
        raise NotImplementedError

    def encode(self, value: Any) -> bytes:
        raise NotImplementedError

    def json(self, value: Any) -> str:
        """The peer's own JSON text of a decoded value."""
        raise NotImplementedError

    def plain(self, value: Any) -> Any:
        """Values as the digest wants them: octets as hexadecimal text, alternatives as one-member objects."""
        raise NotImplementedError


def main(make: Callable[[list[str], str, str, str], Codec]) -> None:
    out = sys.stdout
    config = _read_config(sys.stdin)
    try:
        codec = make(config["schema"].split("\t"), config["module"], config["type"], config["rules"])
        records = _read_records(config["records"], int(config.get("limit", "0")))
        one, items = _operation(codec, config["op"], records)
        one(items[0])
    except Exception as error:  # the report shows whatever a peer says
        text = f"{type(error).__name__}: {error}".split("\n")[0]
        _answer(out, {"ready": False, "error": text[:300]})
        return
    _answer(out, {"ready": True, "name": codec.name, "records": len(records)})
    octets = sum(map(len, records))
    for line in sys.stdin:
        word, _, argument = line.strip().partition(" ")
        if word == "run":
            _answer(out, _batch(one, items, octets, float(argument)))
        elif word == "dump":
            for item in items[: int(argument)]:
                _answer(out, _dumped(codec, config["op"], one(item)))
            _answer(out, {"end": True})
        else:
            return


def _operation(codec: Codec, op: str, records: list[bytes]) -> tuple[Callable[[Any], Any], list[Any]]:
    if op == "decode":
        return codec.decode, [codec.given(record) for record in records]
    if op == "json":
        return lambda octets: codec.json(codec.decode(octets)), list(records)
    if op == "encode":
        return codec.encode, [codec.decode(record) for record in records]
    raise ValueError(f"no operation {op}")


def _batch(one: Callable[[Any], Any], items: list[Any], octets: int, seconds: float) -> dict[str, Any]:
    """Whole passes until the time is up; a first pass longer than that is cut off."""
    clock = time.thread_time_ns
    limit = int(seconds * 1e9)
    start = clock()
    done = 0
    while True:
        for item in items:
            one(item)
        done += len(items)
        spent = clock() - start
        if spent >= limit:
            return {"records": done, "octets": octets * (done // len(items)), "ns": spent}


def _dumped(codec: Codec, op: str, result: Any) -> dict[str, Any]:
    if op == "decode":
        return {"json": codec.plain(result)}
    if op == "json":
        return {"text": result}
    return {"hex": bytes(result).hex()}


def _read_config(stream: TextIO) -> dict[str, str]:
    config: dict[str, str] = {}
    for line in stream:
        key, _, value = line.rstrip("\n").partition(" ")
        if key == "go":
            break
        config[key] = value
    return config


def _read_records(path: str, limit: int) -> list[bytes]:
    with open(path, "rb") as file:
        data = file.read()
    records: list[bytes] = []
    at = 0
    while at < len(data) and (limit == 0 or len(records) < limit):
        (length,) = struct.unpack_from(">I", data, at)
        records.append(data[at + 4 : at + 4 + length])
        at += 4 + length
    return records


def _answer(out: TextIO, answer: dict[str, Any]) -> None:
    out.write(json.dumps(answer) + "\n")
    out.flush()
