"""Starting a peer and talking to it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import commands
from .definitions import BENCH, BUILD, Definition

#: Our own code with lists that are walked when they are asked for, of inputs that say which lists.
VIEWS = "tercet-generated-views"

#: Our own code whose values are in an arena.
ARENA = "tercet-generated-arena"

#: Our Python package that makes the values of components when they are asked for.
LAZY = "tercet-python-lazy"

#: A parser of JSON in Python, which reads the same values from our text of them.
ORJSON = "orjson"

#: Peers whose code is built for a specification before anything is run; the runner is a program.
COMPILED = [
    *["tercet-generated", ARENA, VIEWS, "tercet-java", "rasn", "hampi", "erlang", "asn1bean", "rust-asn1"],
    *["x509-cert", "openssl", "floor"],
]

#: Programs that decode and cannot encode.
DECODERS = ["x509-parser", "rustls-webpki"]

#: Work by name, and what each peer calls it; a peer that is not listed does not do it.
WORKS: dict[str, dict[str, str]] = {
    "decode": {"tercet": "tape", "asn1c": "decode", "asn1tools": "decode", "pycrate": "decode"}
    | {"tercet-python": "decode", LAZY: "decode", ORJSON: "decode"}
    | dict.fromkeys([*COMPILED, *DECODERS], "decode"),
    "validate": {"tercet": "validate"},
    "json": {"tercet": "json", "asn1tools": "json", "pycrate": "json", "asn1c": "json"},
    "csv": {"tercet": "csv"},
    "encode": {"tercet": "encode", "asn1c": "encode", "asn1tools": "encode", "pycrate": "encode"}
    | {"tercet-python": "encode"}
    | dict.fromkeys(COMPILED, "encode"),
    "reuse": {"floor": "reuse"},
    "check": {"floor": "check"},
    "decode-few": {"tercet": "tape"} | dict.fromkeys(COMPILED, "decode"),
    "encode-few": {"tercet": "encode"} | dict.fromkeys(COMPILED, "encode"),
    "walk": {"tercet": "walk"},
    "memcpy": {"tercet": "memcpy"},
}

PEERS = ["tercet", *COMPILED, *DECODERS, "asn1c", "tercet-python", LAZY, ORJSON, "asn1tools", "pycrate"]

#: Works and peers of one family of rules only.
ONLY = {"walk": "ber", ARENA: "ber", "hampi": "per", "asn1c": "ber", "asn1bean": "ber"}

#: Peers that have the types of one specification, and code that is built alone, of the one that `compilers` builds.
OWN_TYPES = dict.fromkeys(["rust-asn1", "x509-cert", "openssl", *DECODERS], "x509")
OWN_TYPES["tercet-generated-small"] = "nr-rrc"

#: Inputs with codecs that are written by hand (bench/floor), and those of them that are checked without a value, too.
FLOORS = ["msc", "tap", "x509", "ngap-ics", "personnel-1-uper"]
CHECKED = ["msc", "tap"]

#: Records that a peer gets at most, so that one pass takes a fraction of a second; figures are per record.
LIMITS = {"tercet-python": 4000, LAZY: 4000, ORJSON: 4000, "asn1tools": 400, "pycrate": 100}

#: Works with so few records that octets and values stay in the processor's cache, and inputs that have many more.
FEW = {"decode-few": 300, "encode-few": 300}
MANY = ["msc", "scp", "tap-typical", "ldap"]


@dataclass
class Runner:
    """A peer that does one work on one input, as a process that waits for commands."""

    peer: str
    work: str
    process: subprocess.Popen[str] | None = None
    name: str = ""
    refusal: str = ""
    #: Records of one pass.
    records: int = 0
    samples: list[dict[str, Any]] = field(default_factory=list)

    def ask(self, command: str) -> dict[str, Any]:
        """One answer for one command."""
        assert self.process and self.process.stdin and self.process.stdout
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self._line()

    def dump(self, count: int) -> list[dict[str, Any]]:
        """The first results."""
        answers = [self.ask(f"dump {count}")]
        while "end" not in answers[-1]:
            answers.append(self._line())
        return answers[:-1]

    def close(self, patience: float = 5) -> None:
        """Ends the process, after so many seconds in any case."""
        if self.process and self.process.stdin:
            try:
                self.process.stdin.close()
                self.process.wait(timeout=patience)
            except (BrokenPipeError, subprocess.TimeoutExpired):
                self.process.kill()
            if self.process.stdout:
                self.process.stdout.close()

    def _line(self) -> dict[str, Any]:
        assert self.process and self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.peer} ended: {self.work}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def does(definition: Definition, name: str) -> bool:
    """Whether a work or peer has to do with the rules of an input."""
    specification = definition.schema[0].parent.name
    if name == VIEWS and not definition.views:
        return False
    if name == "floor" and definition.name not in FLOORS or name == "check" and definition.name not in CHECKED:
        return False
    if name in FEW and definition.name not in MANY:
        return False
    return (
        ONLY.get(name, definition.family) == definition.family and OWN_TYPES.get(name, specification) == specification
    )


def start(definition: Definition, peer: str, work: str, under: Sequence[str] = (), limit: int = 0) -> Runner:
    """A runner that is ready, or one with a refusal that the report shows; under a profiler, with a few records."""
    runner = Runner(peer, work, name=peer)
    try:
        command = [*under, *_command(definition, peer)]
        runner.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        lines = [
            f"op {WORKS[work][peer]}",
            "schema " + "\t".join(map(str, definition.schema)),
            f"module {definition.module}",
            f"type {definition.type}",
            f"rules {definition.rules}",
            f"records {definition.records()}",
            f"limit {limit or FEW.get(work) or LIMITS.get(peer, 0)}",
            "go",
        ]
        answer = runner.ask("\n".join(lines))
    except (OSError, RuntimeError, subprocess.CalledProcessError, ValueError) as error:
        runner.refusal = _short(error)
        return runner
    if answer["ready"]:
        runner.name, runner.records = answer["name"], int(answer.get("records", 0))
    else:
        runner.refusal = answer["error"]
        runner.close()
    return runner


def _command(definition: Definition, peer: str) -> list[str]:
    if peer == "tercet":
        binary = BUILD / "tercet" / "release" / "tercet-bench"
        if not binary.exists():
            raise OSError("not built: run bench/setup")
        return [str(binary)]
    if peer == "asn1c":
        return [str(_asn1c(definition))]
    if peer in COMPILED or peer in DECODERS:
        return [str(_compiled(definition, peer)), definition.type]
    # The parser of JSON needs our package for its text.
    is_ours = peer in ("tercet-python", LAZY, ORJSON)
    python = Path(commands.python()) if is_ours else BENCH / ".venv" / "bin" / "python"
    if not python.exists():
        raise OSError(f"not installed: run bench/{'setup-python' if is_ours else 'setup'}")
    runner = BENCH / "engines" / peer.removesuffix("-lazy") / "runner.py"
    return [str(python), str(runner), *(["lazy"] if peer == LAZY else [])]


def _asn1c(definition: Definition) -> Path:
    """The runner with the specification compiled in, built when it is missing."""
    out = BUILD / "asn1c" / definition.name
    runner = out / "runner"
    if not runner.exists():
        if not shutil.which("asn1c"):
            raise OSError("not installed: run bench/setup")
        build = BENCH / "engines" / "asn1c" / "build"
        subprocess.run(
            [str(build), str(out), definition.type, *map(str, definition.schema)], check=True, capture_output=True
        )
    return runner


def code(definition: Definition, peer: str) -> Path:
    """The folder of the code that a peer made of the specification of an input, for its rules."""
    return BUILD / peer / f"{definition.schema[0].parent.name.lower()}-{definition.rules}"


def _compiled(definition: Definition, peer: str) -> Path:
    """The runner with the code that a peer made of the specification, built by `bench/setup-compiled`."""
    out = code(definition, peer)
    refused = out / "refused"
    if refused.exists():
        raise OSError(refused.read_text().strip())
    if not (out / "runner").exists():
        raise OSError("not built: run bench/setup-compiled")
    return out / "runner"


def _short(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        return "cannot compile the specification"
    return str(error).split("\n")[0][:120]
