"""What ASN.1 values are in Python, both ways, by every transfer syntax."""

import copy
import math
import pickle
from decimal import Decimal
from typing import Any

import pytest

import tercet
from tercet import BitString, Marked, Real, Unknown

BINARY = ["ber", "der", "cer", "aper", "uper", "canonical-aper", "canonical-uper", "oer", "coer"]
ALL = [*BINARY, "xer", "cxer", "jer", "gser"]

VALUES: dict[str, list[Any]] = {
    "flag": [True, False],
    "number": [0, -1, 127, -129, 2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 2**200, -(2**200)],
    "colour": ["red", "blue"],
    "real": [0.0, 1.5, -0.1, 1e300, 5e-324, math.inf, -math.inf],
    "bits": [BitString(b""), BitString(b"\xa0", 3), BitString(b"\x01\x03")],
    "octets": [b"", b"\x00\xff" * 100],
    "nothing": [None],
    "oid": ["1.3.6.1.4.1.32473", "2.999.3"],
    "relative": ["8571.3.2"],
    "iri": ["/ISO/Registration-Authority"],
    "utf8": ["", "Grüße, 世界", "a\U0001f600"],
    "bmp": ["Ωmega"],
    "utc": ["260101120000Z"],
    "general": ["20260101120000.5Z"],
    "date": ["2026-01-31"],
    "list": [[], [1, -2, 3]],
    "set": [{"a": 1, "b": False}],
    "choice": [("text", "hello"), ("count", 5)],
    "wrapped": [("Inner", {"x": 1, "y": "why"}), b"\xff\xff\xff"],
}


@pytest.mark.parametrize("rules", ALL)
@pytest.mark.parametrize("name", VALUES)
def test_values_come_back_as_they_were(everything: tercet.Schema, rules: str, name: str) -> None:
    for value in VALUES[name]:
        whole = {name: value, "level": 4}
        data = everything.encode("All", rules, whole)
        assert type(data) is bytes
        back = everything.decode("All", rules, data)
        assert back == whole
        assert type(back[name]) is type(value)


def test_not_a_number_and_minus_zero(everything: tercet.Schema) -> None:
    codec = everything.codec("All", "der")
    assert math.isnan(codec.decode(codec.encode({"real": math.nan}))["real"])
    assert math.copysign(1, codec.decode(codec.encode({"real": -0.0}))["real"]) == -1
    assert math.isnan(codec.decode(codec.encode({"real": Decimal("NaN")}))["real"])


@pytest.mark.parametrize("rules", BINARY)
def test_reals_that_no_float_is(everything: tercet.Schema, rules: str) -> None:
    codec = everything.codec("All", rules)
    for value in [Decimal("0.1"), Decimal("-12345678901234567890.5"), Real(2**80 + 1, 2, -7), Real(-3, 2, 5000)]:
        back = codec.decode(codec.encode({"real": value}))["real"]
        assert back == value
        assert type(back) is type(value)
    assert codec.decode(codec.encode({"real": 3}))["real"] == 3.0


def test_other_forms_are_understood(everything: tercet.Schema) -> None:
    codec = everything.codec("All", "der")
    assert codec.encode({"number": "two"}) == codec.encode({"number": 2})
    assert codec.encode({"colour": 2}) == codec.encode({"colour": "blue"})
    assert codec.encode({"bits": {"third"}}) == codec.encode({"bits": BitString.from_digits("001")})
    assert codec.encode({"bits": (b"\x20", 3)}) == codec.encode({"bits": BitString.from_digits("001")})
    assert codec.encode({"list": (1, 2)}) == codec.encode({"list": [1, 2]})
    for octets in [bytearray(b"abc"), memoryview(b"abc"), memoryview(b"aXbXcX")[::2]]:
        assert codec.encode({"octets": octets}) == codec.encode({"octets": b"abc"})


def test_names_of_bits(everything: tercet.Schema) -> None:
    codec = everything.codec("All", "ber")
    bits = codec.decode(codec.encode({"bits": {"first", "third"}}))["bits"]
    assert bits.names == ("first", "third")
    assert str(bits) == "101"
    assert list(bits) == [True, False, True]
    assert bits[-1] is True
    with pytest.raises(IndexError):
        bits[3]
    with pytest.raises(ValueError, match="bytes"):
        BitString(b"", 1)
    for other in [pickle.loads(pickle.dumps(bits)), copy.deepcopy(bits), BitString(b"\xa0", 3), BitString(b"\xbf", 3)]:
        assert other == bits
        assert hash(other) == hash(bits)
    assert bits != BitString(b"\xa0", 4)
    assert bits != "101"


@pytest.mark.parametrize("rules", BINARY)
def test_open_types(everything: tercet.Schema, rules: str) -> None:
    codec = everything.codec("Frame", rules)
    values: list[dict[str, Any]] = [
        {"id": 1, "body": ("INTEGER", 5)},
        {"id": 2, "body": ("Everything.Inner", {"x": 7})},
        {"id": 3, "body": ("UTF8String", "hello")},
    ]
    for value in values:
        data = codec.encode(value)
        decoded = codec.decode(data)
        assert decoded == value
        assert codec.encode(decoded) == data
        plain = everything.decode("Frame", rules, data, open_types=False)
        assert type(plain["body"]) is bytes
        assert codec.encode(plain) == data
    assert codec.decode(codec.encode({"id": 9, "body": b"\x05\x00"})) == {"id": 9, "body": b"\x05\x00"}


