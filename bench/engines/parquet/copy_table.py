"""A Parquet file to another one of the same rows: copy_table.py TOOL IN OUT.

What a peer's time and size of the same table are, without the decoding of records, which none of them does.
"""

from __future__ import annotations

import sys


def main(tool: str, source: str, target: str) -> None:
    if tool == "duckdb":
        import duckdb

        database = duckdb.connect(config={"preserve_insertion_order": "true"})
        database.execute(f"COPY (FROM read_parquet('{source}')) TO '{target}' (FORMAT parquet, COMPRESSION zstd)")
    else:
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.parquet.read_table(source), target, compression="zstd")


if __name__ == "__main__":
    main(*sys.argv[1:])
