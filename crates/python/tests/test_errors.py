"""What is told when data, values or specifications are faulty."""

import pickle
import re
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

import tercet
import tercet as package


def test_where_and_what_in_octets(demo: tercet.Schema) -> None:
    data = bytearray(demo.sample("CallRecord", rules="ber")[0])
    with pytest.raises(tercet.DecodeError) as caught:
        demo.decode("CallRecord", "ber", data[:-1])
    error = caught.value
    assert (error.kind, error.missing, error.bit, error.path) == ("incomplete", 1, None, "CallRecord.moCall")
    assert error.offset == len(data) - 1
    assert isinstance(error, (tercet.Error, ValueError))
    with pytest.raises(tercet.DecodeError, match="bytes follow") as caught:
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
        ({"utf8": 5}, "All.utf8", "str expected"),
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
        ({"bits": (b"", 9)}, "All.bits", "0 bytes for 9 bits"),
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
    with pytest.raises(tercet.SchemaError, match="unknown type `callRecord`; did you mean `CallRecord`"):
        demo.decode("callRecord", "ber", b"")
    with pytest.raises(ValueError, match="unknown encoding rules `xyz`"):
        demo.decode("CallRecord", "xyz", b"")
    with pytest.raises(TypeError, match="unknown option `deep`\nhelp: known: `"):
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


def test_every_error_is_ours(demo: Any, tmp_path: Path) -> None:
    """Whatever is wrong with a call, the error is a `tercet.Error`, and one of Python's classes as before."""
    file = tmp_path / "calls.ber"
    file.write_bytes(demo.sample("CallRecord", rules="ber")[0])
    codec = demo.codec("CallRecord")
    # Without types: wrong calls are what this is about.
    tercet: Any = package

    def read(**options: Any) -> Any:
        return tercet.read(file, demo, "CallRecord", **options)

    calls: list[tuple[Any, type[BaseException]]] = [
        (lambda: tercet.Schema.load("none.asn"), FileNotFoundError),
        (lambda: tercet.Schema.load(5), TypeError),
        (lambda: tercet.Schema.load(file, tags="none"), ValueError),
        (lambda: tercet.Schema.load(file, strict="yes"), TypeError),
        (lambda: tercet.Schema.load(file, aliases=5), TypeError),
        (lambda: tercet.Schema.parse(b"text"), TypeError),
        (lambda: tercet.Schema.parse("A DEFINITIONS ::= BEGIN T ::= [ END", strict=True), ValueError),
        (lambda: demo.codec("none"), ValueError),
        (lambda: demo.codec(5), TypeError),
        (lambda: demo.codec("CallRecord", "none"), ValueError),
        (lambda: demo.codec("CallRecord", "ber", max_depth=-1), OverflowError),
        (lambda: demo.codec("CallRecord", "ber", max_depth="x"), TypeError),
        (lambda: demo.codec("CallRecord", "ber", none=1), TypeError),
        (lambda: demo.decode("CallRecord", "ber", 5), TypeError),
        (lambda: demo.decode(5, "ber", b""), TypeError),
        (lambda: demo.decode("CallRecord", 5, b""), TypeError),
        (lambda: demo.decode("CallRecord", "ber", b""), ValueError),
        (lambda: demo.encode("CallRecord", "ber", 5), ValueError),
        (lambda: demo.encode("CallRecord", 5, 5), TypeError),
        (lambda: demo.transcode("CallRecord", "ber", "none", b""), ValueError),
        (lambda: demo.validate("CallRecord", "ber", 5), TypeError),
        (lambda: demo.sample("CallRecord", -1), OverflowError),
        (lambda: demo.sample("CallRecord", "x"), TypeError),
        (lambda: codec.decode_from(b"", 5), ValueError),
        (lambda: codec.decode_from(b"", -1), OverflowError),
        (lambda: codec.decode("text"), TypeError),
        (lambda: tercet.BitString(b"", 9), ValueError),
        (lambda: tercet.BitString(5), TypeError),
        (lambda: tercet.BitString.from_digits("2"), ValueError),
        (lambda: tercet.BitString.from_digits(2), TypeError),
        (lambda: tercet.read(5, demo, "CallRecord"), TypeError),
        (lambda: tercet.read([5], demo, "CallRecord"), TypeError),
        (lambda: tercet.read(tmp_path / "none", demo, "CallRecord").read(), FileNotFoundError),
        (lambda: tercet.read(str(tmp_path / "*.none"), demo, "CallRecord"), FileNotFoundError),
        (lambda: tercet.read(file, 5, "CallRecord"), TypeError),
        (lambda: tercet.read(file, "none.asn", "CallRecord"), FileNotFoundError),
        (lambda: tercet.read(file, demo, 5), TypeError),
        (lambda: read(columns=5), TypeError),
        (lambda: read(columns=["none"]), ValueError),
        (lambda: read(rename={"choice": 5}), TypeError),
        (lambda: read(batch_rows=-1), OverflowError),
        (lambda: read(integers="none"), ValueError),
        (lambda: read(octets="none"), ValueError),
        (lambda: read(provenance="none"), ValueError),
        (lambda: read(framing="none"), ValueError),
        (lambda: read(framing=5), TypeError),
        (lambda: read(rules="none"), ValueError),
        (lambda: read(filler="none"), TypeError),
        (lambda: read(record_limit=-1), OverflowError),
        (lambda: read(render="none=none"), ValueError),
        (lambda: read(render=5), TypeError),
        (lambda: read(profile="none"), ValueError),
        (lambda: read(profile=str(tmp_path / "none.toml")), ValueError),
        (lambda: read(where="none"), ValueError),
        (lambda: read(where=5), TypeError),
        (lambda: read(explode="none"), ValueError),
        (lambda: read(child="none"), ValueError),
        (lambda: read(child=5), TypeError),
        (lambda: read(table="none"), ValueError),
        (lambda: read(max_rejects="x"), TypeError),
        (lambda: read(max_rejects=-1), OverflowError),
        (lambda: read(max_reject_ratio=2), ValueError),
        (lambda: read(rejects=5), TypeError),
        (lambda: read(none=5), TypeError),
        (lambda: tercet.read_tables(file, demo, "CallRecord", children=5), TypeError),
        (lambda: list(tercet.iter_records(b"wrong" * 100, demo, "CallRecord")), ValueError),
        (lambda: tercet.splits(b"data", demo, "CallRecord"), ValueError),
    ]
    for number, (call, kind) in enumerate(calls):
        with pytest.raises(kind) as caught:
            call()
            print(f"call {number} has not failed")
        assert isinstance(caught.value, package.Error), (number, caught.value)
        assert type(caught.value).__module__ == "tercet"
        # Nothing of Rust's own words in it.
        assert not re.search(r'Some\(|None\)|os error|\{ |\bErr\(|"\w+": ', str(caught.value)), caught.value
        back = pickle.loads(pickle.dumps(caught.value))
        assert (type(back), str(back)) == (type(caught.value), str(caught.value))


