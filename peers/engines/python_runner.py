"""The runner protocol, for peers in Python.

A line on standard input is a list of texts and lists, which is JSON and a term of Erlang at once:

    ["open", NAME, [FILE...], [MODULE...], [RULE...]]   answer: {"rules": {RULE: "" or why it cannot}}
    ["check", MODULE, TYPE, RULE, OCTETS, DER, TREE]    answer: {"decoded": ..., "encoded": ..., "octets": ...}

`check` decodes the octets, compares what it got with the tree (for the form of trees see peers/README.md), and encodes
it again. `decoded` is empty, or says what is wrong; so does `encoded`; `octets` is what the peer has written.
"""

from __future__ import annotations

import json
import sys
from typing import Any

Tree = list[Any]


class Unlike(Exception):
    """A decoded value is not the one that was encoded."""


class Peer:
    """What a peer has to offer. Values are the peer's own."""

    #: Name and version.
    name = ""

    def open(self, name: str, files: list[str], modules: list[str], rules: list[str]) -> dict[str, str]:
        raise NotImplementedError

    def decode(self, module: str, type_name: str, rule: str, octets: bytes) -> Any:
        raise NotImplementedError

    def encode(self, module: str, type_name: str, rule: str, value: Any) -> bytes:
        raise NotImplementedError

    def leaf(self, tree: Tree, value: Any) -> bool:
        """Whether a primitive value of the peer is that of the tree."""
        raise NotImplementedError

    def content(self, tree: Tree, value: Any) -> tuple[Tree, Any] | None:
        """What is inside an open type or CONTAINING; nothing if the peer leaves its octets alone."""
        raise NotImplementedError

    def is_absent(self, value: dict[str, Any], name: str) -> bool:
        return name not in value

    def compare(self, tree: Tree, value: Any, path: str) -> None:
        """Compares a value with a tree and raises `Unlike` at the first component that is another."""
        form = tree[0]
        if form == "members":
            self._members(tree[1], value, path)
        elif form == "elements":
            self._elements(tree, value, path)
        elif form == "choice":
            if not isinstance(value, (tuple, list)) or value[0] != tree[1]:
                raise Unlike(f"{path}: `{tree[1]}` expected, not {_short(value)}")
            self.compare(tree[2], value[1], f"{path}.{tree[1]}")
        elif form in ("open", "containing"):
            inner = self.content(tree, value)
            if inner is not None:
                self.compare(inner[0], inner[1], f"{path}.content")
            elif not self.leaf(["encoding", *tree[2:]], value):
                raise Unlike(f"{path}: octets {tree[2]} expected, not {_short(value)}")
        elif not self.leaf(tree, value):
            raise Unlike(f"{path}: {_short(tree)} expected, not {_short(value)}")

    def _members(self, members: list[Tree], value: Any, path: str) -> None:
        if not isinstance(value, dict):
            raise Unlike(f"{path}: components expected, not {_short(value)}")
        known = set()
        for name, tree, how in members:
            if not name:  # an addition that the schema does not know
                continue
            known.add(name)
            if not self.is_absent(value, name):
                self.compare(tree, value[name], f"{path}.{name}")
            elif how == "given":
                raise Unlike(f"{path}: `{name}` is missing")
        for name in value:
            if name not in known and not name.startswith("_") and not self.is_absent(value, name):
                raise Unlike(f"{path}: `{name}` is there")

    def _elements(self, tree: Tree, value: Any, path: str) -> None:
        if not isinstance(value, list) or len(value) != len(tree[1]):
            raise Unlike(f"{path}: {len(tree[1])} elements expected, not {_short(value)}")
        rest = list(value)
        for index, element in enumerate(tree[1]):
            if tree[2] == "given":
                self.compare(element, rest.pop(0), f"{path}[{index}]")
                continue
            reasons = []
            for at in range(len(rest)):
                try:
                    self.compare(element, rest[at], f"{path}[{index}]")
                except Unlike as unlike:
                    reasons.append(str(unlike))
                    continue
                del rest[at]
                break
            else:
                raise Unlike(f"{path}[{index}]: no such element: {'; '.join(reasons)}")


def main(peer: Peer) -> None:
    out = sys.stdout
    sys.stdout = sys.stderr  # what a peer prints is no answer
    for line in sys.stdin:
        request = json.loads(line)
        if request[0] == "open":
            answer: dict[str, Any] = {"name": peer.name, "rules": peer.open(*request[1:])}
        else:
            answer = _check(peer, *request[1:])
        out.write(json.dumps(answer) + "\n")
        out.flush()


def _check(peer: Peer, module: str, type_name: str, rule: str, octets: str, der: str, tree: Tree) -> dict[str, str]:
    answer = {"decoded": "", "encoded": "", "octets": ""}
    try:
        value = peer.decode(module, type_name, rule, bytes.fromhex(octets))
        peer.compare(tree, value, type_name)
    except Unlike as unlike:
        answer["decoded"] = f"other value: {unlike}"
        return answer
    except Exception as error:  # whatever a peer says is told
        answer["decoded"] = f"cannot decode: {_said(error)}"
        return answer
    try:
        answer["octets"] = bytes(peer.encode(module, type_name, rule, value)).hex()
    except Exception as error:
        answer["encoded"] = f"cannot encode: {_said(error)}"
    return answer


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".split("\n")[0][:300]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 160 else text[:157] + "..."
