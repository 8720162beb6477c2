"""Writes tables to Parquet files in batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from webstrata.flows.exported_tables import TableColumn, values

_TYPES: dict[str, Any] = {
    "time": pa.timestamp("us", tz="UTC"),
    "text": pa.string(),
    "category": pa.dictionary(pa.int32(), pa.string()),
    "texts": pa.list_(pa.string()),
    "integer": pa.int64(),
    "number": pa.float64(),
    "flag": pa.bool_(),
}


class ParquetTable:
    """A Parquet file that is written row group by row group."""

    def __init__(self, file: BinaryIO, columns: Sequence[TableColumn], metadata: dict[str, str]) -> None:
        """`metadata` is stored in the file: which software made it, from what."""
        self._columns = columns
        self._schema = pa.schema([(column.name, _TYPES[column.kind]) for column in columns], metadata=metadata)
        self._writer = pq.ParquetWriter(file, self._schema, compression="zstd")

    def write(self, rows: Sequence[Any]) -> None:
        """Add a row group."""
        arrays = [_array(column, rows) for column in self._columns]
        self._writer.write_batch(pa.record_batch(arrays, schema=self._schema))

    def close(self) -> None:
        """Write the end of the file."""
        self._writer.close()


def _array(column: TableColumn, rows: Sequence[Any]) -> Any:
    found: list[Any] = values(column, rows)
    if column.kind == "time":
        found = [None if at is None else round(at * 1e6) for at in found]
    elif column.kind == "texts":
        found = [[_valid(text) for text in texts] for texts in found]
    elif column.kind in ("text", "category"):
        found = [None if text is None else _valid(text) for text in found]
    return pa.array(found, type=_TYPES[column.kind])


def _valid(text: str) -> str:
    """The text without unpaired surrogates, which UTF-8 cannot hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
