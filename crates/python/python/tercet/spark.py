"""Record files in Spark: the data source ``asn1`` for PySpark 4.

>>> import tercet.spark                                                     # doctest: +SKIP
>>> tercet.spark.register(spark)                                            # doctest: +SKIP
>>> spark.read.format("asn1").options(schema="specs", type="CallRecord").load("calls/")  # doctest: +SKIP

The driver cuts files into splits at record boundaries; every split is read by itself, whichever worker reads it, so
that a task may be done again. Files and specifications are read where the tasks run, by the same paths.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

import tercet
from tercet._tercet import expand, unknown

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

SPLIT = 64 << 20
"""Bytes of a split by default."""
CELLS = 1 << 24
"""Values of a batch: those that are absent take memory on their way to Spark, too."""
AGE = 7 * 24 * 3600
"""Seconds that a file may be older than the newest and still be found by a stream, by default."""

PROVENANCE = ("_file", "_record", "_offset", "_length", "_sha256")
REPORT = (
    "file string, start bigint, end bigint, records bigint, rejects bigint, octets bigint, record_octets bigint, "
    "filler_octets bigint, header_octets bigint, rejected_octets bigint"
)
REJECTS = "file string, offset bigint, length bigint, reason string, kind string, path string, raw binary"

# Options by their names in the package, and what their text says. They are found with or without capitals and hyphens.
FILE_OPTIONS: dict[str, Callable[[str], Any]] = {
    "records": str,
    "framing": str,
    "rules": str,
    "render": str,
    "where": str,
    "explode": str,
    "child": str,
    "children": lambda text: _flag(text) if text.lower() in ("true", "false") else _list(text),
    "by_type": lambda text: _flag(text),
    "table": str,
    "max_reject_ratio": float,
    "filler": bytes.fromhex,
    "record_limit": int,
    "max_depth": int,
    "unknown": str,
    "values": str,
    "defaults": lambda text: _flag(text),
    "constraints": lambda text: _flag(text),
    "open_types": lambda text: _flag(text),
}
TABLE_OPTIONS: dict[str, Callable[[str], Any]] = {
    "columns": lambda text: _list(text),
    "rename": lambda text: _pairs(text),
    "provenance": lambda text: text.lower() if text.lower() == "sha256" else _flag(text),
    "integers": str,
    "reals": str,
    "flat": lambda text: _flag(text),
    "octets": str,
    "numbers": lambda text: _flag(text),
    "batch_rows": int,
}
SCHEMA_OPTIONS: dict[str, Callable[[str], Any]] = {
    "strict": lambda text: _flag(text),
    "tags": str,
    "aliases": lambda text: _pairs(text),
}
OWN_OPTIONS = (
    "path",
    "schema",
    "type",
    "output",
    "max_rejects",
    "split_size",
    "index",
    "max_files_per_trigger",
    "max_file_age",
)
NAMES = {
    **{name.replace("_", ""): name for name in (*OWN_OPTIONS, *FILE_OPTIONS, *TABLE_OPTIONS, *SCHEMA_OPTIONS)},
    # The command says so.
    "alias": "aliases",
    # Names of earlier versions.
    "maxerrors": "max_rejects",
    "maxerrorratio": "max_reject_ratio",
    "depth": "max_depth",
}


def _spelled(name: str) -> str:
    """How messages and the documentation spell an option."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def register(spark: SparkSession) -> None:
    """Makes the format ``asn1`` known to a session."""
    spark.dataSource.register(Asn1DataSource)


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(f"`{text}` is neither `true` nor `false`")
    return text.lower() == "true"


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _pairs(text: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in _list(text)]
    if not all(name and other for name, _, other in pairs):
        raise ValueError(f"`{text}` is not a list of NAME=OTHER")
    return {name: other for name, _, other in pairs}


def _components(names: Sequence[str]) -> list[str]:
    """The columns that are components: others identify the record and element of a row."""
    return [name for name in names if not name.startswith("_")]


def _leaves(column: pa.DataType) -> int:
    """Columns of values within a column."""
    return sum(_leaves(column.field(index).type) for index in range(column.num_fields)) or 1


@lru_cache(maxsize=8)
def _schema(paths: tuple[str, ...], options: str) -> tercet.Schema:
    return tercet.Schema.load(list(paths), **json.loads(options))


