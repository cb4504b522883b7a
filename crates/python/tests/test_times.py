"""Times as objects of `datetime`, object identifiers as tuples, None for what is absent: both ways."""

from datetime import date, datetime, time, timedelta, timezone
from typing import Any

import pytest

import tercet

UTC = timezone.utc
PLUS = timezone(timedelta(hours=5, minutes=45))

SCHEMA = """
Times DEFINITIONS AUTOMATIC TAGS ::= BEGIN
  T ::= CHOICE {
    utc UTCTime, general GeneralizedTime, date DATE, clock TIME-OF-DAY, moment DATE-TIME, time TIME, duration DURATION,
    oid OBJECT IDENTIFIER, relative RELATIVE-OID
  }
END
"""


@pytest.fixture(scope="module")
def times() -> tercet.Schema:
    return tercet.Schema.parse(SCHEMA)


EXACT: list[tuple[str, str, Any]] = [
    ("utc", "260131120005Z", datetime(2026, 1, 31, 12, 0, 5, tzinfo=UTC)),
    ("utc", "500101000000Z", datetime(1950, 1, 1, tzinfo=UTC)),
    ("utc", "491231235959+0545", datetime(2049, 12, 31, 23, 59, 59, tzinfo=PLUS)),
    ("general", "20260131120005Z", datetime(2026, 1, 31, 12, 0, 5, tzinfo=UTC)),
    ("general", "20260131120005.25Z", datetime(2026, 1, 31, 12, 0, 5, 250_000, tzinfo=UTC)),
    ("general", "20260131120005.000001", datetime(2026, 1, 31, 12, 0, 5, 1)),
    ("general", "00010101000000-0330", datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=-3, minutes=-30)))),
    ("general", "99991231235959Z", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ("date", "2026-01-31", date(2026, 1, 31)),
    ("clock", "23:59:59", time(23, 59, 59)),
    ("moment", "2026-01-31T12:00:05", datetime(2026, 1, 31, 12, 0, 5)),
]
# Other texts of a time that has an object: it comes back in another form.
LOOSE: list[tuple[str, str, Any]] = [
    ("utc", "2601311200Z", datetime(2026, 1, 31, 12, 0, tzinfo=UTC)),
    ("general", "2026013112", datetime(2026, 1, 31, 12, 0)),
    ("general", "2026013112.5Z", datetime(2026, 1, 31, 12, 30, tzinfo=UTC)),
    ("general", "202601311200.75Z", datetime(2026, 1, 31, 12, 0, 45, tzinfo=UTC)),
    ("general", "20260131120005,500Z", datetime(2026, 1, 31, 12, 0, 5, 500_000, tzinfo=UTC)),
]
# Times that are not exactly one of Python's, and those that no type of Python's is for.
TEXTS = [
    ("general", "00000101000000Z"),
    ("general", "20261231235960Z"),
    ("general", "20261231240000Z"),
    ("general", "20260131120005.0000001Z"),
    ("general", "2026013112.333Z"),
    ("time", "P1Y"),
    ("duration", "P1DT2H"),
]


@pytest.mark.parametrize("rules", ["ber", "jer", "xer", "gser"])
@pytest.mark.parametrize(("name", "text", "value"), EXACT)
def test_times_are_datetimes_both_ways(times: tercet.Schema, rules: str, name: str, text: str, value: Any) -> None:
    data = times.encode("T", rules, (name, text))
    assert times.decode("T", rules, data) == (name, text)
    found = times.decode("T", rules, data, times="datetime")
    assert found == (name, value)
    assert type(found[1]) is type(value)
    assert times.encode("T", rules, (name, value)) == data
    assert times.codec("T", rules, times="datetime").decode(data) == found


@pytest.mark.parametrize(("name", "text", "value"), [it for it in EXACT if it[1].endswith("Z") or it[0] != "utc"])
@pytest.mark.parametrize("rules", ["uper", "aper", "oer"])
def test_times_of_packed_rules_are_datetimes(
    times: tercet.Schema, rules: str, name: str, text: str, value: Any
) -> None:
    data = times.encode("T", rules, (name, value))
    assert times.decode("T", rules, data, times="datetime") == (name, value)


@pytest.mark.parametrize(("name", "text", "value"), LOOSE)
def test_times_in_other_forms_are_datetimes(times: tercet.Schema, name: str, text: str, value: Any) -> None:
    data = times.encode("T", "ber", (name, text))
    found = times.decode("T", "ber", data, times="datetime")
    assert found == (name, value)
    assert found[1].utcoffset() == value.utcoffset()
    again = times.encode("T", "ber", found)
    assert times.decode("T", "ber", again, times="datetime") == found


