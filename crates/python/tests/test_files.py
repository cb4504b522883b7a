"""Record files: one record after the other, as tables, in splits."""

import gzip
import hashlib
import json
import os
import re
import tarfile
import threading
import time
import warnings
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import tercet

pa = pytest.importorskip("pyarrow")

COUNT = 3_000


def values(demo: tercet.Schema, records: list[bytes]) -> list[Any]:
    codec = demo.codec("CallRecord")
    return [codec.decode(record) for record in records]


def test_records_and_where_they_are(demo: tercet.Schema, calls: Path, records: list[bytes]) -> None:
    reading = tercet.iter_records(calls, demo, "CallRecord", render="none")
    data, at = calls.read_bytes(), 0
    for number, (found, value) in enumerate(zip(reading, values(demo, records), strict=True)):
        assert (found.index, found.offset, found.length) == (number, at, len(records[number]))
        assert found.value == value
        assert found.file == str(calls)
        at += found.length
    report = reading.report
    assert report.complete
    assert (report.inputs, report.records, report.rejects) == (1, COUNT, 0)
    assert sum(report.by_type.values()) == COUNT
    assert report.balance == (len(data), len(data), 0, 0, 0)
    assert repr(next(tercet.iter_records([calls], demo, "CallRecord"))).startswith("Record(value=('moCall', {")


