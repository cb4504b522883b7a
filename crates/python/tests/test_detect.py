"""What data is, by trial, and values as the command shows them."""

import io
import pickle
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import tercet

SMS = {
    "recordNumber": 7,
    "servedIMSI": bytes.fromhex("62021234876543f5"),
    "originating": True,
    "otherParty": bytes.fromhex("9194710000f0"),
    "serviceCentre": bytes.fromhex("919471000070"),
    "eventTime": bytes.fromhex("2611010800172b0100"),
}


@pytest.mark.parametrize("rules", ["der", "cer", "aper", "uper", "oer", "xer", "jer", "gser"])
def test_rules_and_type_are_detected(demo: tercet.Schema, rules: str) -> None:
    data = demo.encode("CallRecord", rules, ("sms", SMS))
    found = tercet.detect(data, demo)
    best = found[0]
    assert (best.rules, best.type, best.fits, best.error) == (rules, "Demo-CDR.CallRecord", True, None)
    assert (best.octets, best.violations) == (len(data), 0)
    assert best.elements > 6
    assert any(not it.fits and it.error for it in found)
    assert {it.rules for it in tercet.detect(data, demo, rules=rules)} == {rules}
    assert {it.type for it in tercet.detect(data, demo, type="CallRecord")} == {"CallRecord"}


def test_what_cannot_be_detected(demo: tercet.Schema) -> None:
    assert not tercet.detect(b"\xff" * 40, demo, rules="ber")[0].fits
    with pytest.raises(tercet.ArgumentError, match="no data"):
        tercet.detect(b"", demo)
    with pytest.raises(tercet.SchemaError, match="Nothing"):
        tercet.detect(b"x", demo, "Nothing")
    with pytest.raises(tercet.ArgumentError, match="xyz"):
        tercet.detect(b"x", demo, rules="xyz")
    with pytest.raises(tercet.ArgumentError):
        tercet.detect(5, demo)  # type: ignore[arg-type]


@pytest.mark.parametrize("rules", ["ber", "uper", "oer", "xer"])
def test_single_values_are_shown_as_records_are(demo: tercet.Schema, rules: str) -> None:
    data = demo.encode("CallRecord", rules, ("sms", SMS))
    assert demo.decode("CallRecord", rules, data) == ("sms", SMS)
    assert demo.decode("CallRecord", rules, data, render="none") == ("sms", SMS)
    [record] = tercet.iter_records(demo.encode("CallRecord", "ber", ("sms", SMS)), demo, "CallRecord")
    shown = demo.decode("CallRecord", rules, data, render="auto")
    assert shown == record.value
    assert (shown[1]["servedIMSI"], shown[1]["eventTime"]) == ("262021437856345", "2026-11-01T08:00:17+01:00")
    codec = demo.codec("CallRecord", rules, profile="common", times="datetime")
    expected = datetime(2026, 11, 1, 8, 0, 17, tzinfo=timezone(timedelta(hours=1)))
    for _ in range(3):
        assert codec.decode(data)[1]["eventTime"] == expected
    assert codec.decode_from(data)[0] == codec.decode(data)
    shown = demo.decode("CallRecord", rules, data, render=["none", "sms.servedIMSI=tbcd"])
    assert shown[1] == SMS | {"servedIMSI": "262021437856345"}
    for wrong in (
        {"render": "sms.servedIMSI=nothing"},
        {"render": "nothing=tbcd"},
        {"profile": "nothing"},
        {"render": 5},
    ):
        with pytest.raises(tercet.ArgumentError):
            demo.decode("CallRecord", rules, data, **wrong)


TAGGED = """
A DEFINITIONS EXPLICIT TAGS ::= BEGIN
  Call ::= [1] SEQUENCE { number [0] INTEGER, party [1] CHOICE { name [0] UTF8String, code [1] INTEGER } }
END
"""
CALLS = [{"number": number, "party": ("code", 5)} for number in range(40)]


@pytest.mark.parametrize("tags", ["as-written", "implicit", "explicit"])
def test_tags_are_found_out(tags: Any, tmp_path: Path) -> None:
    """Values and records decode by the tags that the data has, whatever the specification says."""
    meant = tercet.Schema.parse(TAGGED, tags=tags)
    data = [meant.encode("Call", "ber", call) for call in CALLS]
    file = tmp_path / "calls.ber"
    file.write_bytes(b"".join(data))
    specification = tmp_path / "calls.asn"
    specification.write_text(TAGGED)
    for schema in (tercet.Schema.parse(TAGGED, tags="auto"), tercet.Schema.load(specification, tags="auto")):
        codec = schema.codec("Call")
        assert [codec.decode(it) for it in data] == CALLS
        assert codec.encode(CALLS[0]) == data[0]
        assert pickle.loads(pickle.dumps(codec)).decode(data[0]) == CALLS[0]
        assert schema.transcode("Call", "ber", "jer", data[0]) == meant.transcode("Call", "ber", "jer", data[0])
        assert schema.validate("Call", "ber", data[0]) == []
        sources: list[Any] = [file, file.read_bytes(), io.BytesIO(file.read_bytes())]
        for source in sources:
            assert [record.value for record in tercet.iter_records(source, schema, "Call")] == CALLS
            if isinstance(source, io.BytesIO):
                source.seek(0)
            assert len(tercet.read(source, schema, "Call")) == 40
    other = {"as-written": "implicit", "implicit": "explicit", "explicit": "implicit"}[tags]
    with pytest.raises(tercet.DecodeError):
        tercet.Schema.parse(TAGGED, tags=other).decode("Call", "ber", data[0])  # type: ignore[arg-type]


def test_data_that_no_tags_fit_is_told_by_those_of_the_specification() -> None:
    schema = tercet.Schema.parse(TAGGED, tags="auto")
    with pytest.raises(tercet.DecodeError) as caught:
        schema.decode("Call", "ber", b"\xa5\x00")
    written = tercet.Schema.parse(TAGGED)
    with pytest.raises(tercet.DecodeError) as expected:
        written.decode("Call", "ber", b"\xa5\x00")
    assert str(caught.value) == str(expected.value)
    # What has decoded once decides.
    data = written.encode("Call", "ber", CALLS[0])
    assert schema.decode("Call", "ber", data) == CALLS[0]
    implicit = tercet.Schema.parse(TAGGED, tags="implicit")
    with pytest.raises(tercet.DecodeError):
        schema.decode("Call", "ber", implicit.encode("Call", "ber", CALLS[0]))
