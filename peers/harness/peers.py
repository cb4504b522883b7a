"""The peers: how each is started and asked."""

from __future__ import annotations

from typing import Any

from .processes import BUILD, PEERS as FOLDER, Process
from .specifications import Specification

PEERS = ["asn1tools", "pycrate", "erlang", "asn1c"]

#: Seconds to make a specification ready, and for one value.
OPEN, CHECK = 240, 20


class Peer:
    """A runner of `engines/`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._process = Process(_command(name), BUILD)

    def open(self, spec: Specification, modules: list[str], rules: list[str]) -> Any:
        return self._process.ask(["open", spec.name, [str(file) for file in spec.files], modules, rules], OPEN)

    def check(self, name: str, rule: str, value: Any) -> Any:
        module, _, type_name = name.partition(".")
        encodings = value["encodings"]
        tree = value["trees"][rule]
        return self._process.ask(["check", module, type_name, rule, encodings[rule], encodings.get("der", ""), tree], CHECK)

    def close(self) -> None:
        self._process.end()


def _command(name: str) -> list[str]:
    engine = FOLDER / "engines" / name
    if name == "erlang":
        return ["escript", str(engine / "runner.escript")]
    python = FOLDER / ".venv" / "bin" / "python"
    return [str(python), str(engine / "runner.py")]
