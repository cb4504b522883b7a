"""pycrate as a peer."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import io
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from pycrate_asn1c.asnproc import GLOBAL, PycrateGenerator, compile_text, generate_modules  # noqa: E402
from python_runner import Peer, Tree, main  # noqa: E402

BUILD = Path(__file__).resolve().parents[2] / ".build" / "pycrate"
RULES = ("ber", "der", "cer", "aper", "uper", "jer", "oer", "coer")


class Pycrate(Peer):
    name = f"pycrate {importlib.metadata.version('pycrate')}"

    def __init__(self) -> None:
        self._modules: Any = None

    def open(self, name: str, files: list[str], modules: list[str], rules: list[str]) -> dict[str, str]:
        self._modules = _generated(files)
        return {rule: "" for rule in rules if rule in RULES}

    def decode(self, module: str, type_name: str, rule: str, octets: bytes) -> Any:
        type_ = self._type(module, type_name)
        if rule == "jer":
            type_.from_jer(octets.decode())
        else:
            getattr(type_, f"from_{rule}")(octets)
        return type_.get_val()

    def encode(self, module: str, type_name: str, rule: str, value: Any) -> bytes:
        type_ = self._type(module, type_name)
        type_.set_val(value)
        made = getattr(type_, f"to_{rule}")()
        return made.encode() if isinstance(made, str) else made

    def _type(self, module: str, type_name: str) -> Any:
        return getattr(getattr(self._modules, _symbol(module)), _symbol(type_name))

    def content(self, tree: Tree, value: Any) -> tuple[Tree, Any] | None:
        # The content comes with the name of its type; in a DEFAULT, with the type itself.
        if isinstance(value, tuple) and not isinstance(value[0], int) and not str(value[0]).startswith("_unk_"):
            return tree[1], value[1]
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
            return _real(value) == tree[1]
        if form == "bits":
            number, bits = value
            return bits == int(tree[2]) and _left(number, bits) == tree[1]
        if form in ("octets", "unknown"):
            return bytes(value).hex() == tree[1]
        if form == "encoding":
            if isinstance(value, tuple) and isinstance(value[0], int):
                return _left(*value) == tree[1]
            octets = value[1] if isinstance(value, tuple) else value
            return bytes(octets).hex() == tree[1]
        if form == "null":
            return value == 0
        if form in ("oid", "relative-oid"):
            return ".".join(map(str, value)) == tree[1]
        if form == "text":
            octets = bytes.fromhex(tree[2])
            return value in (octets.decode(), octets)  # of JER, pycrate leaves octets as they are (X.697 38.2)
        if form == "time":
            return _time(value) == bytes.fromhex(tree[2]).decode()
        return False


def _left(number: int, bits: int) -> str:
    """Bits as octets that are filled up at the end."""
    octets = (bits + 7) // 8
    return (number << (octets * 8 - bits)).to_bytes(octets, "big").hex()


def _real(value: Any) -> str:
    mantissa, base, exponent = value
    if base is None:
        return {-1: "-inf", 1: "inf", 0: "NaN"}.get(mantissa, "?")
    if base == 2:
        return repr(float(mantissa) * 2.0**exponent)
    return repr(float(f"{mantissa}e{exponent}"))


def _time(value: Any) -> str:
    if isinstance(value, str):
        return value
    *parts, zone = value
    if len(parts) == 7:  # GeneralizedTime, with a fraction
        fraction = parts.pop()
        parts.append(f".{fraction}" if fraction else "")
    return "".join(part or "" for part in parts) + (zone or "")


def _symbol(name: str) -> str:
    return name.replace("-", "_").replace(" ", "_")


def _generated(files: list[str]) -> Any:
    """The modules that pycrate makes of a specification, kept for the next run."""
    text = "\n".join(Path(path).read_text(errors="replace") for path in files)
    name = "spec_" + hashlib.sha256(text.encode()).hexdigest()[:12]
    path = BUILD / f"{name}.py"
    if not path.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        made = BUILD / f"{name}.part"
        with redirect_stdout(io.StringIO()):
            GLOBAL.clear()
            compile_text(text)
            generate_modules(PycrateGenerator, str(made))
        made.rename(path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main(Pycrate())
