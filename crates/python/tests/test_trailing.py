"""Bytes after a value, and values that break off."""

import pytest

import tercet

SPECIFICATION = """
Padded DEFINITIONS AUTOMATIC TAGS ::= BEGIN
E ::= SEQUENCE { a INTEGER (0..7), b BOOLEAN }
C ::= SEQUENCE { a INTEGER, s SEQUENCE OF OCTET STRING, u UTF8String }
T ::= CHOICE { not T, leaf BOOLEAN }
END
"""


@pytest.fixture(scope="module")
def schema() -> tercet.Schema:
    return tercet.Schema.parse(SPECIFICATION)


def test_padding_is_accepted_where_it_is_allowed(schema: tercet.Schema) -> None:
    value = {"a": 3, "b": True}
    assert schema.decode("E", "uper", b"\x70", trailing="error") == value
    assert schema.decode("E", "uper", b"\x70\0\0", trailing="zeros") == value
    assert schema.decode("E", "uper", b"\x70\0\1", trailing="any") == value
    for data, trailing in [(b"\x70\0", "error"), (b"\x70\0\1", "zeros")]:
        with pytest.raises(tercet.DecodeError) as caught:
            schema.decode("E", "uper", data, trailing=trailing)  # type: ignore[arg-type]
        assert caught.value.kind == "trailing-data"
    with pytest.raises(tercet.Error):
        schema.decode("E", "uper", b"\x70", trailing="zero")  # type: ignore[arg-type]


def test_an_error_carries_the_value_before_the_fault(schema: tercet.Schema) -> None:
    whole = schema.encode("C", "ber", {"a": 5, "s": [b"AB", b"CD"], "u": "ab"})
    for cut, partial in [
        (whole[:-1], {"a": 5, "s": [b"AB", b"CD"]}),
        (whole[:-5], {"a": 5, "s": [b"AB"]}),
        (whole[:4], None),
    ]:
        with pytest.raises(tercet.DecodeError) as caught:
            schema.decode("C", "ber", cut)
        assert caught.value.partial == partial


def test_the_limit_of_depth_is_one_of_the_value(schema: tercet.Schema) -> None:
    def value(depth: int) -> object:
        inner: object = ("leaf", True)
        for _ in range(depth - 1):
            inner = ("not", inner)
        return inner

    for syntax in ["ber", "der", "cer", "aper", "uper", "oer", "coer", "jer", "xer", "gser"]:
        data = schema.encode("T", syntax, value(64))
        assert schema.decode("T", syntax, data) is not None
        with pytest.raises(tercet.EncodeError, match="values are nested deeper than the limit"):
            schema.encode("T", syntax, value(65))
        deeper = schema.codec("T", syntax, max_depth=65)
        data = deeper.encode(value(65))
        assert deeper.decode(data) == value(65)
        with pytest.raises(tercet.DecodeError, match="values are nested deeper than the limit"):
            schema.decode("T", syntax, data)
