"""Several tables of one reading: records, and the lists inside of them."""

import sys
from pathlib import Path
from typing import Any

import pytest

import tercet

pa = pytest.importorskip("pyarrow")

COUNT = 3_000


def test_tables_of_one_reading(demo: tercet.Schema, calls: Path) -> None:
    """Each of several tables is what a reading of its own gives, whatever the size of batches."""
    for batch_rows in (65_536, 100):
        wanted: dict[str, Any] = {"by_type": True, "children": "data.volumes", "batch_rows": batch_rows}
        tables = tercet.read_tables(calls, demo, "CallRecord", **wanted)
        assert tables.names == ["records", "moCall", "mtCall", "sms", "data", "data.volumes"]
        assert repr(tables) == "<tercet.Tables of 1 input: records, moCall, mtCall, sms, data, data.volumes>"
        held = tables.read()
        assert list(held) == list(tables.schemas) == tables.names
        batches: dict[str, list[Any]] = {name: [] for name in tables.names}
        for name, batch in tables.batches():
            # A record that begins in a batch ends in it.
            assert 0 < len(batch) < 2 * batch_rows
            batches[name].append(pa.record_batch(batch))
        for name, table in held.items():
            rows = pa.table(table)
            assert rows.schema == pa.schema(table.schema) == pa.schema(tables.schemas[name])
            assert len(table) == rows.num_rows > 0
            assert pa.Table.from_batches(batches[name]) == rows
            alone = {} if name == "records" else {"child": name}
            by_itself = pa.table(tercet.read(calls, demo, "CallRecord", **alone))  # type: ignore[arg-type]
            if name == "data.volumes":
                assert rows == by_itself
            elif name == "records":
                # In place of what has a table stands the number of its rows.
                kinds = by_itself["choice"].to_pylist()
                assert rows["choice"].to_pylist() == kinds
                assert rows["sms"].to_pylist() == [1 if kind == "sms" else None for kind in kinds]
            else:
                assert rows["_record"] == by_itself["_record"]
                assert rows["recordNumber"] == by_itself["recordNumber"]
        report = tables.report
        assert report.complete
        assert (report.records, report.rows) == (COUNT, COUNT)
        assert report.tables == {name: len(held[name]) for name in tables.names[1:]}