@pytest.mark.parametrize("rules", BINARY)
def test_additions_of_later_versions_are_kept(everything: tercet.Schema, rules: str) -> None:
    data = everything.encode("New", rules, {"a": 1, "b": "later"})
    old = everything.decode("Old", rules, data)
    assert old["a"] == 1
    assert type(old["..."][0]) is Unknown
    assert everything.encode("Old", rules, old) == data
    colour = everything.encode("NewColour", rules, "green")
    assert everything.encode("OldColour", rules, everything.decode("OldColour", rules, colour)) == colour


def test_defaults_are_filled_when_asked_for(everything: tercet.Schema) -> None:
    data = everything.encode("All", "der", {"set": {"a": 1}})
    assert everything.decode("All", "der", data) == {"set": {"a": 1}}
    assert everything.decode("All", "der", data, defaults=True) == {"set": {"a": 1, "b": True}, "level": 3}


@pytest.mark.parametrize("rules", BINARY)
def test_samples_come_back(everything: tercet.Schema, demo: tercet.Schema, rules: str) -> None:
    for schema, name in [(everything, "All"), (everything, "Frame"), (demo, "CallRecord")]:
        codec = schema.codec(name, rules)
        for value in schema.sample(name, 60, seed=7):
            data = codec.encode(value)
            assert codec.encode(codec.decode(data)) == data
        encodings = schema.sample(name, 60, seed=7, rules=rules)
        assert len(set(encodings)) > 20
        assert not any(schema.validate(name, rules, data) for data in encodings)


def test_json_text(demo: tercet.Schema) -> None:
    data = demo.sample("CallRecord", rules="ber")[0]
    text = demo.transcode("CallRecord", "ber", "jer", data)
    assert text.startswith(b'{"moCall":{"recordNumber":0')
    assert demo.transcode("CallRecord", "jer", "ber", text.decode()) == data
    assert demo.decode("CallRecord", "jer", text) == demo.decode("CallRecord", "ber", data)


def test_values_one_after_the_other(demo: tercet.Schema) -> None:
    codec = demo.codec("CallRecord")
    records = demo.sample("CallRecord", 5, rules="ber")
    data, at, found = b"".join(records), 0, []
    while at < len(data):
        value, at = codec.decode_from(data, at)
        found.append(codec.encode(value))
    assert found == records
    with pytest.raises(ValueError, match="offset"):
        codec.decode_from(data, len(data) + 1)


def test_one_imperfect_leaf_does_not_cost_the_value() -> None:
    schema = tercet.Schema.parse(
        "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN "
        "S ::= SEQUENCE { p PrintableString, u UTF8String, t UTCTime, n INTEGER } END"
    )
    data = bytes.fromhex("301B 8003 612A40 8104 4DFC6C6C 820B 303030303030303030305A 8301 05")
    value = schema.decode("S", "ber", data)
    assert value == {"p": "a*@", "u": "M\ufffdll", "t": "0000000000Z", "n": 5}
    marked = value["u"]
    assert isinstance(marked, Marked)
    assert (marked.octets, marked.reason) == (b"M\xfcll", "utf8-invalid")
    assert pickle.loads(pickle.dumps(marked)).octets == copy.copy(marked).octets == marked.octets
    assert schema.encode("S", "ber", value) == data
    assert schema.transcode("S", "ber", "ber", data) == data
    octets = schema.decode("S", "ber", data, values="bytes")
    assert (octets["p"], octets["t"]) == (b"a*@", b"0000000000Z")
    assert schema.encode("S", "ber", octets) == data
    assert schema.decode("S", "ber", data, times="datetime")["t"] == "0000000000Z"
    for refused in [
        lambda: schema.decode("S", "ber", data, values="strict"),
        lambda: schema.decode("S", "der", data),
        lambda: schema.validate("S", "ber", data),
        lambda: schema.encode("S", "der", value),
        lambda: schema.encode("S", "uper", value),
        lambda: schema.encode("S", "ber", {**value, "p": "a*@"}),
    ]:
        with pytest.raises(tercet.Error):
            refused()  # type: ignore[no-untyped-call]
    with pytest.raises(tercet.Error, match="keep"):
        schema.decode("S", "ber", data, values="lenient")  # type: ignore[arg-type]


def test_unknown_and_real_are_plain_values() -> None:
    for value in [Unknown(b"\x05\x00"), Unknown(b"", 3), Real(1, 2, 3)]:
        assert pickle.loads(pickle.dumps(value)) == value
        assert len({value, copy.copy(value)}) == 1


def test_types_and_rules_by_turns(everything: tercet.Schema) -> None:
    values: dict[str, Any] = {"Inner": {"x": 1, "y": "z"}, "Old": {"a": 5}, "All": {"number": 7}}
    for _ in range(3):
        for name, value in values.items():
            for rules in ALL:
                # Texts that are equal and not the same objects.
                data = everything.encode("".join(list(name)), rules, value)
                assert everything.decode(name, "".join(list(rules)), data) == value