class _Job:
    """The parsed options: they go to the workers, which read the specifications themselves."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.own: dict[str, str] = {}
        self.file: dict[str, Any] = {}
        self.table: dict[str, Any] = {}
        schema: dict[str, Any] = {}
        for name, text in options.items():
            key = NAMES.get(name.lower().replace("-", "").replace("_", ""))
            if key is None:
                known = [_spelled(known) for known in dict.fromkeys(NAMES.values())]
                raise ValueError(unknown("option", name, known))
            for options_of, target in (
                (FILE_OPTIONS, self.file),
                (TABLE_OPTIONS, self.table),
                (SCHEMA_OPTIONS, schema),
            ):
                if key in options_of:
                    target[key] = options_of[key](text)
                    break
            else:
                self.own[key] = text
        for needed in ("path", "schema", "type"):
            if needed not in self.own:
                raise ValueError(f"the data source asn1 needs the option `{needed}`")
        self.output = self.own.get("output", "records")
        if self.output not in ("records", "rejects", "report"):
            raise ValueError("output: `records`, `rejects` or `report` expected")
        everything = self.output != "records"
        if everything:
            self.file.pop("max_reject_ratio", None)
        limit = self.own.get("max_rejects", "none" if "max_reject_ratio" in self.file else "0")
        self.file["max_rejects"] = None if everything or limit.lower() == "none" else int(limit)
        # The columns are known without a file, and a batch of a stream may have none.
        self.file["allow_empty"] = True
        self.paths = _list(self.own["path"])
        self.type = self.own["type"]
        self.split_size = int(self.own.get("split_size", SPLIT))
        index = self.own.get("index", "false")
        self.index = _flag(index) if index.lower() in ("true", "false") else index
        self.specification = (tuple(_list(self.own["schema"])), json.dumps(schema))

    def table_of(self, paths: Sequence[str | tercet.Split], **more: Any) -> tercet.Table:
        return tercet.read(paths, _schema(*self.specification), self.type, **{**self.table, **self.file, **more})

    def several(self) -> dict[str, Any]:
        """The options of all tables that one of them is of."""
        return {name: value for name, value in self.file.items() if name != "table"}

    def schema(self) -> StructType | str:
        if self.output == "rejects":
            return REJECTS
        if self.output == "report":
            return REPORT
        schema: StructType = from_arrow_schema(pa.schema(self.table_of([]).schema))
        return schema

    def narrowed(self, schema: StructType) -> _Job:
        """A job for the columns that a reader was given."""
        if self.output == "records":
            own = _components(schema.names)
            if "columns" not in self.table and own != _components(self.table_of([]).schema.names):
                renamed = self.table.get("rename", {})
                paths = {name: path for path, name in renamed.items()}
                self.table["columns"] = read = [paths.get(name, name) for name in own]
                # What is not read needs no other name.
                self.table["rename"] = {path: renamed[path] for path in renamed if path.split(".")[0] in read}
            self.table["provenance"] = not set(schema.names).isdisjoint(PROVENANCE)
            if "_sha256" in schema.names:
                self.table["provenance"] = "sha256"
        return self

    def partitions(self, files: Sequence[str]) -> list[InputPartition]:
        """Splits of large files alone, small files together."""
        schema = _schema(*self.specification)
        splits = tercet.splits(files, schema, self.type, size=self.split_size, index=self.index, **self.file)
        found: list[InputPartition] = []
        group: list[tercet.Split] = []
        octets = 0
        for split in splits:
            if split.start == 0 and split.end is None:
                size = Path(split.file).stat().st_size
                if group and octets + size > self.split_size:
                    found.append(InputPartition(group))
                    group, octets = [], 0
                group.append(split)
                octets += size
            else:
                found.append(InputPartition([split]))
        if group:
            found.append(InputPartition(group))
        return found

    def read(self, splits: Sequence[tercet.Split], schema: StructType) -> Iterator[Any]:
        if self.output == "rejects":
            yield from self.rejects(splits)
        elif self.output == "report":
            for split in splits:
                yield self.report(split)
        else:
            target = to_arrow_schema(schema, timezone="UTC")
            rows = self.table.get("batch_rows") or max(1024, min(65_536, CELLS // sum(map(_leaves, target.types))))
            # A cast of columns that are as they should be would still look at all of them.
            for batch in map(pa.record_batch, self.table_of(splits, batch_rows=rows, item="element").batches()):
                yield batch if batch.schema == target else batch.select(target.names).cast(target)

    def rejects(self, splits: Sequence[tercet.Split]) -> Iterator[tuple[Any, ...]]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rejects"
            for _ in self.table_of(splits, rejects=file).batches():
                pass
            if not file.exists():
                return
            with file.open("rb") as octets, file.with_name("rejects.jsonl").open() as lines:
                for line in lines:
                    it = json.loads(line)
                    raw = octets.read(it["length"])
                    kind, path = it.get("code", "framing"), it.get("path", "")
                    yield (it["input"], it["offset"], it["length"], it["reason"], kind, path, raw)

    def report(self, split: tercet.Split) -> tuple[Any, ...]:
        table = self.table_of([split])
        for _ in table.batches():
            pass
        report = table.report
        return (split.file, split.start, split.end, report.records, report.rejects, *report.balance)


def tables(
    spark: SparkSession,
    path: str,
    *,
    schema: str,
    type: str,
    children: str | Sequence[str] | bool | None = None,
    by_type: bool = False,
    **options: str,
) -> dict[str, DataFrame]:
    """The tables of `tercet.read_tables` as data frames, by name: `records`, and the paths of lists and components.

    They join by `_file`, `_record` and the index in each list. Each of them reads the files by itself, when a query
    needs it. The other arguments are the options of the data source.
    """
    chosen = [children] if isinstance(children, str) else children
    if chosen is None:
        chosen = not by_type
    told = {**options, "path": path, "schema": schema, "type": type, "byType": str(by_type).lower()}
    told["children"] = str(chosen).lower() if isinstance(chosen, bool) else ",".join(chosen)
    job = _Job(told)
    found = tercet.read_tables([], _schema(*job.specification), type, **job.several())
    register(spark)
    return {name: spark.read.format("asn1").options(**told, table=name).load() for name in found.names}


class Asn1DataSource(DataSource):
    """The format ``asn1``."""

    @classmethod
    def name(cls) -> str:
        return "asn1"

    def schema(self) -> StructType | str:
        return _Job(self.options).schema()

    def reader(self, schema: StructType) -> DataSourceReader:
        return _Reader(_Job(self.options).narrowed(schema), schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return _StreamReader(_Job(self.options).narrowed(schema), schema)


class _Reader(DataSourceReader):
    def __init__(self, job: _Job, schema: StructType) -> None:
        self.job = job
        self.schema = schema

    def partitions(self) -> Sequence[InputPartition]:
        return self.job.partitions([file for path in self.job.paths for file in expand(path)])

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return self.job.read(partition.value, self.schema)


class _StreamReader(DataSourceStreamReader):
    """New files of directories and globs.

    An offset holds the files seen with the times of their last change, as far as these are not older by `maxFileAge`
    than the newest: older ones are not looked at. A file is to be there whole when it gets its name.
    """

    def __init__(self, job: _Job, schema: StructType) -> None:
        self.job = job
        self.schema = schema
        self.age = int(job.own.get("max_file_age", AGE)) * 1_000_000_000
        self.most = int(job.own["max_files_per_trigger"]) if "max_files_per_trigger" in job.own else None

    def initialOffset(self) -> dict[str, Any]:
        return {"seen": {}}

    def getDefaultReadLimit(self) -> Any:
        from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxFiles

        return ReadAllAvailable() if self.most is None else ReadMaxFiles(self.most)

    def latestOffset(self, start: dict[str, Any], limit: Any) -> dict[str, Any]:
        seen: dict[str, int] = start["seen"]
        oldest = max(seen.values(), default=self.age) - self.age
        found = []
        for path in self.job.paths:
            for file in _files(path):
                changed = Path(file).stat().st_mtime_ns
                if file not in seen and changed >= oldest:
                    found.append((changed, file))
        found.sort()
        new = dict((file, changed) for changed, file in found[: getattr(limit, "max_files", None)])
        oldest = max([*seen.values(), *new.values()], default=self.age) - self.age
        return {"seen": {**{file: changed for file, changed in seen.items() if changed >= oldest}, **new}}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        return self.job.partitions([file for file in end["seen"] if file not in start["seen"]])

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return self.job.read(partition.value, self.schema)


def _files(path: str) -> list[str]:
    try:
        return expand(path)
    except FileNotFoundError:
        # Nothing matches a glob yet.
        return []
