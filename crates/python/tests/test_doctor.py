"""How files are to be read is found out by trial, and what is found out reads them."""

import gzip
import io
import pickle
import tarfile
from pathlib import Path
from typing import Any

import pytest

import tercet

COUNT = 3_000
BATCHES = """
B DEFINITIONS IMPLICIT TAGS ::= BEGIN
  Batch ::= [APPLICATION 1] SEQUENCE { sender [0] IA5String, calls [1] SEQUENCE OF Call }
  Call ::= CHOICE { made [5] SEQUENCE { number [0] INTEGER, to [1] CHOICE { name [0] IA5String } } }
END
"""


def count(found: tercet.Diagnosis, source: Any) -> int:
    """Reads a file in the best way."""
    best = found.ways[0]
    return sum(1 for _ in tercet.iter_records(source, best.schema, best.type, **best.options))


def test_framing_and_type_are_found(demo: tercet.Schema, records: list[bytes], calls: Path, tmp_path: Path) -> None:
    framed = b"".join(len(record).to_bytes(2, "big") + record for record in records)
    for name, data, framing in [("plain", calls.read_bytes(), None), ("framed", framed, "u16be")]:
        file = tmp_path / f"{name}.dat"
        file.write_bytes(data)
        for source in (file, str(file), data, io.BytesIO(data)):
            [found] = tercet.doctor(source, demo)
            best = found.ways[0]
            assert (best.type, best.tags, best.options.get("framing")) == ("Demo-CDR.CallRecord", "as-written", framing)
            assert best.decoded == best.tried > 0
            assert 0.9 < best.share <= 1
            assert best.schema is demo
            assert count(found, file) == COUNT
        assert found.records
        assert (found.file, found.input) == ("<file object>", "<file object>")


def test_tags_lists_and_unknown_components_are_found(tmp_path: Path) -> None:
    specification = tmp_path / "batches.asn"
    specification.write_text(BATCHES)
    meant = tercet.Schema.parse(BATCHES, tags="explicit")
    batch = {"sender": "A", "calls": [("made", {"number": n, "to": ("name", "x" * 20)}) for n in range(50)]}
    data = meant.encode("Batch", "ber", batch)
    [found] = tercet.doctor(data, specification)
    best = found.ways[0]
    assert (best.type, best.tags) == ("B.Batch", "explicit")
    assert best.options["records"].endswith("calls")
    assert count(found, data) == 50
    schema = pickle.loads(pickle.dumps(best.schema))
    assert schema.decode("Batch", "ber", data) == batch
    # By the tags that were asked for nothing decodes.
    assert tercet.doctor(data, tercet.Schema.parse(BATCHES))[0].ways == []
    text = "A DEFINITIONS AUTOMATIC TAGS ::= BEGIN T ::= SEQUENCE { a INTEGER, b UTF8String%s } END"
    newer = tercet.Schema.parse(text % ", c INTEGER")
    data = b"".join(newer.encode("T", "ber", {"a": n, "b": "text", "c": n}) for n in range(50))
    [found] = tercet.doctor(data, tercet.Schema.parse(text % ""))
    assert found.ways[0].options == {"unknown": "keep"}
    assert count(found, data) == 50


def test_directories_and_archives_are_diagnosed(demo: tercet.Schema, calls: Path, tmp_path: Path) -> None:
    data = calls.read_bytes()
    (tmp_path / "a.ber.gz").write_bytes(gzip.compress(data))
    (tmp_path / "b.txt").write_text("hello, world\n" * 100)
    with tarfile.open(tmp_path / "c.tar", "w") as archive:
        archive.add(calls, "x.ber")
        archive.add(calls, "y.ber")
    found = tercet.doctor(tmp_path, demo)
    inside = str(tmp_path / "c.tar")
    names = [str(tmp_path / "a.ber.gz"), str(tmp_path / "b.txt"), f"{inside}!x.ber", f"{inside}!y.ber"]
    assert [it.file for it in found] == names
    assert [it.input for it in found] == [*names[:2], inside, inside]
    assert [bool(it.ways) for it in found] == [True, False, True, True]
    assert not found[1].records and "text" in found[1].kind
    bare = tercet.doctor(tmp_path)
    assert [it.kind for it in bare] == [it.kind for it in found]
    assert all(it.ways == [] for it in bare)


def test_what_doctor_does_not_take(demo: tercet.Schema, calls: Path) -> None:
    wrong: list[tuple[Any, str]] = [
        (lambda: tercet.doctor([], demo), "no input"),
        (lambda: tercet.doctor("none.ber", demo), "none.ber"),
        (lambda: tercet.doctor(calls, demo, "Nothing"), "Nothing"),
        (lambda: tercet.doctor(calls, demo, framing="nothing"), "nothing"),
        (lambda: tercet.doctor(calls, demo, nothing=1), "nothing"),  # type: ignore[call-arg]
        (lambda: tercet.doctor(tercet.Split(str(calls), 5, 6), demo), "split"),
    ]
    for call, words in wrong:
        with pytest.raises(tercet.Error, match=words):
            call()
