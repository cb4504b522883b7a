"""Values whose components are made when they are asked for."""

import copy
import json
import pickle
from collections.abc import Mapping
from typing import Any

import pytest

import tercet
from tercet import BitString, LazyDict, Unknown

VALUE: dict[str, Any] = {
    "flag": True,
    "number": 2**80,
    "bits": BitString(b"\xa0", 3),
    "octets": b"\x00\xff",
    "utf8": "Grüße",
    "list": [1, -2, 3],
    "set": {"a": 1, "b": False},
    "choice": ("text", "hello"),
    "wrapped": ("Inner", {"x": 1, "y": "why"}),
    "level": 4,
}


@pytest.mark.parametrize("rules", ["ber", "der", "cer", "aper", "uper", "oer", "xer", "jer", "gser"])
def test_they_are_the_values_of_always(everything: tercet.Schema, rules: str) -> None:
    data = everything.encode("All", rules, VALUE)
    lazy = everything.decode("All", rules, data, lazy=True)
    whole = everything.decode("All", rules, data)
    assert type(lazy) is LazyDict
    assert lazy == whole and whole == lazy and lazy != {}
    assert lazy.to_dict() == whole and type(lazy.to_dict()["set"]) is dict
    assert list(lazy) == list(whole) == list(lazy.keys())
    assert len(lazy) == len(whole)
    assert dict(lazy.items()) == whole == dict(lazy)
    assert list(lazy.values()) == list(whole.values())
    for name, value in whole.items():
        assert lazy[name] == value and lazy.get(name) == value and name in lazy
    assert everything.encode("All", rules, lazy) == data
    assert everything.encode("All", rules, {**lazy, "level": 5}) == everything.encode(
        "All", rules, {**whole, "level": 5}
    )


def test_what_is_inside_is_lazy_too(everything: tercet.Schema) -> None:
    lazy = everything.codec("All", "uper", lazy=True).decode(everything.encode("All", "uper", VALUE))
    assert type(lazy["set"]) is LazyDict and lazy["set"]["a"] == 1
    name, inner = lazy["wrapped"]
    assert name == "Inner" and type(inner) is LazyDict and inner["y"] == "why"
    assert json.loads(json.dumps(lazy["set"], default=dict)) == {"a": 1, "b": False}


def test_mappings(everything: tercet.Schema) -> None:
    data = everything.encode("All", "ber", VALUE)
    lazy = everything.decode("All", "ber", bytearray(data), lazy=True)
    assert isinstance(lazy, Mapping)
    match lazy:
        case {"flag": True, "octets": octets}:
            assert octets == b"\x00\xff"
        case _:
            pytest.fail("not a mapping")
    with pytest.raises(KeyError, match="nothing"):
        lazy["nothing"]
    with pytest.raises(KeyError):
        lazy[0]
    assert lazy.get("nothing") is None and lazy.get("nothing", 7) == 7
    # A name that is not the interned one.
    assert lazy["".join(["fl", "ag"])] is True
    assert "LazyDict {'flag': True" in repr(lazy)
    others: list[Any] = [5, [("flag", True)], {"flag": True}]
    assert all(lazy != other for other in others)
    for kept in (pickle.loads(pickle.dumps(lazy)), copy.deepcopy(lazy)):
        assert type(kept) is dict and kept == lazy
    with pytest.raises(TypeError):
        hash(lazy)


def test_unknown_additions_and_defaults() -> None:
    schema = tercet.Schema.parse(
        "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN\n"
        "Old ::= SEQUENCE { a INTEGER, b INTEGER DEFAULT 3, ... }\n"
        "New ::= SEQUENCE { a INTEGER, b INTEGER DEFAULT 3, ..., c INTEGER, d INTEGER }\nEND"
    )
    for rules in ("ber", "uper", "oer"):
        data = schema.encode("New", rules, {"a": 1, "c": 5, "d": 6})
        lazy = schema.decode("Old", rules, data, lazy=True, defaults=True)
        assert list(lazy) == ["a", "b", "..."] and len(lazy) == 3
        assert lazy["b"] == 3
        assert [type(one) for one in lazy["..."]] == [Unknown, Unknown]
        assert lazy == schema.decode("Old", rules, data, defaults=True)
        assert schema.encode("Old", rules, lazy) == data


def test_offsets_and_roots_of_other_kinds(everything: tercet.Schema) -> None:
    schema = tercet.Schema.parse(
        "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN\n"
        "Choice ::= CHOICE { one SEQUENCE { a INTEGER }, two NULL }\n"
        "List ::= SEQUENCE OF Choice\nEND"
    )
    data = schema.encode("List", "ber", [("one", {"a": 5}), ("two", None)])
    codec = schema.codec("List", "ber", lazy=True)
    value, end = codec.decode_from(b"\x00\x00" + data, 2)
    assert end == 2 + len(data)
    assert type(value) is list and type(value[0][1]) is LazyDict and value[0][1]["a"] == 5 and value[1] == ("two", None)
    with pytest.raises(tercet.ArgumentError, match="lazy"):
        schema.codec("List", "ber", lazy="perhaps")  # type: ignore[arg-type]


def test_records_of_files(tmp_path: Any) -> None:
    schema = tercet.Schema.parse(
        "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN\n"
        "Call ::= SEQUENCE { number INTEGER, inner SEQUENCE { text UTF8String } }\nEND"
    )
    values = [{"number": number, "inner": {"text": f"t{number}"}} for number in range(600)]
    path = tmp_path / "calls.ber"
    path.write_bytes(b"".join(schema.encode("Call", "ber", value) for value in values))
    found = [record.value for record in tercet.iter_records(path, schema, "Call", lazy=True)]
    assert all(type(value) is LazyDict for value in found)
    assert [value["inner"]["text"] for value in found] == [f"t{number}" for number in range(600)]
    assert found == values
