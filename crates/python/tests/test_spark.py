"""The data source for Spark: on threads, and on executors of which one is killed.

Each session is a process of its own, as Spark's JVM stays with the process. `scripts/python spark` installs what this
takes.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tercet

pa = pytest.importorskip("pyarrow")
pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("pyspark") is None, reason="python: no pyspark: `scripts/python spark` has it"
    ),
    pytest.mark.skipif(shutil.which("java") is None, reason="java: no Java"),
]

SCHEMA = """
Calls DEFINITIONS IMPLICIT TAGS ::= BEGIN
  Call ::= CHOICE { voice [0] Voice, sms [1] Sms }
  Voice ::= SEQUENCE { number INTEGER, legs SEQUENCE OF Leg, note UTF8String }
  Leg ::= SEQUENCE { cell OCTET STRING, seconds INTEGER }
  Sms ::= SEQUENCE { number INTEGER, octets OCTET STRING }
END
"""
COUNT = 20_000

# What every session begins with; what a test says follows.
BEGIN = """
import json, os, pathlib, sys, time
import pyspark.sql.functions as f
from pyspark.sql import SparkSession
import tercet.spark

folder = pathlib.Path(sys.argv[1])
session = SparkSession.builder.master(MASTER).config("spark.ui.enabled", "false")
session = session.config("spark.sql.shuffle.partitions", "2").config("spark.driver.bindAddress", "127.0.0.1")
session = session.config("spark.driver.host", "127.0.0.1").config("spark.executor.memory", "1g")
# snappy-java takes a machine with musl's tools for one without glibc, and finds no library.
session = session.config("spark.sql.parquet.compression.codec", "uncompressed")
spark = session.getOrCreate()
spark.sparkContext.setLogLevel("OFF")
tercet.spark.register(spark)

def calls(name, **options):
    told = {"schema": str(folder / "calls.asn"), "type": "Call", "splitSize": "100000", "integers": "int64", **options}
    return spark.read.format("asn1").options(**told).load(",".join(str(folder / part) for part in name.split(",")))

found = {}
"""
END = """
print("FOUND " + json.dumps(found))
spark.stop()
"""


def run(folder: Path, master: str, script: str) -> dict[str, Any]:
    text = f"MASTER = {master!r}\n" + BEGIN + script + END
    own = str(Path(sys.executable).absolute())
    environment = {"PYSPARK_PYTHON": own, "PYSPARK_DRIVER_PYTHON": own, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [own, "-c", text, str(folder)], capture_output=True, text=True, timeout=300, env={**os.environ, **environment}
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("FOUND ")]
    assert done.returncode == 0 and lines, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(lines[0].removeprefix("FOUND "))
    return found


def call(number: int) -> tuple[str, dict[str, Any]]:
    if number % 4 == 0:
        return "sms", {"number": number, "octets": bytes(number % 7)}
    legs = [{"cell": bytes([number % 256, leg]), "seconds": leg * number} for leg in range(number % 3)]
    return "voice", {"number": number, "legs": legs, "note": "é" * (number % 5)}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spark")
    (folder / "calls.asn").write_text(SCHEMA)
    codec = tercet.Schema.parse(SCHEMA).codec("Call")
    records = [codec.encode(call(number)) for number in range(COUNT)]
    (folder / "one").mkdir()
    (folder / "one" / "calls.ber").write_bytes(b"".join(records))
    (folder / "many").mkdir()
    for part in range(20):
        (folder / "many" / f"{part:02}.ber").write_bytes(b"".join(records[part::20]))
    (folder / "extra").mkdir()
    (folder / "extra" / "calls.ber").write_bytes(b"".join(records[7::500]))
    (folder / "damaged").mkdir()
    for number in range(500, COUNT, 1_000):
        records[number] = records[number][:1] + bytes([3, 0x9F, 0x70, 0])
    (folder / "damaged" / "calls.ber").write_bytes(b"".join(records))
    return folder


def test_on_threads(folder: Path) -> None:
    (folder / "arriving").mkdir()
    found = run(
        folder,
        "local[2]",
        """
