"""Engines are built, started and counted where they have something to do."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from harness import counts, definitions, runners
from harness.definitions import BENCH, Definition

BUILT = [*runners.COMPILED, *runners.DECODERS]


def test_each_engine_that_is_built_has_a_script_and_is_set_up() -> None:
    text = (BENCH / "setup-compiled").read_text()
    found = re.search(r'peers=" ([^"]+)"', text)
    assert found and set(BUILT) <= set(found[1].split())
    for peer in BUILT:
        assert os.access(BENCH / "engines" / peer / "build", os.X_OK), peer


def test_certificates_have_the_engines_that_know_no_other_input() -> None:
    known = {definition.name: definition for definition in definitions.load([])}
    for peer in ("x509-parser", "rustls-webpki", "openssl", "x509-cert", "rust-asn1"):
        assert [name for name, definition in known.items() if runners.does(definition, peer)] == ["x509"]
        assert peer in runners.PEERS and peer in counts.NATIVE
        encodes = peer not in runners.DECODERS
        assert [peer in runners.WORKS[work] for work in ("decode", "encode")] == [True, encodes]


def test_the_floor_is_for_its_inputs() -> None:
    known = {definition.name: definition for definition in definitions.load([])}
    assert [name for name in known if runners.does(known[name], "floor")] == sorted(runners.FLOORS)
    assert set(runners.CHECKED) <= set(runners.FLOORS)


def test_few_records_are_of_inputs_with_many() -> None:
    known = {definition.name: definition for definition in definitions.load([])}
    for work in runners.FEW:
        assert [name for name in known if runners.does(known[name], work)] == sorted(runners.MANY)
        assert "tercet-generated" in runners.WORKS[work]


#: A runner that says what it was told.
ECHO = """#!{python}
import json, sys
config = []
for line in sys.stdin:
    if line.strip() == "go":
        break
    config.append(line.strip())
print(json.dumps({{"ready": True, "name": sys.argv[1] + " 1", "records": len(config)}}), flush=True)
for line in sys.stdin:
    print(json.dumps({{"config": config}}), flush=True)
"""


def test_a_runner_that_was_built_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = tmp_path / "records.lp"
    records.write_bytes(b"")
    definition = Definition(
        "x509", "Certificates", records, "prefixed", [tmp_path / "x509" / "m.asn"], "M", "Certificate", "der"
    )
    monkeypatch.setattr(runners, "BUILD", tmp_path)
    for peer in ("x509-parser", "rustls-webpki", "openssl"):
        missing = runners.start(definition, peer, "decode")
        assert missing.refusal == "not built: run bench/setup-compiled"
        folder = runners.code(definition, peer)
        folder.mkdir(parents=True)
        (folder / "runner").write_text(ECHO.format(python=sys.executable))
        (folder / "runner").chmod(0o755)
        started = runners.start(definition, peer, "decode")
        try:
            assert (started.name, started.refusal) == ("Certificate 1", "")
            told = started.ask("dump 1")["config"]
            assert {"op decode", "type Certificate", "rules der"} <= set(told), json.dumps(told)
        finally:
            started.close()
        # A specification that it refuses is told in the words of the peer.
        (folder / "refused").write_text("cannot compile")
        assert runners.start(definition, peer, "decode").refusal == "cannot compile"
