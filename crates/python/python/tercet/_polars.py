"""Record files as a lazy frame of Polars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tercet._tercet import read

if TYPE_CHECKING:
    import polars
    from typing_extensions import Unpack

    from tercet._tercet import Input, ScanOptions, Specification

BATCH_ROWS = 65_536
PROVENANCE = ("_file", "_record", "_offset", "_length")


def scan_polars(
    paths: Input | Sequence[Input], schema: Specification, type: str, **options: Unpack[ScanOptions]
) -> polars.LazyFrame:
    """The records of BER files as a lazy frame: what a query does not need is not decoded, and what it does not want
    any more is not read. Takes the arguments of `read` but `columns`.

    Raises SchemaError, OSError; a query that runs raises RejectError.
    """
    import polars
    from polars.io.plugins import register_io_source

    arguments: dict[str, Any] = dict(options)
    rows = arguments.pop("batch_rows", BATCH_ROWS)
    whole = read(paths, schema, type, **arguments)
    # No component has a name that begins so: these columns tell where a row came from.
    own = [name for name in whole.schema.names if not name.startswith("_")]

    def batches(
        wanted: list[str] | None, predicate: polars.Expr | None, count: int | None, at_once: int | None
    ) -> Iterator[polars.DataFrame]:
        with_columns = dict(arguments)
        if wanted is not None:
            # No column at all would be all of them.
            with_columns["columns"] = [name for name in wanted if name in own] or own[:1]
            with_columns["provenance"] = any(name in PROVENANCE for name in wanted)
        size = min(n for n in (rows, at_once, count) if n is not None)
        for batch in read(paths, schema, type, batch_rows=size, **with_columns).batches():
            frame = polars.DataFrame(batch)
            if wanted:
                frame = frame.select(wanted)
            if count is not None:
                frame = frame.head(count)
                count -= frame.height
            yield frame if predicate is None else frame.filter(predicate)
            if count == 0:
                break

    return register_io_source(batches, schema=dict(polars.Schema(whole.schema)), is_pure=True, explain_name="tercet")
