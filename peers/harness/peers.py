"""The peers: how each is made ready and asked."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from .processes import BUILD, Gone, Process
from .processes import PEERS as FOLDER
from .specifications import Specification

PEERS = ["asn1tools", "pycrate", "erlang", "asn1c"]

#: Seconds to make a specification ready, and for one value.
OPEN, CHECK = 240, 20

#: Rules that code made by asn1c has.
ASN1C = {"ber", "der", "uper", "xer"}


class Peer:
    """A runner of `engines/`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._process = Process([], None)

    def open(self, spec: Specification, modules: list[list[str]], names: list[str], rules: list[str]) -> Any:
        """Makes a specification ready; the answer tells of each rule."""
        engine = FOLDER / "engines" / self.name
        files = [str(file) for file in spec.files]
        if self.name == "asn1c":
            self._process = Process([_asn1c(spec, modules, names)], BUILD)
        elif self.name == "erlang":
            files = _a_file_each(spec, modules)
            self._process = Process(["escript", str(engine / "runner.escript")], BUILD)
        else:
            self._process = Process([str(FOLDER / ".venv/bin/python"), str(engine / "runner.py")], BUILD)
        return self._process.ask(["open", spec.name, files, sorted({name for name, _ in modules}), rules], OPEN)

    def check(self, name: str, rule: str, value: Any) -> Any:
        """Lets the peer decode a value, compare it and encode it again."""
        module, _, type_name = name.partition(".")
        encodings, tree = value["encodings"], value["trees"][rule]
        request = ["check", module, type_name, rule, encodings[rule], encodings.get("der", ""), tree]
        if self.name == "asn1c":
            request.pop()
        return self._process.ask(request, CHECK)

    def close(self) -> None:
        self._process.end()


def _a_file_each(spec: Specification, modules: list[list[str]]) -> list[str]:
    """Writes each module into a file with its name, in the order of the names."""
    folder = BUILD / "modules" / spec.name.replace("/", "_")
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, text in sorted(dict(map(tuple, modules)).items()):
        path = folder / f"{name}.asn1"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        paths.append(str(path))
    return paths


def _asn1c(spec: Specification, modules: list[list[str]], names: list[str]) -> str:
    """Makes the runner of a specification, or tells why there is none."""
    out = BUILD / "asn1c" / spec.name.replace("/", "_")
    refused = out / "refused"
    if refused.exists():
        raise Gone(refused.read_text())
    if not (out / "runner").exists():
        out.mkdir(parents=True, exist_ok=True)
        # C names do not tell modules apart.
        short = Counter(name.partition(".")[2] for name in names)
        lines = []
        for module, _, name in (full.partition(".") for full in names):
            if short[name] == 1:
                lines.append(f'PEER_TYPE({name.replace("-", "_")}, "{module}", "{name}")\n')
        command = ["nice", str(FOLDER / "engines/asn1c/build"), str(out), *_a_file_each(spec, modules)]
        try:
            made = subprocess.run(command, input="".join(lines), capture_output=True, text=True, timeout=OPEN)
            why = "" if made.returncode == 0 else made.stdout.strip() or made.stderr.strip()
        except subprocess.TimeoutExpired:
            why = f"not compiled within {OPEN} seconds"
        if why:
            refused.write_text(why[:300])
            raise Gone(why[:300])
    return str(Path(out / "runner"))