def test_everything_public_is_of_the_package() -> None:
    from tercet import ldap

    for name in tercet.__all__:
        assert name.startswith("__") or getattr(tercet, name).__module__ == "tercet", name
    for name in ldap.__all__:
        assert getattr(ldap, name).__module__ == "tercet.ldap", name


# Values that are of the type of some argument and wrong all the same.
WRONG: list[Any] = [
    *("", "none", "\0", "(", "=", "a=b", "{", "é" * 300, "9" * 40, "dn: x\nchangetype: y\n"),
    *(b"", b"\xff", b"\x30\x80" * 200, bytearray(b"\x30\x05"), Path("/none/none")),
    *(-1, 0, 2**70, 1.5, float("nan"), True, None, [], {}, ["none"], {"none": "none"}, object()),
]


def public(module: Any) -> list[tuple[str, Any]]:
    """What a module has that can be called, and the static methods of its classes."""
    found = []
    for name in getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]:
        it = getattr(module, name)
        # Enumerations are Python's own, which have its errors.
        if isinstance(it, type) and issubclass(it, (BaseException, tuple, Enum)):
            continue
        if callable(it) and str(getattr(it, "__module__", "")).startswith("tercet"):
            found.append((f"{module.__name__}.{name}", it))
        if isinstance(it, type):
            methods = [way for way, what in vars(it).items() if isinstance(what, (staticmethod, classmethod))]
            found.extend((f"{module.__name__}.{name}.{way}", getattr(it, way)) for way in methods if way[0] != "_")
    return found


def test_every_error_of_public_functions_is_of_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Some write files.
    monkeypatch.chdir(tmp_path)
    from tercet import ldap
    from tercet.ldap import controls, ldif

    functions = [pair for module in (package, ldap, controls, ldif) for pair in public(module)]
    assert len(functions) > 40
    # These wait for servers, or begin to be one.
    waiting = re.compile(r"\.(connect|connect_async|search_cldap|search_cldap_async|Directory)$")
    failed, wrong = 0, []
    for name, function in functions:
        if waiting.search(name):
            continue
        for value in WRONG:
            for count in range(4):
                try:
                    made = function(*[value] * count)
                    if hasattr(made, "__next__"):
                        next(made, None)
                except package.Error as error:
                    failed += 1
                    assert type(error).__module__.startswith("tercet"), name
                except TypeError:
                    # As of any function: too few arguments, or one of another type.
                    failed += 1
                except Exception as error:
                    wrong.append((name, value, count, repr(error)))
    assert failed > 1000
    assert not wrong, {name for name, _, _, _ in wrong}
