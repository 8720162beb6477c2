"""Observations in Parquet files: the columns as they are, for `estimate`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from webstrata.errors import UsageError

_BATCH = 50_000


def parquet_rows(file: Path, columns: tuple[str, ...]) -> Iterator[tuple[object, ...]]:
    """One tuple of plain values for each row; times of a time type as seconds since 1970."""
    try:
        with pq.ParquetFile(file) as table:
            missing = [name for name in columns if name not in table.schema_arrow.names]
            if missing:
                raise UsageError(f"{file} has no column {', '.join(missing)}: it needs {', '.join(columns)}.")
            for batch in table.iter_batches(_BATCH, columns=list(columns)):
                yield from zip(*(_plain(batch.column(name)) for name in columns), strict=True)
    except pa.ArrowException as problem:
        raise UsageError(f"{file} cannot be read as Parquet: {problem}.") from None


def _plain(column: pa.Array) -> list[object]:
    if pa.types.is_timestamp(column.type):
        return [None if at is None else at / 1e6 for at in column.cast(pa.timestamp("us")).cast(pa.int64()).to_pylist()]
    return list(column.to_pylist())
