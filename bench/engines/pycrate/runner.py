"""pycrate as a peer: octets decoded to its own value tree."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from pycrate_asn1c.asnproc import GLOBAL, PycrateGenerator, compile_text, generate_modules  # noqa: E402
from pycrate_asn1rt.asnobj import ASN1Obj  # noqa: E402
from python_runner import Codec, main  # noqa: E402

# Records of real files do not always meet their constraints; pycrate decodes them and refuses to encode them again.
ASN1Obj._SAFE_BND = False

BUILD = Path(__file__).resolve().parents[2] / ".build" / "pycrate"


class Pycrate(Codec):
    name = f"pycrate {importlib.metadata.version('pycrate')}"

    def __init__(self, schema: list[str], module: str, type_name: str, rules: str) -> None:
        modules = _generated(schema)
        holder = getattr(modules, module.replace("-", "_"))
        self._type = getattr(holder, type_name.replace("-", "_"))
        self._from = getattr(self._type, f"from_{rules}")
        self._to = getattr(self._type, f"to_{rules}")

    def decode(self, octets: bytes) -> Any:
        self._from(octets)
        return self._type.get_val()

    def encode(self, value: Any) -> bytes:
        self._type.set_val(value)
        return bytes(self._to())

    def json(self, value: Any) -> str:
        self._type.set_val(value)
        return str(self._type.to_jer())

    def plain(self, value: Any) -> Any:
        return json.loads(self.json(value))


def _generated(schema: list[str]) -> Any:
    """The modules that pycrate makes of a specification, kept for the next run."""
    text = "\n".join(Path(path).read_text(errors="replace") for path in schema)
    name = "spec_" + hashlib.sha256(text.encode()).hexdigest()[:12]
    path = BUILD / f"{name}.py"
    if not path.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        with redirect_stdout(io.StringIO()):
            GLOBAL.clear()
            compile_text(text)
            generate_modules(PycrateGenerator, str(path))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main(Pycrate)
