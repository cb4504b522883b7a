"""Tables as those of other libraries, which are imported only where they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from tercet import _tercet
from tercet._errors import PackageError

if TYPE_CHECKING:
    import polars

Table: TypeAlias = "_tercet.Table | _tercet.HeldTable | _tercet.Capture"


def to_arrow(table: Table) -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise PackageError("this requires the package pyarrow: pip install pyarrow", name="pyarrow") from error
    if isinstance(table, _tercet.Capture):
        table = table.read()
    batches = [pyarrow.record_batch(batch) for batch in table.batches()]
    return pyarrow.Table.from_batches(batches, schema=pyarrow.schema(table.schema))


def to_pandas(table: Table) -> Any:
    try:
        import pandas  # noqa: F401
    except ImportError as error:
        raise PackageError("this requires the package pandas: pip install pandas", name="pandas") from error
    return to_arrow(table).to_pandas()


def to_polars(table: Table) -> polars.DataFrame:
    try:
        import polars
    except ImportError as error:
        raise PackageError("this requires the package polars: pip install polars", name="polars") from error
    # Rows in memory do not keep the interpreter waiting for files.
    return polars.DataFrame(table if isinstance(table, _tercet.HeldTable) else table.read())
