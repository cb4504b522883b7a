"""Differences that are explained: `exceptions.toml`."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatch

from .processes import PEERS


@dataclass
class Difference:
    """One value that a peer and we do not agree about."""

    peer: str
    spec: str
    type: str
    rule: str
    #: What it says or does.
    cause: str
    #: Our octets, and the value as JSON.
    octets: str = ""
    value: str = ""


class Exceptions:
    """The explained differences, and how often each was met."""

    def __init__(self) -> None:
        with open(PEERS / "exceptions.toml", "rb") as file:
            self.entries = tomllib.load(file).get("exception", [])
        # What is said of a type comes before what is said of all.
        self.order = sorted(range(len(self.entries)), key=lambda index: "type" not in self.entries[index])
        self.met: Counter[int] = Counter()

    def explains(self, difference: Difference) -> bool:
        for index in self.order:
            if _matches(self.entries[index], difference):
                self.met[index] += 1
                return True
        return False


def _matches(entry: dict[str, str], difference: Difference) -> bool:
    if difference.peer not in entry["peer"].split():
        return False
    if "rule" in entry and difference.rule not in entry["rule"].split():
        return False
    names = [f"{difference.spec}:{difference.type}", difference.spec]
    types = entry.get("type", "*").split()
    if not any(fnmatch(name, pattern) for name in names for pattern in types):
        return False
    return re.search(entry.get("says", ""), difference.cause) is not None
