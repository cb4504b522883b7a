"""What is told when data, values or specifications are faulty."""

import pickle
from pathlib import Path

import pytest

import tercet


def test_where_and_what_in_octets(demo: tercet.Schema) -> None:
    data = bytearray(demo.sample("CallRecord", rules="ber")[0])
    with pytest.raises(tercet.DecodeError) as caught:
        demo.decode("CallRecord", "ber", data[:-1])
    error = caught.value
    assert (error.kind, error.missing, error.bit, error.path) == ("incomplete", 1, None, "CallRecord.moCall")
    assert error.offset == len(data) - 1
    assert isinstance(error, (tercet.Error, ValueError))
    with pytest.raises(tercet.DecodeError, match="octets follow") as caught:
        demo.decode("CallRecord", "ber", bytes(data) + b"\0")
    assert caught.value.offset == len(data)


def test_where_and_what_in_bits(everything: tercet.Schema) -> None:
    data = everything.encode("Tree", "uper", {"name": "root", "below": [{"name": "leaf"}]})
    with pytest.raises(tercet.DecodeError) as caught:
        everything.decode("Tree", "uper", data[:-1])
    assert caught.value.bit in range(8)
    assert caught.value.path.startswith("Tree.below[0]")


def test_where_and_what_in_text(everything: tercet.Schema) -> None:
    with pytest.raises(tercet.DecodeError) as caught:
        everything.decode("Tree", "jer", '{"name": "root",\n "below": [{"name": 5}]}')
    error = caught.value
    assert (error.kind, error.line, error.path) == ("text", 2, "Tree.below[0].name")


def test_errors_of_the_clause(everything: tercet.Schema) -> None:
    data = everything.encode("All", "ber", {"flag": True})
    assert data == b"\x30\x03\x80\x01\xff"
    with pytest.raises(tercet.DecodeError) as caught:
        everything.decode("All", "der", b"\x30\x03\x80\x01\x01")
    assert caught.value.clause is not None
    assert caught.value.clause in str(caught.value)
    assert caught.value.path == "All.flag"


@pytest.mark.parametrize(
    ("value", "path", "words"),
    [
        ({"flag": 1}, "All.flag", "bool expected for BOOLEAN, not int"),
        ({"number": True}, "All.number", "int expected for INTEGER, not bool"),
        ({"number": 1.0}, "All.number", "not float"),
        ({"number": "three"}, "All.number", "no item `three`"),
        ({"colour": "mauve"}, "All.colour", "no item `mauve`"),
        ({"octets": "text"}, "All.octets", "bytes expected"),
        ({"octets": 5}, "All.octets", "bytes expected"),
        ({"octets": [1, 2]}, "All.octets", "bytes expected"),
        ({"utf8": b"text"}, "All.utf8", "str expected"),
        ({"utf8": "\ud800"}, "All.utf8", "surrogate"),
        ({"oid": "1.2.x"}, "All.oid", ""),
        ({"oid": "9.9"}, "All.oid", ""),
        ({"utc": "yesterday"}, "All.utc", ""),
        ({"date": "2026-02-30"}, "All.date", ""),
        ({"nothing": 0}, "All.nothing", "None expected"),
        ({"list": [1, "x"]}, "All.list[1]", "no item `x`"),
        ({"list": {1}}, "All.list", "list expected"),
        ({"list": "12"}, "All.list", "list expected"),
        ({"choice": ("other", 1)}, "All.choice", "no alternative `other`"),
        ({"choice": {"text": "x"}}, "All.choice", "tuple of name and value"),
        ({"choice": ("text", "x", 1)}, "All.choice", "tuple of name and value"),
        ({"set": {"a": None}}, "All.set.a", "int expected"),
        ({"set": {}}, "All.set.a", "missing"),
        ({"other": 1}, "All", "no component `other`"),
        ({5: 1}, "All", "no component of type int"),
        ({"bits": {"second"}}, "All.bits", "no bit `second`"),
        ({"bits": (b"", 9)}, "All.bits", "0 octets for 9 bits"),
        ({"bits": (b"\xff", 3)}, "All.bits", "not all zero"),
        ({"real": "1.5"}, "All.real", "float expected"),
        ({"...": [b""]}, "All", "tercet.Unknown expected"),
        ([], "All", "dict expected for SEQUENCE, not list"),
        (None, "All", "dict expected"),
    ],
)
@pytest.mark.parametrize("rules", ["ber", "uper", "oer"])
def test_wrong_values(everything: tercet.Schema, rules: str, value: object, path: str, words: str) -> None:
    with pytest.raises(tercet.EncodeError) as caught:
        everything.encode("All", rules, value)
    assert caught.value.path == path
    assert words in str(caught.value)
    assert caught.value.kind


def test_specifications_with_errors(tmp_path: Path) -> None:
    file = tmp_path / "bad.asn"
    file.write_text("Bad DEFINITIONS ::= BEGIN\n  T ::= SEQUENCE { a Missing }\nEND\n")
    with pytest.raises(tercet.SchemaError) as caught:
        tercet.Schema.load(file, strict=True)
    assert "Missing" in str(caught.value)
    assert "bad.asn:2" in str(caught.value)
    found = caught.value.diagnostics[0]
    assert (found.severity, found.line, Path(found.file)) == ("error", 2, file)
    assert found.code in found.text
    with pytest.raises(FileNotFoundError, match=r"none\.asn"):
        tercet.Schema.load([file, tmp_path / "none.asn"])


def test_names_that_there_are_not(demo: tercet.Schema) -> None:
    with pytest.raises(tercet.SchemaError, match="callRecord.*there is `Demo-CDR.CallRecord`"):
        demo.decode("callRecord", "ber", b"")
    with pytest.raises(ValueError, match="no transfer syntax `xyz`"):
        demo.decode("CallRecord", "xyz", b"")
    with pytest.raises(TypeError, match="no option `deep`"):
        demo.decode("CallRecord", "ber", b"", deep=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        demo.decode("CallRecord", "ber", "text")
    with pytest.raises(ValueError, match="unknown"):
        demo.codec("CallRecord", "ber", unknown="maybe")  # type: ignore[arg-type]


def test_violations(demo: tercet.Schema) -> None:
    value = demo.sample("CallRecord")[0]
    value[1]["duration"] = 700_000
    found = demo.validate("CallRecord", "ber", demo.encode("CallRecord", "ber", value))
    assert [(it.path, it.value, it.message) for it in found] == [
        ("CallRecord.moCall.duration", "700000", "is not in (0..604800)")
    ]
    assert found[0].file is not None
    assert found[0].file.endswith("Demo-CDR.asn")
    with pytest.raises(tercet.DecodeError):
        demo.decode("CallRecord", "ber", demo.encode("CallRecord", "ber", value), constraints=True)


def test_errors_survive_pickling(demo: tercet.Schema) -> None:
    with pytest.raises(tercet.DecodeError) as caught:
        demo.decode("CallRecord", "ber", b"\xa0")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is tercet.DecodeError
    assert vars(again) == vars(caught.value)
    assert str(again) == str(caught.value)