def test_schemas_by_path_and_many_files(calls: Path, tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[3]
    (tmp_path / "b.ber.gz").write_bytes(gzip.compress(calls.read_bytes()))
    (tmp_path / "a.ber").write_bytes(calls.read_bytes())
    (tmp_path / "c.ber.part").write_bytes(b"not there yet")
    with tarfile.open(tmp_path / "d.tar", "w") as archive:
        for name in ["x.ber", "y.ber"]:
            archive.add(calls, name)
    found = list(tercet.iter_records(tmp_path, root / "schemas" / "demo", "CallRecord"))
    assert len(found) == 4 * COUNT
    names = [str(tmp_path / name) for name in ["a.ber", "b.ber.gz", "d.tar!x.ber", "d.tar!y.ber"]]
    assert list(dict.fromkeys(record.file for record in found)) == names
    assert [record.index for record in found] == list(range(COUNT)) * 4
    glob = tercet.iter_records(str(tmp_path / "*.ber"), str(root / "schemas" / "demo"), "CallRecord")
    assert sum(1 for _ in glob) == COUNT


def test_rejects_are_errors_unless_allowed(
    demo: tercet.Schema, damaged: tuple[Path, list[int], list[bytes]], tmp_path: Path
) -> None:
    file, places, left = damaged
    reading = tercet.iter_records(file, demo, "CallRecord")
    with pytest.raises(tercet.RejectError, match=f"max_rejects=0.*byte {places[0]}") as caught:
        list(reading)
    assert caught.value.rejects[0].offset == places[0]
    assert not reading.report.complete
    assert next(reading, None) is None
    with pytest.raises(tercet.RejectError):
        list(tercet.iter_records(file, demo, "CallRecord", max_rejects=len(places) - 1))
    rejects = tmp_path / "rejects"
    reading = tercet.iter_records(file, demo, "CallRecord", max_rejects=None, rejects=rejects, render="none")
    assert [found.value for found in reading] == values(demo, left)
    report = reading.report
    assert report.rejects == len(places)
    assert report.complete
    assert [reject.offset for reject in report.first_rejects] == places[:5]
    assert report.balance.read == file.stat().st_size == sum(report.balance[1:])
    assert len(rejects.with_name("rejects.jsonl").read_text().splitlines()) == len(places)
    assert rejects.stat().st_size == report.balance.rejected
    share = 2 * len(places) / (len(places) + len(left))
    assert len(list(tercet.iter_records(file, demo, "CallRecord", max_reject_ratio=share))) == len(left)
    with pytest.raises(tercet.RejectError, match="more than max_reject_ratio=0.0001 allows"):
        list(tercet.iter_records(file, demo, "CallRecord", max_reject_ratio=0.0001))
    with pytest.raises(tercet.RejectError, match="more than max_rejects=1 allows"):
        list(tercet.iter_records(file, demo, "CallRecord", max_reject_ratio=1.0, max_rejects=1))
    with pytest.raises(ValueError, match="from 0 to 1"):
        tercet.iter_records(file, demo, "CallRecord", max_reject_ratio=2.0)


def test_tables(demo: tercet.Schema, calls: Path, records: list[bytes]) -> None:
    table = tercet.read(calls, demo, "CallRecord", batch_rows=1_000)
    assert not table.report.complete
    whole = pa.table(table)
    assert whole.schema == pa.schema(table.schema)
    assert whole.column_names == table.schema.names
    assert [len(batch) for batch in table.batches()] == [1_000, 1_000, 1_000]
    assert pa.RecordBatchReader.from_stream(table).read_all() == whole
    expected = values(demo, records)
    assert whole["choice"].to_pylist() == [kind for kind, _ in expected]
    for column in ["moCall", "sms"]:
        durations = [value.get("recordNumber") if kind == column else None for kind, value in expected]
        assert [row and row["recordNumber"] for row in whole[column].to_pylist()] == durations
    assert table.report.complete
    assert table.report.records == COUNT


def test_conditions_leave_out_records(demo: tercet.Schema, calls: Path, records: list[bytes]) -> None:
    expected = values(demo, records)
    calls_made = [value for value in expected if value[0] == "moCall"]
    reading = tercet.iter_records(calls, demo, "CallRecord", where="choice = moCall", render=None)
    found = list(reading)
    assert [record.value for record in found] == calls_made
    assert [record.index for record in found] == [i for i, value in enumerate(expected) if value[0] == "moCall"]
    report = reading.report
    assert (report.records, report.rows, report.left_out) == (COUNT, len(found), COUNT - len(found))
    long = [value for _, value in calls_made if value["duration"] >= 300_000]
    conditions = ["choice = moCall", "moCall.duration >= 300000"]
    table = tercet.read(calls, demo, "CallRecord", where=conditions, columns=["moCall.recordNumber"])
    numbers = [row["recordNumber"] for row in pa.table(table)["moCall"].to_pylist()]
    assert numbers == [value["recordNumber"] for value in long]
    assert 0 < len(numbers) < len(calls_made)
    for wrong in ["duration", "nothing = 3", ["choice = moCall", "sms"], "moCall.duration > abc"]:
        with pytest.raises(ValueError, match=r"no component `nothing`|no comparison after|`abc` is not a number"):
            tercet.read(calls, demo, "CallRecord", where=wrong)


def test_lists_make_rows(demo: tercet.Schema, calls: Path, records: list[bytes]) -> None:
    expected: list[tuple[int, int | None, Any]] = []
    for number, (kind, value) in enumerate(values(demo, records)):
        volumes = value["volumes"] if kind == "data" else []
        expected.extend((number, i, volume["uplink"]) for i, volume in enumerate(volumes))
        if not volumes:
            expected.append((number, None, None))
    reading = tercet.iter_records(calls, demo, "CallRecord", explode="data.volumes")
    found = [(record.index, record.elements, record.value) for record in reading]
    assert [(index, elements[0]) for index, elements, _ in found] == [(index, i) for index, i, _ in expected]
    inside = [value["volumes"]["uplink"] for _, elements, (_, value) in found if elements[0] is not None]
    assert inside == [uplink for _, i, uplink in expected if i is not None]
    assert reading.report.rows == len(expected) > COUNT
    table = tercet.read(
        calls,
        demo,
        "CallRecord",
        explode="data.volumes",
        columns=["data.volumes.uplink"],
        provenance=True,
        integers="int64",
    )
    rows = pa.table(table)
    assert rows["_record"].to_pylist() == [index for index, _, _ in expected]
    assert rows["_volumes"].to_pylist() == [i for _, i, _ in expected]
    uplinks = [row and row["volumes"] and row["volumes"]["uplink"] for row in rows["data"].to_pylist()]
    assert uplinks == [uplink for _, _, uplink in expected]
    with pytest.raises(ValueError, match="not a SEQUENCE OF"):
        tercet.read(calls, demo, "CallRecord", explode="data.duration")


def test_rows_of_a_list_alone(demo: tercet.Schema, calls: Path) -> None:
    records = enumerate(tercet.iter_records(calls, demo, "CallRecord"))
    data = [(number, record.value[1]) for number, record in records if record.value[0] == "data"]
    expected = [(number, i, it["uplink"]) for number, value in data for i, it in enumerate(value["volumes"])]
    reading = tercet.iter_records(calls, demo, "CallRecord", child="data.volumes")
    assert [(it.index, it.elements[0], it.value["uplink"]) for it in reading] == expected
    assert reading.report.rows == len(expected) > 0
    assert reading.report.records == COUNT
    table = tercet.read(calls, demo, "CallRecord", child="data.volumes", columns=["uplink"], integers="int64")
    assert table.schema.names == ["_file", "_record", "_volumes", "uplink"]
    rows = pa.table(table)
    assert list(zip(*(rows[name].to_pylist() for name in table.schema.names[1:]), strict=True)) == expected
    whole = tercet.read(calls, demo, "CallRecord", child="data.volumes", provenance=True)
    assert pa.table(whole)["_record"].to_pylist() == rows["_record"].to_pylist()
    assert whole.schema.names[:5] == ["_file", "_record", "_offset", "_length", "_volumes"]
    for path, message in [("data.duration", "is neither a list"), ("data.volume", "no component `volume`")]:
        with pytest.raises(ValueError, match=message):
            tercet.read(calls, demo, "CallRecord", child=path)
    sessions = tercet.read(calls, demo, "CallRecord", child="data", columns=["recordNumber", "volumes"])
    numbers = pa.table(sessions).select(["_record", "recordNumber"]).to_pydict()
    assert numbers == {"_record": [n for n, _ in data], "recordNumber": [value["recordNumber"] for _, value in data]}
    with pytest.raises(ValueError, match="two ways"):
        tercet.read(calls, demo, "CallRecord", child="data.volumes", explode="data.volumes")


def test_columns_by_patterns(demo: tercet.Schema, calls: Path) -> None:
    table = tercet.read(calls, demo, "CallRecord", columns=["*.recordNumber", "**.uplink"], integers="int64")
    assert [(field.name, str(field.type)) for field in pa.schema(table.schema)] == [
        ("moCall", "struct<recordNumber: int64>"),
        ("mtCall", "struct<recordNumber: int64>"),
        ("sms", "struct<recordNumber: int64>"),
        ("data", "struct<recordNumber: int64, volumes: list<item: struct<uplink: int64>>>"),
    ]
    with pytest.raises(ValueError, match="unknown column `x"):
        tercet.read(calls, demo, "CallRecord", columns=["x*"])


def test_no_row_of_a_rejected_record_is_left(tmp_path: Path) -> None:
    schema = tercet.Schema.parse("A DEFINITIONS IMPLICIT TAGS ::= BEGIN T ::= SEQUENCE { a SEQUENCE OF INTEGER } END")
    values = [[1, 2], [3, 1 << 70], [4]]
    file = tmp_path / "a.ber"
    file.write_bytes(b"".join(schema.encode("T", "ber", {"a": numbers}) for numbers in values))
    for rows in ({"explode": "a"}, {"child": "a"}):
        table = tercet.read(file, schema, "T", max_rejects=None, batch_rows=1, integers="int64", **rows)  # type: ignore[arg-type]
        found = pa.table(table)
        assert found[found.column_names[-1]].to_pylist() == [1, 2, 4]
        assert table.report.rejects == 1
    tables = tercet.read_tables(file, schema, "T", max_rejects=None, integers="int64").read()
    assert pa.table(tables["records"])["a"].to_pylist() == [2, 1]
    assert pa.table(tables["a"])["_record"].to_pylist() == [0, 0, 1]
    reading = tercet.read_tables(file, schema, "T", integers="int64").batches()
    with pytest.raises(tercet.RejectError):
        list(reading)


def test_totals_around_records_are_compared(tmp_path: Path) -> None:
    schema = tercet.Schema.parse(
        """A DEFINITIONS IMPLICIT TAGS ::= BEGIN
        Batch ::= [APPLICATION 1] SEQUENCE { calls [3] SEQUENCE OF Call, total [4] INTEGER, count [5] INTEGER }
        Call ::= SEQUENCE { charge [1] INTEGER, tax [2] INTEGER OPTIONAL }
        END"""
    )
    profile = tmp_path / "own.toml"
    profile.write_text(
        'name = "own"\n[control_totals]\ncount = "count"\n[control_totals.totals]\ntotal = ["charge", "charge + tax"]\n'
    )
    calls = [{"charge": 12, "tax": 1}, {"charge": 30}]
    file = tmp_path / "a.ber"
    for total, count, expected in [
        (42, 2, [("total", 42, 42, "charge", True), ("count", 2, 2, None, True)]),
        (43, 3, [("total", 43, 43, "charge + tax", True), ("count", 3, 2, None, False)]),
    ]:
        file.write_bytes(schema.encode("Batch", "ber", {"calls": calls, "total": total, "count": count}))
        reading = tercet.iter_records(file, schema, "Batch", records="Batch.calls", render=str(profile))
        assert [record.value for record in reading] == calls
        assert [it[1:] for it in reading.report.control_totals] == expected
        assert {it.file for it in reading.report.control_totals} == {str(file)}


def test_columns_and_provenance(demo: tercet.Schema, calls: Path, records: list[bytes]) -> None:
    table = tercet.read(calls, demo, "CallRecord", columns=["choice", "moCall.duration"], provenance=True)
    found = pa.table(table)
    assert found.column_names == ["_file", "_record", "_offset", "_length", "choice", "moCall"]
    assert found["_record"].to_pylist() == list(range(COUNT))
    assert found["_length"].to_pylist() == [len(record) for record in records]
    assert found.schema.field("moCall").type == pa.struct([("duration", pa.int64())])
    with pytest.raises(ValueError, match=r"unknown column `moCall\.durtion`"):
        tercet.read(calls, demo, "CallRecord", columns=["moCall.durtion"])
    found = pa.table(tercet.read(calls, demo, "CallRecord", columns=["choice"], provenance="sha256"))
    assert found.column_names == ["_file", "_record", "_offset", "_length", "_sha256", "choice"]
    assert found["_sha256"].to_pylist() == [hashlib.sha256(record).digest() for record in records]
    with pytest.raises(ValueError, match="a bool or `sha256` expected"):
        tercet.read(calls, demo, "CallRecord", provenance="md5")  # type: ignore[arg-type]


def test_names_of_columns(demo: tercet.Schema, calls: Path) -> None:
    plain = pa.table(tercet.read(calls, demo, "CallRecord", columns=["choice", "moCall.duration"]))
    names = {"moCall": "call", "moCall.duration": "seconds"}
    named = pa.table(tercet.read(calls, demo, "CallRecord", columns=["choice", "moCall.duration"], rename=names))
    assert named.column_names == ["choice", "call"]
    assert named.schema.field("call").type == pa.struct([("seconds", pa.int64())])
    calls_of = zip(plain["moCall"].to_pylist(), named["call"].to_pylist(), strict=True)
    assert all((one and one["duration"]) == (other and other["seconds"]) for one, other in calls_of)
    for wrong, message in [
        ({"moCal": "call"}, "unknown column `moCal`"),
        ({"moCall": "sms"}, "two columns are called `sms`"),
    ]:
        with pytest.raises(ValueError, match=message):
            tercet.read(calls, demo, "CallRecord", rename=wrong)


def test_rendering(demo: tercet.Schema, tmp_path: Path) -> None:
    file = tmp_path / "sms.ber"
    sms = {
        "recordNumber": 7,
        "servedIMSI": bytes.fromhex("62021234876543f5"),
        "originating": True,
        "otherParty": bytes.fromhex("9194710000f0"),
        "serviceCentre": bytes.fromhex("919471000070"),
        "eventTime": bytes.fromhex("2611010800172b0100"),
    }
    file.write_bytes(demo.encode("CallRecord", "ber", ("sms", sms)))
    record = next(tercet.iter_records(file, demo, "CallRecord")).value[1]
    assert record["servedIMSI"] == "262021437856345"
    assert record["eventTime"] == "2026-11-01T08:00:17+01:00"
    nones: list[Any] = ["none", None, []]
    for none in nones:
        shown = next(tercet.iter_records(file, demo, "CallRecord", render=none)).value[1]
        assert (shown == sms) == (none != [])
    rules: list[Any] = [["none", "sms.servedIMSI=tbcd"], {"sms.servedIMSI": "tbcd"}]
    for rule in rules:
        shown = next(tercet.iter_records(file, demo, "CallRecord", render=rule)).value[1]
        assert shown["servedIMSI"] == "262021437856345"
        assert (shown["eventTime"] == sms["eventTime"]) == (rule == rules[0])
    shown = next(tercet.iter_records(file, demo, "CallRecord", profile="common")).value[1]
    assert shown["servedIMSI"] == record["servedIMSI"]
    with pytest.raises(tercet.ArgumentError, match="takes no profile"):
        tercet.read(file, demo, "CallRecord", render="none", profile="common")
    table = pa.table(tercet.read(file, demo, "CallRecord", columns=["sms"]))
    row = table.to_pylist()[0]["sms"]
    assert row["servedIMSI"] == "262021437856345"
    assert (row["eventTime"].isoformat(), row["eventTime_offset"]) == ("2026-11-01T07:00:17+00:00", 60)
    with pytest.raises(ValueError, match="no profile `tap4`"):
        tercet.read(file, demo, "CallRecord", render="tap4")


def test_how_columns_look(everything: tercet.Schema, tmp_path: Path) -> None:
    file = tmp_path / "all.ber"
    file.write_bytes(everything.encode("All", "ber", {"number": 2**80, "octets": b"\xab", "colour": "blue"}))

    def row(**options: Any) -> Any:
        return pa.table(tercet.read(file, everything, "All", framing="plain", **options)).to_pylist()[0]

    found = row(integers="text", octets="hex", numbers=True)
    assert (found["number"], found["octets"], found["colour"]) == (str(2**80), "ab", 2)
    found = row(integers="decimal")
    assert (found["number"], found["octets"], found["colour"]) == (2**80, b"\xab", "blue")
    assert row()["number"] == str(2**80)
    with pytest.raises(pa.ArrowInvalid, match=r"too large for int64.*`integers=\"text\"`"):
        row(integers="int64")
    for name in ["integers", "octets"]:
        with pytest.raises(ValueError, match=f"{name}: unknown value `none`\nhelp: known"):
            row(**{name: "none"})


def test_faults_of_tables(demo: tercet.Schema, damaged: tuple[Path, list[int], list[bytes]], tmp_path: Path) -> None:
    file, places, left = damaged
    table = tercet.read(file, demo, "CallRecord")
    with pytest.raises(pa.ArrowInvalid, match=f"byte {places[0]}"):
        pa.table(table)
    with pytest.raises(tercet.RejectError):
        list(table.batches())
    table = tercet.read(file, demo, "CallRecord", max_rejects=None)
    assert pa.table(table).num_rows == len(left)
    assert table.report.rejects == len(places)
    missing = tercet.read([tmp_path / "none.ber"], demo, "CallRecord")
    with pytest.raises(FileNotFoundError, match=r"none\.ber"):
        list(missing.batches())
    with pytest.raises(OSError, match=r"none\.ber"):
        pa.table(missing)


def test_arguments_that_are_wrong(demo: tercet.Schema, calls: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no file matches"):
        tercet.read(str(tmp_path / "*.ber"), demo, "CallRecord")
    with pytest.raises(FileNotFoundError, match=r"none\.ber"):
        tercet.read(str(tmp_path / "none.ber"), demo, "CallRecord")
    with pytest.raises(tercet.SchemaError, match="CallRecrd"):
        tercet.read(calls, demo, "CallRecrd")
    with pytest.raises(tercet.SchemaError, match="not a SEQUENCE OF"):
        tercet.read(calls, demo, "CallRecord", records="CallRecord.sms")
    for options, message in [
        ({"max_reject": 1}, "unknown option `max_reject`; did you mean `max_rejects`?"),
        ({"max_rejects": "many"}, "max_rejects: a number or `none` expected, not `many`"),
        ({"by_type": "yes"}, "by_type: `true` or `false` expected, not `yes`"),
        ({"rules": "uprr"}, "rules: unknown value `uprr`; did you mean `uper`?"),
        ({"framing": "plian"}, "unknown framing `plian`; did you mean `plain`?"),
    ]:
        with pytest.raises(tercet.ArgumentError) as caught:
            tercet.read(calls, demo, "CallRecord", **options)  # type: ignore[arg-type]
        assert str(caught.value).startswith(message)
    with pytest.raises(TypeError, match="unknown option `deep`"):
        tercet.read(calls, demo, "CallRecord", deep=1)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="unknown framing"):
        tercet.read(calls, demo, "CallRecord", framing="none")
    for wrong in [5, [5], None]:
        with pytest.raises(TypeError):
            tercet.read(wrong, demo, "CallRecord")  # type: ignore[arg-type]
    file = tmp_path / "other.ber"
    file.write_bytes(b"\x31\x02\x05\x00" * 100)
    with pytest.raises(tercet.RejectError, match="no records found in 400 bytes; `tercet.doctor`"):
        list(tercet.iter_records(file, demo, "CallRecord", max_rejects=None))
    file.write_bytes(b"")
    with pytest.raises(tercet.RejectError, match=r"other\.ber: no records: 0 bytes"):
        list(tercet.iter_records(file, demo, "CallRecord"))
    assert list(tercet.iter_records(file, demo, "CallRecord", allow_empty=True)) == []


@pytest.mark.parametrize(
    ("data", "option"),
    [
        (lambda records: b"".join(b"\x11\xff\x01" + record for record in records), 'framing="skip:0:3:0"'),
        (
            lambda records: b"".join(record + b"\x11\x11" for record in records),
            'framing="plain", filler=bytes.fromhex("00FF11")',
        ),
    ],
)
def test_a_guessed_framing_is_a_warning(
    data: Callable[[list[bytes]], bytes], option: str, demo: tercet.Schema, records: list[bytes], tmp_path: Path
) -> None:
    file = tmp_path / "headers.ber"
    file.write_bytes(data(records))
    text = re.escape(f"{file}: the framing found by trial skips bytes that nothing confirms") + ".*" + re.escape(option)
    with pytest.warns(UserWarning, match=text):
        assert len(list(tercet.iter_records(file, demo, "CallRecord"))) == COUNT
    with pytest.warns(UserWarning, match=text):
        assert pa.table(tercet.read(file, demo, "CallRecord")).num_rows == COUNT
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match=text):
            list(tercet.iter_records(file, demo, "CallRecord"))
        with pytest.raises(Exception, match="nothing confirms"):
            pa.table(tercet.read(file, demo, "CallRecord"))
        # What is given is no guess.
        given = eval(f"dict({option})")
        assert len(list(tercet.iter_records(file, demo, "CallRecord", **given))) == COUNT


