"""What data is, by trial, and values as the command shows them."""

from datetime import datetime, timedelta, timezone

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
