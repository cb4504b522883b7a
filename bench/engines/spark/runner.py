"""A file of records to Parquet by Spark: runner.py TOOL WORKERS TYPE FILE OUT ROUNDS SPECIFICATION...

TOOL is `tercet` or `pyspark-asn1`: both have a data source `asn1`. Rounds come after one that is not counted, in which
the Java machine warms up; nothing but the job is timed. Times by the clock, the number of records, and the first values
are printed as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet
from pyspark.sql import DataFrame, SparkSession

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from python_read import row  # noqa: E402

#: Values that are shown.
SHOWN = 100


def main() -> None:
    tool, workers, name, source, out, rounds, *files = sys.argv[1:]
    # Workers are started by this name.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    # Each worker gets a few parts, however large the file.
    part = max(Path(source).stat().st_size // (4 * int(workers)), 1 << 16)
    frame = {"tercet": tercet, "pyspark-asn1": pyspark_asn1}[tool]
    session = SparkSession.builder.master(f"local[{workers}]").config("spark.ui.enabled", "false")
    session = session.config("spark.log.level", "ERROR").config("spark.sql.files.maxPartitionBytes", part)
    read = frame(session, name, source, files, part)
    taken = []
    for _ in range(int(rounds) + 1):
        start = time.perf_counter_ns()
        read.write.mode("overwrite").parquet(out)
        taken.append(time.perf_counter_ns() - start)
    written = pyarrow.parquet.read_table(out, use_threads=False)
    values = [row(value) for value in written.slice(0, SHOWN).to_pylist()]
    json.dump({"records": written.num_rows, "wall_ns": taken[1:], "values": values}, sys.stdout)


def tercet(session: Any, name: str, source: str, files: list[str], part: int) -> DataFrame:
    import tercet.spark

    spark = session.getOrCreate()
    tercet.spark.register(spark)
    options = {"schema": ",".join(files), "type": name, "render": "none", "splitSize": str(part)}
    return spark.read.format("asn1").options(**options).load(source)


def pyspark_asn1(session: Any, name: str, source: str, files: list[str], part: int) -> DataFrame:
    """With the index of records that its makers recommend for reading in parallel, made before anything is timed."""
    import pyspark_asn1

    spark = session.config("spark.jars", pyspark_asn1.jar_path()).getOrCreate()
    java = spark._jvm
    path = java.org.apache.hadoop.fs.Path(source)
    java.io.github.sparkasn1.spark.asn1.util.Asn1Indexer.buildIndex(path, spark._jsc.hadoopConfiguration())
    options = {"asn1.schema": ",".join(files), "asn1.type": name, "asn1.encoding": "ber"}
    return spark.read.format("asn1").options(**options).load(source)


if __name__ == "__main__":
    main()