def test_framings(demo: tercet.Schema, records: list[bytes], tmp_path: Path) -> None:
    file = tmp_path / "framed.ber"
    file.write_bytes(b"".join(len(record).to_bytes(2, "big") + record for record in records))
    reading = tercet.iter_records(file, demo, "CallRecord", render="none")
    assert [found.value for found in reading] == values(demo, records)
    assert reading.report.framings == {str(file): "u16be"}
    assert reading.report.balance.headers == 2 * COUNT
    assert sum(1 for _ in tercet.iter_records(file, demo, "CallRecord", framing="u16be")) == COUNT
    with pytest.raises(tercet.RejectError):
        list(tercet.iter_records(file, demo, "CallRecord", framing="plain"))
    assert len(tercet.splits(file, demo, "CallRecord", size=10_000)) == 1
    # Records in other rules, which do not tell where they end.
    schema = demo.codec("CallRecord")
    for rules in ("uper", "aper", "xer"):
        coded = [demo.encode("CallRecord", rules, schema.decode(record)) for record in records]
        file.write_bytes(b"".join(len(record).to_bytes(4, "big") + record for record in coded))
        for framing in ("auto", "u32be"):
            reading = tercet.iter_records(file, demo, "CallRecord", rules=rules, framing=framing, render="none")
            assert [found.value for found in reading] == values(demo, records)
        table = pa.table(tercet.read(file, demo, "CallRecord", rules=rules, columns=["choice"]))
        assert table["choice"].to_pylist() == [value[0] for value in values(demo, records)]
    with pytest.raises(ValueError, match="records in these rules have no end mark"):
        tercet.iter_records(file, demo, "CallRecord", rules="uper", framing="plain")
    with pytest.raises(ValueError, match="unknown value `per`"):
        tercet.iter_records(file, demo, "CallRecord", rules="per")  # type: ignore[arg-type]