one = calls("one", provenance="true")
found["columns"] = one.columns
found["partitions"] = one.rdd.getNumPartitions()
number = f.coalesce("voice.number", "sms.number")
found["numbers"] = sorted(row[0] for row in one.select(number).collect())
found["records"] = [row[0] for row in one.orderBy("_offset").select("_record").collect()]
found["legs"] = one.select(f.explode("voice.legs").alias("leg")).agg(f.sum("leg.seconds")).collect()[0][0]
many = calls("many")
found["many"] = many.select(number).distinct().count()
found["small"] = many.rdd.getNumPartitions()
legs = calls("one", child="voice.legs")
found["child"] = [legs.columns, legs.count(), legs.agg(f.sum("seconds")).collect()[0][0]]
exploded = calls("one", explode="voice.legs").select("_legs").where("_legs = 1").count()
found["exploded"] = exploded
calls("one", index="true").count()
found["index"] = (folder / "one" / ".calls.ber.splits").exists()
found["indexed"] = calls("one", index="true").select(number).distinct().count()
chosen = calls("one", columns="choice, sms.number")
found["chosen"] = [chosen.columns, chosen.schema["sms"].dataType.fieldNames()]
given = spark.read.format("asn1").schema("choice string").options(schema=str(folder / "calls.asn"), type="Call")
kinds = given.load(str(folder / "one")).groupBy("choice").count().collect()
found["kinds"] = {row["choice"]: row["count"] for row in kinds}
try:
    calls("damaged").count()
except Exception as error:
    found["error"] = "RejectError" in str(error)
found["left"] = calls("damaged", **{"max-rejects": "none"}).count()
report = calls("damaged", output="report").collect()
found["report"] = [list(row)[1:] for row in report]
rejects = calls("damaged", output="rejects").collect()
found["rejects"] = [[row.offset, row.length, row.kind, bytes(row.raw).hex()] for row in rejects]
try:
    calls("one", collumns="choice")
except Exception as error:
    found["option"] = "unknown option `collumns`; did you mean `columns`?" in str(error)

# A directory that files arrive in, in two runs of one query.
import shutil
arriving = folder / "arriving"
for run in range(2):
    for part in range(run * 8, run * 8 + 10):
        if part < 18 and not (arriving / f"{part:02}.ber").exists():
            shutil.copy(folder / "many" / f"{part:02}.ber", arriving / f".{part:02}")
            os.rename(arriving / f".{part:02}", arriving / f"{part:02}.ber")
    told = {"schema": str(folder / "calls.asn"), "type": "Call", "integers": "int64", "maxFilesPerTrigger": "4"}
    stream = spark.readStream.format("asn1").options(**told).load(str(arriving)).select(number.alias("number"))
    query = stream.writeStream.format("parquet").option("checkpointLocation", str(folder / "checkpoint"))
    query = query.option("path", str(folder / "streamed")).start()
    query.processAllAvailable()
    found[f"batches{run}"] = len([it for it in query.recentProgress if it.numInputRows])
    query.stop()
found["streamed"] = sorted(row[0] for row in spark.read.parquet(str(folder / "streamed")).collect())
""",
    )
    size = (folder / "one" / "calls.ber").stat().st_size
    assert found["columns"] == ["_file", "_record", "_offset", "_length", "choice", "voice", "sms"]
    assert size // 100_100 <= found["partitions"] <= size // 100_000 + 1
    assert found["numbers"] == found["records"] == list(range(COUNT))
    legs = [leg["seconds"] for number in range(COUNT) for leg in call(number)[1].get("legs", [])]
    assert found["legs"] == sum(legs)
    seconds = [leg["seconds"] for kind, value in map(call, range(COUNT)) if kind == "voice" for leg in value["legs"]]
    assert found["child"] == [["_file", "_record", "_legs", "cell", "seconds"], len(seconds), sum(seconds)]
    assert found["exploded"] == sum(kind == "voice" and len(it["legs"]) > 1 for kind, it in map(call, range(COUNT)))
    assert found["index"] and found["indexed"] == COUNT
    assert found["many"] == COUNT
    assert found["small"] < 20
    assert found["chosen"] == [["choice", "sms"], ["number"]]
    assert found["kinds"] == {"sms": COUNT // 4, "voice": COUNT * 3 // 4}
    assert found["error"]
    assert found["option"]
    assert found["left"] == COUNT - 20
    report = found["report"]
    assert sum(row[2] for row in report) == COUNT - 20
    assert sum(row[3] for row in report) == 20
    assert sum(row[4] for row in report) == (folder / "damaged" / "calls.ber").stat().st_size
    assert all(row[4] == sum(row[5:]) for row in report)
    assert [reject[1:] for reject in found["rejects"]] == [[5, "unexpected-element", "a1039f7000"]] * 20
    assert len({reject[0] for reject in found["rejects"]}) == 20
    expected = sorted(number for part in range(18) for number in range(part, COUNT, 20))
    assert found["streamed"] == expected
    assert (found["batches0"], found["batches1"]) == (3, 2)


def test_columns_and_tables(folder: Path) -> None:
    found = run(
        folder,
        "local[2]",
        """
