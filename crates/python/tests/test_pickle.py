"""Schemas, codecs, records and tables go to other processes: by paths and options."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import tercet

pa = pytest.importorskip("pyarrow")
ROOT = Path(__file__).resolve().parents[3]


def again(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def test_schemas_are_pickled(demo: tercet.Schema, everything: tercet.Schema) -> None:
    for schema in (again(demo), copy.copy(demo), copy.deepcopy(demo)):
        assert type(schema) is tercet.Schema
        assert schema.types == demo.types
    text = again(everything)
    assert text.encode("Tree", "ber", {"name": "x"}) == everything.encode("Tree", "ber", {"name": "x"})
    # With all options.
    wrong = "A DEFINITIONS IMPLICIT TAGS ::= BEGIN T ::= SEQUENCE { a [1] INTEGER } U ::= SEQUENCE { x Missing } END"
    schema = tercet.Schema.parse(wrong, name="some.asn", tags="explicit", aliases={"X": "Y"}, allow_errors=True)
    data = schema.encode("T", "ber", {"a": 1})
    assert data.hex() == "3005a103020101"
    back = again(schema)
    assert back.encode("T", "ber", {"a": 1}) == data
    assert back.diagnostics == schema.diagnostics
    assert back.diagnostics[0].file == "some.asn"


def test_codecs_are_pickled(demo: tercet.Schema, everything: tercet.Schema) -> None:
    codec = again(demo.codec("CallRecord", "uper"))
    data = demo.sample("CallRecord", rules="uper")[0]
    assert (codec.type, codec.rules) == ("CallRecord", "uper")
    assert codec.encode(codec.decode(data)) == data
    codec = again(everything.codec("All", times="datetime", oids="tuple", defaults=True))
    value = codec.decode(everything.encode("All", "ber", {"oid": "1.2.3"}))
    assert value == {"oid": (1, 2, 3), "level": 3}


def test_records_are_pickled(demo: tercet.Schema, calls: Path) -> None:
    for options in ({}, {"explode": "data.volumes"}):
        for record in islice(tercet.iter_records(calls, demo, "CallRecord", **options), 50):  # type: ignore[arg-type]
            back = again(record)
            assert type(back) is tercet.Record
            assert repr(back) == repr(record)
            assert (back.value, back.elements) == (record.value, record.elements)
    made = tercet.Record("value", "file", 1, 2, 3)
    assert (made.value, made.file, made.index, made.offset, made.length, made.elements) == (
        "value",
        "file",
        1,
        2,
        3,
        (),
    )


def test_tables_are_pickled(demo: tercet.Schema, calls: Path) -> None:
    options: dict[str, Any] = {"provenance": "sha256", "where": "choice = moCall", "octets": "hex", "batch_rows": 10}
    table = tercet.read(
        calls, demo, "CallRecord", columns=["choice", "moCall.*IMSI"], rename={"choice": "kind"}, **options
    )
    back = again(table)
    assert type(back) is tercet.Table
    assert pa.table(back) == pa.table(table)
    assert len(next(back.batches())) == 10
    by_path = again(tercet.read(str(calls), str(ROOT / "schemas" / "demo"), "CallRecord", render="none"))
    assert pa.table(by_path) == pa.table(tercet.read(calls, demo, "CallRecord", render="none"))
    tables = again(tercet.read_tables(calls, demo, "CallRecord", children="data.volumes", numbers=True))
    assert tables.names == ["records", "data.volumes"]
    inside = again(tercet.read(calls.read_bytes(), demo, "CallRecord"))
    assert inside.schema.names == tercet.read(calls, demo, "CallRecord").schema.names


def rows(table: tercet.Table) -> int:
    return len(table)


def test_tables_go_to_other_processes(demo: tercet.Schema, calls: Path) -> None:
    splits = tercet.splits(calls, demo, "CallRecord", size=100_000)
    tables = [tercet.read(split, demo, "CallRecord") for split in splits]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert sum(pool.map(rows, tables)) == len(tercet.read(calls, demo, "CallRecord")) > 0