WRAPPED = """
Wrapped DEFINITIONS EXPLICIT TAGS ::= BEGIN
  Batch ::= [APPLICATION 1] IMPLICIT SEQUENCE {
    head [0] UTF8String, calls [1] SEQUENCE OF Call, tail [2] INTEGER OPTIONAL
  }
  Call ::= [APPLICATION 200] SEQUENCE { number INTEGER, text OCTET STRING }
END
"""


def element(tag: bytes, contents: bytes, indefinite: bool) -> bytes:
    if indefinite:
        return tag + b"\x80" + contents + b"\0\0"
    return tag + b"\x84" + len(contents).to_bytes(4, "big") + contents


def batches(indefinite: bool) -> bytes:
    schema = tercet.Schema.parse(WRAPPED)
    data = b""
    for part in range(3):
        calls = b"".join(
            schema.encode("Call", "ber", {"number": part * 1_000 + n, "text": bytes(n % 50)}) for n in range(1_000)
        )
        inner = element(b"\xa1", element(b"\x30", calls, indefinite), indefinite)
        data += element(b"\x61", bytes.fromhex("a0030c0141") + inner + bytes.fromhex("a203020105"), indefinite)
    return data


@pytest.mark.parametrize("size", [2_000, 40_000])
@pytest.mark.parametrize("indefinite", [False, True])
def test_splits_inside_of_lists(tmp_path: Path, indefinite: bool, size: int) -> None:
    file = tmp_path / "batches.ber"
    file.write_bytes(batches(indefinite))
    schema = tercet.Schema.parse(WRAPPED)

    def read(paths: Any) -> tercet.Table:
        return tercet.read(paths, schema, "Batch", records="Batch.calls", provenance=True, integers="int64")

    whole = pa.table(read(file))
    assert whole["number"].to_pylist() == list(range(3_000))
    splits = tercet.splits(file, schema, "Batch", records="Batch.calls", size=size)
    assert len(splits) > file.stat().st_size // max(size, 60) // 2
    for split in splits[:: max(1, len(splits) // 50)]:
        table = read(split)
        found = pa.table(table)
        rows = found["_record"].to_pylist()
        # Before the first record there is something else.
        assert rows or split.start == 0
        assert found == whole.slice(split.record, len(rows))
        assert table.report.balance.read == (split.end or file.stat().st_size) - split.start
    assert pa.table(read(splits)) == whole


@pytest.mark.parametrize("size", [1_000, 5_000, 100_000])
def test_splits_of_damaged_files(demo: tercet.Schema, damaged: tuple[Path, list[int], list[bytes]], size: int) -> None:
    file, places, _ = damaged

    def read(paths: Any) -> tercet.Table:
        return tercet.read(paths, demo, "CallRecord", provenance=True, max_rejects=None)

    whole = pa.table(read(file)).drop_columns("_record")
    splits = tercet.splits(file, demo, "CallRecord", size=size)
    assert [split.start for split in splits[1:]] == [split.end for split in splits[:-1]]
    assert (splits[0].start, splits[-1].end) == (0, None)
    table = read(splits)
    found = pa.table(table)
    assert found.drop_columns("_record") == whole
    numbers = found["_record"].to_pylist()
    assert len(set(numbers)) == len(numbers)
    assert table.report.rejects == len(places)
    assert table.report.balance == read_balance(read(file))


def test_splits_of_files_that_have_changed(demo: tercet.Schema, records: list[bytes], tmp_path: Path) -> None:
    file = tmp_path / "changing.ber"
    file.write_bytes(b"".join(records))
    splits = tercet.splits(file, demo, "CallRecord", size=20_000)
    file.write_bytes(b"".join(records[:100]))
    for split in splits[1:]:
        with pytest.raises(tercet.RejectError, match="the file ends at"):
            list(tercet.iter_records(split, demo, "CallRecord"))


def test_splits_by_an_index(demo: tercet.Schema, records: list[bytes], tmp_path: Path) -> None:
    file = tmp_path / "calls.ber"
    file.write_bytes(b"".join(records) * 30)
    index = tmp_path / ".calls.ber.splits"

    def cut(**more: Any) -> list[tercet.Split]:
        return tercet.splits(file, demo, "CallRecord", **{"size": 30_000, "index": True, **more})

    def made() -> int:
        return index.stat().st_mtime_ns

    whole = pa.table(tercet.read(file, demo, "CallRecord", provenance=True))
    plain = tercet.splits(file, demo, "CallRecord", size=30_000)
    assert not index.exists()
    assert cut() == plain
    first = made()
    # Nothing is read, whatever the size, unless it is too small for the index.
    assert cut() == plain
    larger = cut(size=100_000)
    assert 2 < len(larger) < len(plain) and {split.start for split in larger} < {split.start for split in plain}
    assert pa.table(tercet.read(larger, demo, "CallRecord", provenance=True)) == whole
    assert cut(size=10**9) == [tercet.Split(str(file))]
    assert made() == first
    assert cut(size=5_000) == tercet.splits(file, demo, "CallRecord", size=5_000)
    assert made() > first
    # Inputs are not looked for among indexes.
    assert {split.file for split in tercet.splits(tmp_path, demo, "CallRecord", size=30_000)} == {str(file)}
    # What has changed, and what is no index, is read again.
    second = made()
    assert cut(record_limit=1_000) and made() > second
    for text in ["", "[]", "{}", index.read_text()[:-20]]:
        index.write_text(text)
        assert cut() == plain
    file.write_bytes(b"".join(records) * 31)
    assert cut() == tercet.splits(file, demo, "CallRecord", size=30_000) != plain
    # Elsewhere than beside the file.
    folder = tmp_path / "indexes"
    index.unlink()
    assert cut(index=folder) == cut(index=str(folder)) == tercet.splits(file, demo, "CallRecord", size=30_000)
    assert len(list(folder.iterdir())) == 1 and not index.exists()


def read_balance(table: tercet.Table) -> tercet.Balance:
    for _ in table.batches():
        pass
    return table.report.balance


def test_splits_of_small_and_packed_files(demo: tercet.Schema, calls: Path, tmp_path: Path) -> None:
    packed = tmp_path / "calls.gz"
    packed.write_bytes(gzip.compress(calls.read_bytes()))
    assert tercet.splits(packed, demo, "CallRecord", size=1_000) == [tercet.Split(str(packed))]
    assert tercet.splits([calls, packed], demo, "CallRecord") == [tercet.Split(str(calls)), tercet.Split(str(packed))]


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="platform: no /proc")
def test_threads_stop_when_nobody_reads_on(demo: tercet.Schema, records: list[bytes], tmp_path: Path) -> None:
    file = tmp_path / "many.ber"
    file.write_bytes(b"".join(records) * 20)

    def iterate() -> None:
        next(tercet.iter_records(file, demo, "CallRecord"))

    def read() -> None:
        next(tercet.read(file, demo, "CallRecord", batch_rows=10).batches())

    def stream() -> None:
        pa.RecordBatchReader.from_stream(tercet.read(file, demo, "CallRecord", batch_rows=10)).read_next_batch()

    works: list[Callable[[], None]] = [iterate, read, stream]
    before = threads()
    for work in works:
        for _ in range(5):
            work()
        patience = time.monotonic() + 20
        while threads() > before and time.monotonic() < patience:
            time.sleep(0.01)
        assert threads() <= before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="platform: no pipes with names")