@pytest.mark.parametrize(("name", "text"), TEXTS)
def test_times_that_python_cannot_express_stay_text(times: tercet.Schema, name: str, text: str) -> None:
    if text.startswith("2026013112.333"):
        # A third of an hour to three digits is whole microseconds all the same: 1198.8 seconds.
        found = times.decode("T", "ber", times.encode("T", "ber", (name, text)), times="datetime")
        assert found == (name, datetime(2026, 1, 31, 12, 19, 58, 800_000, tzinfo=UTC))
        return
    data = times.encode("T", "ber", (name, text))
    assert times.decode("T", "ber", data, times="datetime") == (name, text)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("utc", datetime(2026, 1, 1), "time zone"),
        ("utc", datetime(2050, 1, 1, tzinfo=UTC), "1950 to 2049"),
        ("utc", datetime(2026, 1, 1, microsecond=1, tzinfo=UTC), "fractions"),
        ("utc", date(2026, 1, 1), "datetime.datetime expected"),
        ("general", datetime(2026, 1, 1, tzinfo=timezone(timedelta(seconds=30))), "whole minutes"),
        ("general", 5, "datetime.datetime expected"),
        ("date", datetime(2026, 1, 1), "datetime.date expected"),
        ("clock", time(1, 2, 3, 4), "to the second"),
        ("clock", time(1, 2, 3, tzinfo=UTC), "without time zone"),
        ("moment", datetime(2026, 1, 1, tzinfo=UTC), "without time zone"),
        ("oid", (1, "x"), "tuple of int"),
        ("oid", (1, -2), "tuple of int"),
        ("oid", (1, True), "tuple of int"),
        ("oid", (9, 9), "object identifier"),
        ("oid", (), "object identifier"),
        ("oid", 5, "tuple of int"),
    ],
)
def test_objects_that_are_no_value_of_the_type(times: tercet.Schema, name: str, value: Any, words: str) -> None:
    with pytest.raises(tercet.EncodeError, match=words) as caught:
        times.encode("T", "ber", (name, value))
    assert caught.value.path == f"T.{name}"


@pytest.mark.parametrize("rules", ["ber", "uper", "oer", "jer", "xer"])
def test_object_identifiers_are_tuples_both_ways(times: tercet.Schema, rules: str) -> None:
    for name, text in [
        ("oid", "1.3.6.1.4.1.32473"),
        ("oid", "2.999.3"),
        ("oid", f"2.25.{2**127}"),
        ("relative", "8571.3"),
    ]:
        arcs = tuple(map(int, text.split(".")))
        data = times.encode("T", rules, (name, text))
        assert times.encode("T", rules, (name, arcs)) == times.encode("T", rules, (name, list(arcs))) == data
        assert times.decode("T", rules, data) == (name, text)
        assert times.decode("T", rules, data, oids="tuple") == (name, arcs)
    with pytest.raises(tercet.ArgumentError, match="oids: unknown value `list`\nhelp: known: `text`, `tuple`"):
        times.codec("T", oids="list")  # type: ignore[arg-type]
    with pytest.raises(tercet.ArgumentError, match="times: unknown value"):
        times.decode("T", "ber", b"", times="date")  # type: ignore[arg-type]


@pytest.mark.parametrize("rules", ["ber", "der", "uper", "oer", "jer", "xer"])
def test_none_is_absent_when_encoding(everything: tercet.Schema, rules: str) -> None:
    absent = {name: None for name in everything.sample("All", 40)[39]} | {"flag": True, "level": None, "utf8": None}
    absent.pop("nothing", None)
    absent.pop("...", None)
    assert everything.encode("All", rules, absent) == everything.encode("All", rules, {"flag": True})
    # An absent addition, and a NULL, of which None is the value.
    assert everything.encode("New", rules, {"a": 1, "b": None}) == everything.encode("New", rules, {"a": 1})
    null = everything.encode("All", rules, {"nothing": None})
    assert everything.decode("All", rules, null) == {"nothing": None}
    for value in [{"set": {"a": None}}, {"list": [None]}, {"choice": ("text", None)}]:
        with pytest.raises(tercet.EncodeError, match="expected"):
            everything.encode("All", rules, value)
    with pytest.raises(tercet.EncodeError, match="no component `other`"):
        everything.encode("All", rules, {"other": None})


def test_times_of_records_are_datetimes(demo: tercet.Schema) -> None:
    sms = {
        "recordNumber": 7,
        "servedIMSI": bytes.fromhex("62021234876543f5"),
        "originating": True,
        "otherParty": bytes.fromhex("9194710000f0"),
        "serviceCentre": bytes.fromhex("919471000070"),
        "eventTime": bytes.fromhex("2611010800172b0100"),
    }
    data = demo.encode("CallRecord", "ber", ("sms", sms))
    [record] = tercet.iter_records(data, demo, "CallRecord", times="datetime")
    expected = datetime(2026, 11, 1, 8, 0, 17, tzinfo=timezone(timedelta(hours=1)))
    assert record.value[1]["eventTime"] == expected
    assert record.value[1]["eventTime"].utcoffset() == timedelta(hours=1)