def test_columns_of_tables(demo: tercet.Schema, calls: Path) -> None:
    columns = ["data.recordNumber", "data.volumes", "data.volumes.uplink"]
    where = "data.duration >= 1000"
    assert tercet.read_tables(calls, demo, "CallRecord").names == ["records", "moCall.supplementary", "data.volumes"]
    told: dict[str, Any] = {"columns": columns, "where": where, "octets": "hex", "render": "auto"}
    tables = tercet.read_tables(calls, demo, "CallRecord", children="data.volumes", provenance=True, **told)
    assert {name: schema.names for name, schema in tables.schemas.items()} == {
        "records": ["_file", "_record", "_offset", "_length", "data"],
        "data.volumes": ["_file", "_record", "_volumes", "uplink"],
    }
    held = {name: pa.table(table) for name, table in tables.read().items()}
    counts = [row["volumes"] for row in held["records"]["data"].to_pylist()]
    assert sum(counts) == held["data.volumes"].num_rows > 0
    joined = held["records"].select(["_record"]).join(held["data.volumes"], "_record")
    assert joined.num_rows == sum(max(1, count) for count in counts)
    for wrong, message in [
        ({"children": "data.volume"}, "no component `volume`"),
        ({"children": False}, "`tercet.read` reads the records alone"),
        ({"children": []}, "`tercet.read` reads the records alone"),
        ({"columns": ["data.volumes.up"]}, "unknown column `up`"),
        ({"explode": "data.volumes"}, "`explode` and `child` are for one table"),
        ({"integers": "int"}, "integers"),
    ]:
        with pytest.raises(ValueError, match=message):
            tercet.read_tables(calls, demo, "CallRecord", **wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a path, paths or a bool"):
        tercet.read_tables(calls, demo, "CallRecord", children=5)  # type: ignore[arg-type]
    schema = tercet.Schema.parse("A DEFINITIONS ::= BEGIN T ::= SEQUENCE { records SEQUENCE OF INTEGER } END")
    with pytest.raises(ValueError, match="`records` is the name"):
        tercet.read_tables(calls, schema, "T")


def test_one_table_of_several(demo: tercet.Schema, calls: Path) -> None:
    """One of the tables is as it is among all of them."""
    for told in ({"by_type": True, "children": "data.volumes"}, {"children": True}):
        held = tercet.read_tables(calls, demo, "CallRecord", **told).read()
        for name, table in held.items():
            alone = tercet.read(calls, demo, "CallRecord", table=name, **told)
            assert pa.table(alone) == pa.table(table)
            assert alone.report.rows == len(table)
    first = tercet.read(calls, demo, "CallRecord", children=True, provenance=True)
    assert first.schema.names[:4] == ["_file", "_record", "_offset", "_length"]
    assert len(list(tercet.iter_records(calls, demo, "CallRecord", by_type=True, table="data"))) > 0
    for wrong, message in [
        ({"table": "data"}, "`table` requires `children` or `by_type`"),
        (
            {"by_type": True, "table": "dat"},
            "there is no table `dat`; there is `records`, `moCall`, `mtCall`, `sms`, `data`",
        ),
        ({"by_type": True, "child": "data"}, "`explode` and `child` are for one table"),
    ]:
        with pytest.raises(ValueError, match=message):
            tercet.read(calls, demo, "CallRecord", **wrong)  # type: ignore[arg-type]


def test_tables_show_themselves(demo: tercet.Schema, calls: Path, damaged: Any) -> None:
    table = tercet.read(calls, demo, "CallRecord", columns=["choice", "moCall.duration", "data.volumes"])
    assert table.columns == table.schema.names == ["choice", "moCall", "data"]
    assert len(table) == len(table.read()) == 3_000
    assert bool(tercet.read([], demo, "CallRecord", allow_empty=True))
    head = table.head(7)
    assert (type(head), len(head), head.columns) == (tercet.HeldTable, 7, table.columns)
    assert pa.table(head) == pa.table(table).slice(0, 7)
    assert (len(table.head()), len(table.head(0)), len(table.head(5_000)), len(head.head(3))) == (5, 0, 3_000, 3)
    # Only the begin of a file is read for it: what is wrong comes later.
    file, places, _ = damaged
    assert len(tercet.read(file, demo, "CallRecord").head(3)) == 3
    html = table._repr_html_()
    assert html.count("<tr>") == 11
    assert "<th>choice</th><th>moCall</th>" in html
    assert "<td>moCall</td>" in html
    assert "{duration: " in html
    assert "10 of 3000" not in html and "the first rows of 1 input" in html
    assert "the first 10 of 3000 rows" in table.read()._repr_html_()
    assert "3 rows" in head.head(3)._repr_html_()
    wrong = tercet.read(b"<wrong>" * 100, demo, "CallRecord")
    assert "<pre>" in wrong._repr_html_() and "<wrong" not in wrong._repr_html_()


def test_cells_of_html_are_text(tmp_path: Path) -> None:
    schema = tercet.Schema.parse("A DEFINITIONS ::= BEGIN T ::= SEQUENCE { a UTF8String, b OCTET STRING } END")
    data = schema.encode("T", "ber", {"a": '<script>&"' + "x" * 10_000, "b": b"\x00\xff"})
    html = tercet.read(data, schema, "T")._repr_html_()
    assert "&lt;script&gt;&amp;&quot;xxx" in html and "<script>" not in html
    assert "<td>00ff</td>" in html
    assert len(html) < 1_000


def test_tables_as_those_of_other_libraries(demo: tercet.Schema, calls: Path) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = tercet.read(calls, demo, "CallRecord", columns=["choice", "moCall.duration"])
    for rows in (table, table.read()):
        arrow = rows.to_arrow()
        assert arrow == pa.table(rows)
        assert rows.to_polars().equals(polars.DataFrame(rows))
        frame = rows.to_pandas()
        assert isinstance(frame, pandas.DataFrame)
        assert frame["choice"].tolist() == arrow["choice"].to_pylist()
    empty = tercet.read([], demo, "CallRecord", allow_empty=True)
    assert empty.to_arrow().schema == pa.schema(empty.schema)
    assert empty.to_polars().columns == empty.columns
    assert list(empty.to_pandas().columns) == empty.columns


def test_libraries_that_are_not_there_are_named(
    demo: tercet.Schema, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tercet.read(calls, demo, "CallRecord")
    for library, function in [("pyarrow", "to_arrow"), ("pandas", "to_pandas"), ("polars", "to_polars")]:
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(tercet.PackageError, match=f"requires the package {library}") as caught:
            getattr(table, function)()
        assert isinstance(caught.value, ImportError)
        assert caught.value.name == library