def test_other_threads_run_while_a_reader_waits(demo: tercet.Schema, records: list[bytes], tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = tercet.iter_records(pipe, demo, "CallRecord", framing="plain")

    def write() -> None:
        with open(pipe, "wb") as file:
            file.write(b"".join(records))

    # If the reader kept the interpreter this thread would never write.
    writer = threading.Thread(target=write)
    writer.start()
    assert sum(1 for _ in reading) == COUNT
    writer.join()


def test_one_iterator_and_many_threads(demo: tercet.Schema, calls: Path) -> None:
    reading = tercet.iter_records(calls, demo, "CallRecord")
    seen: list[int] = []

    def work() -> None:
        while True:
            try:
                record = next(reading, None)
            except RuntimeError:
                continue
            if record is None:
                return
            seen.append(record.index)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(seen) == list(range(COUNT))


def test_pandas(demo: tercet.Schema, calls: Path) -> None:
    pytest.importorskip("pandas")
    frame = pa.table(tercet.read(calls, demo, "CallRecord", columns=["choice"])).to_pandas()
    assert len(frame) == COUNT


def test_duckdb(demo: tercet.Schema, calls: Path, records: list[bytes]) -> None:
    duckdb = pytest.importorskip("duckdb")
    table = tercet.read(calls, demo, "CallRecord")
    connection = duckdb.connect()
    connection.register("calls", table)
    for _ in range(2):
        found = connection.sql("SELECT choice, count(*) FROM calls GROUP BY choice").fetchall()
        kinds = [kind for kind, _ in values(demo, records)]
        assert dict(found) == {kind: kinds.count(kind) for kind in set(kinds)}


def test_polars(demo: tercet.Schema, calls: Path, records: list[bytes]) -> None:
    pl = pytest.importorskip("polars")
    table = tercet.read(calls, demo, "CallRecord")
    frame = pl.DataFrame(table)
    assert frame.height == COUNT
    lazy = tercet.scan_polars(calls, demo, "CallRecord", provenance=True)
    assert lazy.collect_schema().names() == ["_file", "_record", "_offset", "_length", *table.schema.names]
    assert lazy.collect().drop("_file", "_record", "_offset", "_length").equals(frame)
    assert lazy.select(pl.len()).collect().item() == COUNT
    assert lazy.select("_record").collect()["_record"].to_list() == list(range(COUNT))
    expected = frame.filter(pl.col("choice") == "sms").select("sms")
    query = lazy.filter(pl.col("choice") == "sms").select("sms")
    assert query.collect().equals(expected)
    assert query.collect(engine="streaming").equals(expected)
    assert "PROJECT 2/" in query.explain()
    assert lazy.head(7).collect()["_record"].to_list() == list(range(7))
    assert lazy.head(1_500).filter(pl.col("choice") == "sms").collect().height == (
        frame.head(1_500).filter(pl.col("choice") == "sms").height
    )
    assert lazy.filter(pl.col("choice") == "sms").head(3).collect().height == 3


def test_polars_tells_of_rejects(demo: tercet.Schema, damaged: tuple[Path, list[int], list[bytes]]) -> None:
    pl = pytest.importorskip("polars")
    file, places, left = damaged
    with pytest.raises((tercet.RejectError, pl.exceptions.ComputeError), match=f"byte {places[0]}"):
        tercet.scan_polars(file, demo, "CallRecord").collect()
    assert tercet.scan_polars(file, demo, "CallRecord", max_rejects=None).collect().height == len(left)


def test_reals_beyond_float64_are_null_and_counted_or_text(tmp_path: Path) -> None:
    schema = tercet.Schema.parse(
        "R DEFINITIONS AUTOMATIC TAGS ::= BEGIN R ::= SEQUENCE { r REAL, l SEQUENCE OF REAL OPTIONAL } END"
    )
    big, small = tercet.Real(1, 2, 1_000_000), Decimal("1e-400")
    records: list[Any] = [{"r": big, "l": [1.5, float("inf"), tercet.Real(-1, 2, 1024), 0.0]}, {"r": small}, {"r": 0.5}]
    file = tmp_path / "r.ber"
    file.write_bytes(b"".join(schema.encode("R", "ber", record) for record in records))
    table = tercet.read(file, schema, "R")
    assert pa.table(table).to_pylist() == [
        {"r": None, "l": [1.5, float("inf"), None, 0.0]},
        {"r": None, "l": None},
        {"r": 0.5, "l": None},
    ]
    report = table.report
    assert report.marks == {"R.l[]": 1, "R.r": 2} and report.rejects == 0
    first = report.first_marks[0]
    assert (first.file, first.record, first.path, first.offset, first.kind) == (
        str(file),
        0,
        "R.r",
        0,
        "column-overflow",
    )
    assert first.octets == bytes.fromhex("820F424001") and first.length == 5
    table = tercet.read(file, schema, "R", reals="text")
    texts = pa.table(table).to_pylist()
    assert texts[0]["l"] == ["1.5", "INF", texts[0]["l"][2], "0"] and texts[1]["r"] == "1e-400", texts
    assert json.loads(texts[0]["r"]) == {"mantissa": 1, "base": 2, "exponent": 1_000_000}
    assert table.report.marks == {} and table.report.first_marks == []
    with pytest.raises(ValueError, match="reals: unknown value `none`\nhelp: known"):
        tercet.read(file, schema, "R", reals="none")  # type: ignore[arg-type]


def test_marked_values_are_listed(tmp_path: Path) -> None:
    schema = tercet.Schema.parse("M DEFINITIONS ::= BEGIN M ::= SEQUENCE { name IA5String, at UTCTime } END")
    record = bytes.fromhex("30 0D 16 04 43 61 66 E9 17 05 30 30 30 30 5A")
    file = tmp_path / "m.ber"
    file.write_bytes(record * 300)
    reading = tercet.iter_records(file, schema, "M")
    assert len(list(reading)) == 300
    report = reading.report
    assert report.marks == {"M.name": 300, "M.at": 300}
    assert len(report.first_marks) == 100
    name, at = report.first_marks[2:4]
    assert (name.record, name.path, name.offset, name.octets) == (1, "M.name", 19, b"Caf\xe9")
    assert (at.record, at.path, at.offset, at.octets, at.kind) == (1, "M.at", 25, b"0000Z", "utc-time-syntax")
    assert "X.680" in name.reason


def test_flat_tables_have_the_columns_of_csv(demo: tercet.Schema, calls: Path) -> None:
    table = tercet.read(calls, demo, "CallRecord", columns=["choice", "sms"], flat=True)
    assert "sms.recordNumber" in table.columns and "choice" in table.columns
    schema = pa.schema(table.schema)
    assert not any(pa.types.is_nested(field.type) for field in schema)
    nested = pa.table(tercet.read(calls, demo, "CallRecord", columns=["choice", "sms"])).to_pylist()
    rows = pa.table(table).to_pylist()
    assert [row["sms.recordNumber"] for row in rows] == [row["sms"] and row["sms"]["recordNumber"] for row in nested]
    held = tercet.read_tables(calls, demo, "CallRecord", by_type=True, flat=True)
    assert all(not pa.types.is_nested(field.type) for columns in held.schemas.values() for field in pa.schema(columns))