named = calls("one", rename="voice=call,voice.legs=parts")
found["named"] = [named.columns, named.schema["call"].dataType.fieldNames()]
some = spark.read.format("asn1").schema(named.select("call").schema)
some = some.options(schema=str(folder / "calls.asn"), type="Call", rename="voice=call,voice.legs=parts,sms=text")
found["renamed"] = some.load(str(folder / "one")).where("size(call.parts) = 2").count()
hashed = calls("one", provenance="sha256")
found["hashed"] = [hashed.columns[:5], hashed.select("_sha256").distinct().count()]
found["once"] = calls("many,extra", provenance="sha256").dropDuplicates(["_sha256"]).count()
tables = tercet.spark.tables(
    spark, str(folder / "one"), schema=str(folder / "calls.asn"), type="Call", children="voice.legs", by_type=True,
    splitSize="100000",
)
found["tables"] = {name: [table.columns, table.count()] for name, table in tables.items()}
joined = tables["records"].join(tables["voice"], ["_file", "_record"]).join(tables["voice.legs"], ["_file", "_record"])
found["joined"] = joined.agg(f.sum("seconds")).collect()[0][0]
found["first"] = calls("one", children="true", table="voice.legs").columns
found["share"] = calls("damaged", maxRejectRatio="0.01").count()
try:
    calls("damaged", maxErrorRatio="0.0001").count()
except Exception as error:
    found["too many"] = "more than max_reject_ratio=0.0001 allows" in str(error)
""",
    )
    seconds = [leg["seconds"] for kind, value in map(call, range(COUNT)) if kind == "voice" for leg in value["legs"]]
    assert found["share"] == COUNT - 20
    assert found["too many"]
    assert found["named"] == [["choice", "call", "sms"], ["number", "parts", "note"]]
    assert found["renamed"] == sum(kind == "voice" and len(it["legs"]) == 2 for kind, it in map(call, range(COUNT)))
    assert found["hashed"] == [["_file", "_record", "_offset", "_length", "_sha256"], COUNT]
    assert found["once"] == COUNT
    voices = [it for kind, it in map(call, range(COUNT)) if kind == "voice"]
    assert found["tables"] == {
        "records": [["_file", "_record", "choice", "voice", "sms"], COUNT],
        "voice": [["_file", "_record", "number", "legs", "note"], len(voices)],
        "voice.legs": [["_file", "_record", "_legs", "cell", "seconds"], len(seconds)],
        "sms": [["_file", "_record", "number", "octets"], COUNT // 4],
    }
    assert found["joined"] == sum(seconds)
    assert found["first"] == ["_file", "_record", "_legs", "cell", "seconds"]


def test_on_executors_of_which_one_is_killed(folder: Path) -> None:
    found = run(
        folder,
        "local-cluster[2,1,1024]",
        """
marker = folder / "killed"

def kill(batches):
    # The first task that comes here ends its executor: the parent of the daemon that forked this process.
    for batch in batches:
        try:
            marker.touch(exist_ok=False)
        except FileExistsError:
            yield batch
            continue
        stat = pathlib.Path(f"/proc/{os.getppid()}/stat").read_text()
        executor = int(stat.rsplit(")", 1)[1].split()[1])
        os.kill(executor, 9)
        time.sleep(60)

one = calls("one", provenance="true", batchRows="500").select("_record")
rows = one.mapInArrow(kill, one.schema)
rows.write.parquet(str(folder / "written"))
found["killed"] = marker.exists()
found["records"] = sorted(row[0] for row in spark.read.parquet(str(folder / "written")).collect())
found["partitions"] = one.rdd.getNumPartitions()
""",
    )
    assert found["killed"]
    assert found["partitions"] > 4
    assert found["records"] == list(range(COUNT))
