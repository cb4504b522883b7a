"""Encodings part by part: Schema.show()."""

import pytest

import tercet

TEXT = """
M DEFINITIONS AUTOMATIC TAGS ::= BEGIN
T ::= SEQUENCE { a INTEGER (0..7), b UTF8String }
END
"""
VALUE = {"a": 5, "b": '<b> & "c"'}


@pytest.mark.parametrize(
    "rules",
    [
        "ber",
        "der",
        "cer",
        "aper",
        "uper",
        "canonical-aper",
        "canonical-uper",
        "oer",
        "coer",
        "xer",
        "cxer",
        "jer",
        "gser",
    ],
)
def test_parts_are_all_bits(rules: str) -> None:
    schema = tercet.Schema.parse(TEXT)
    data = schema.encode("T", rules, VALUE)
    shown = schema.show("T", rules, data)
    assert (shown.type, shown.rules, shown.error) == ("T", rules, None)
    end = 0
    for part in shown.parts:
        assert part.offset * 8 + part.bit == end
        end += part.bits
    assert end == len(data) * 8
    values = {part.path: part.value for part in shown.parts if part.value is not None}
    assert values == {"T.a": "5", "T.b": '"<b> & \\"c\\""'}
    [clause] = {part.clause for part in shown.parts if part.path == "T.a" and part.part == "contents"}
    assert clause.split()[0] in {"X.690", "X.691", "X.696", "X.697", "X.680", "RFC"}


def test_notebooks_show_a_table() -> None:
    schema = tercet.Schema.parse(TEXT)
    shown = schema.show("T", "xer", "<T><a>5</a><b>&lt;i></b></T>")
    html = shown._repr_html_()
    assert html.count("<tr>") == len(shown.parts) + 1
    # Characters of data are text.
    assert "&lt;a&gt;" in html and "<a>" not in html and "<i>" not in html
    assert "X.680 19" in html and "T.a" in str(shown)
    assert repr(shown) == f"<tercet.Shown T xer: {len(shown.parts)} parts>"
    many = tercet.Schema.parse("M DEFINITIONS ::= BEGIN L ::= SEQUENCE OF BOOLEAN END").show("L", "jer", "[]")
    assert [part.part for part in many.parts] == ["delimiter"]


def test_damaged_data_is_shown_up_to_the_fault() -> None:
    schema = tercet.Schema.parse(TEXT)
    data = schema.encode("T", "ber", VALUE)
    shown = schema.show("T", "ber", data[:-1])
    assert shown.error and "1 byte is missing" in shown.error and shown.error in str(shown)
    assert "1 byte is missing" in shown._repr_html_()
    cut = schema.show("T", "uper", schema.encode("T", "uper", VALUE)[:-1])
    assert cut.error and [part.path for part in cut.parts][:1] == ["T.a"]
    more = schema.show("T", "ber", data + b"\x00\x01")
    assert more.error and len(more.parts) == len(schema.show("T", "ber", data).parts)
    wrong = schema.show("T", "jer", '{"a":"<script>"}')
    assert wrong.error and "<script>" not in wrong._repr_html_()
    with pytest.raises(tercet.SchemaError):
        schema.show("Nothing", "ber", data)


def test_long_parts_are_cut_in_notebooks() -> None:
    schema = tercet.Schema.parse("M DEFINITIONS ::= BEGIN L ::= SEQUENCE OF OCTET STRING END")
    shown = schema.show("L", "ber", schema.encode("L", "ber", [b"x" * 2000] * 600))
    html = shown._repr_html_()
    assert "the first 500 of" in html and len(html) < 200_000 and len(shown.parts) == 1802
