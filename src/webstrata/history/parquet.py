"""`ParquetCopies`: histories and copies in Parquet files.

A file of histories has one row for each page, with the columns `page`, `first`, `until` and `changes`, and may have
`corpus`. A file of copies has one row for each copy, with the columns `url`, `time` and `digest`, and may have
`archive` and `status`. Rows are decoded in small batches: memory does not grow with the file.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct

from webstrata.copy_rules import LeftOut, copy_at
from webstrata.errors import UsageError
from webstrata.history.batch_rows import BATCH_ROWS, BatchRows
from webstrata.history.import_key import archive_name, file_key
from webstrata.history.index_row import instant
from webstrata.history.observation_list import add_observations, page_url
from webstrata.records import ReadBatch

HISTORY_COLUMNS = ("page", "first", "until", "changes")
COPY_COLUMNS = ("url", "time", "digest")
_OPTIONAL = ("corpus", "archive", "status")
_DECODED_ROWS = 512
_MAX_CHANGES = 1_000_000
"""Of one page."""
_BEGINNING = 1 << 16
_ENDING = 1 << 12
_PLACE = re.compile(r"\{(page|corpus)\}")
_ERRORS = (pa.ArrowException, OSError, ValueError, TypeError, OverflowError, UnicodeError)


class ParquetPosition(Struct, kw_only=True):
    """The row group, and the number of its rows that were read."""

    group: int = 0
    row: int = 0


class ParquetCopies:
    """A source of copies (`ports.CopySource`)."""

    def __init__(self, path: Path, *, archive: str = "", template: str = "", now: float) -> None:
        """`template`: the URL of a page of a history, with `{page}` and `{corpus}`. Raises UsageError if the file is
        neither a table of histories nor of copies."""
        self._path = path
        self._archive = archive or archive_name(path)
        self._template = template
        self._now = now
        try:
            with path.open("rb") as file:
                beginning = file.read(_BEGINNING)
                size = file.seek(0, 2)
                file.seek(max(0, size - _ENDING))
                beginning += file.read(_ENDING)  # the directory of the file is at its end
            with pq.ParquetFile(path) as table:
                names = set(table.schema_arrow.names)
                self._group_rows = [table.metadata.row_group(n).num_rows for n in range(table.num_row_groups)]
        except _ERRORS as problem:
            raise UsageError(f"{path} cannot be read as Parquet: {problem}. Check the path, or get it again.") from None
        self._is_history = names.issuperset(HISTORY_COLUMNS)
        wanted = HISTORY_COLUMNS if self._is_history else COPY_COLUMNS
        if not names.issuperset(wanted):
            raise UsageError(
                f"{path} has the columns {', '.join(sorted(names))}. Histories need {', '.join(HISTORY_COLUMNS)}; "
                f"copies need {', '.join(COPY_COLUMNS)}."
            )
        if template and "{page}" not in template:
            raise UsageError(f"--url {template[:200]} has no {{page}}. Write it like https://example.org/{{page}}.")
        self._columns = [name for name in (*wanted, *_OPTIONAL) if name in names]
        self.key = file_key("parquet", path, size, beginning, *([template] if template else []))

    async def batches(self, position: str = "") -> AsyncIterator[ReadBatch]:
        """Read on from a position."""
        reading = self._read(position)
        while (batch := await asyncio.to_thread(next, reading, None)) is not None:
            yield batch

    def _read(self, position: str) -> Iterator[ReadBatch]:
        at = msgspec.json.decode(position, type=ParquetPosition) if position else ParquetPosition()
        total = max(1, sum(self._group_rows))
        batch = BatchRows()
        for group in range(at.group, len(self._group_rows)):
            before = sum(self._group_rows[:group])
            for number, row in self._rows(group, at.row if group == at.group else 0):
                where = f"{self._path.name}:{before + number}"
                if isinstance(row, str):
                    batch.skip("malformed", where, row)
                elif self._is_history:
                    self._add_history(row, batch, where)
                else:
                    self._add_copy(row, batch, where)
                if batch.read >= BATCH_ROWS:
                    yield batch.finished(_encoded(group, number), (before + number) / total)
                    batch = BatchRows()
        if batch.read:
            yield batch.finished(_encoded(len(self._group_rows), 0), 1.0)

    def _rows(self, group: int, start: int) -> Iterator[tuple[int, dict[str, Any] | str]]:
        """The rows of a row group after the first ones, by number from 1; a sentence where it cannot be read."""
        number = 0
        try:
            with pq.ParquetFile(self._path) as table:
                decoded = table.iter_batches(
                    _DECODED_ROWS, row_groups=[group], columns=self._columns, use_threads=False
                )
                for rows in decoded:
                    if number + rows.num_rows <= start:
                        number += rows.num_rows
                        continue
                    columns = {name: _values(rows.column(name)) for name in self._columns}
                    for index in range(rows.num_rows):
                        number += 1
                        if number > start:
                            yield number, {name: values[index] for name, values in columns.items()}
        except _ERRORS as problem:
            yield self._group_rows[group], f"the rest of row group {group + 1} cannot be read ({problem})"

    def _add_history(self, row: dict[str, Any], batch: BatchRows, where: str) -> None:
        """The copies of a page: at its first time, at each change, and at the end of its history."""
        page, first, until, changes = (row[name] for name in HISTORY_COLUMNS)
        if not isinstance(page, str) or not isinstance(changes, list) or len(changes) > _MAX_CHANGES:
            batch.skip("malformed", where, "page is no text, or changes is no list")
            return
        times = [_seconds(at) for at in (first, *changes, until)]
        known = [at for at in times if at is not None]
        if len(known) < len(times):
            batch.skip("invalid-date", where, f"{page}: a time is missing or is none")
            return
        address = self._address(page, row.get("corpus"))
        if (url := page_url(address)) is None:
            advice = "" if self._template else "; give --url, like https://example.org/{page}"
            batch.skip("invalid-url", where, f"{address}{advice}")
            return
        *seen, last = known
        observations = list(zip(seen, range(len(seen)), strict=True))
        if last != seen[-1]:
            observations.append((last, len(seen) - 1))
        add_observations(batch, url, observations, archive=self._archive, now=self._now, where=where)

    def _address(self, page: str, corpus: object) -> str:
        """The URL of a page."""
        if not self._template or page.startswith(("http://", "https://")):
            return page
        parts = {"page": page, "corpus": str(corpus or "")}
        return _PLACE.sub(lambda place: quote(parts[place[1]], safe="/:@!$&'()*+,;=~-._"), self._template)

    def _add_copy(self, row: dict[str, Any], batch: BatchRows, where: str) -> None:
        url, digest, status = row["url"], row["digest"], row.get("status")
        if not isinstance(url, str) or not isinstance(digest, str | None) or not isinstance(status, int | str | None):
            batch.skip("malformed", where, "a column has another type")
            return
        copy = copy_at(
            url=url,
            at=_seconds(row["time"]),
            shown_time=str(row["time"]),
            status="" if status is None else str(status),
            digest=digest or "",
            archive=str(row.get("archive") or self._archive),
            now=self._now,
        )
        if isinstance(copy, LeftOut):
            batch.skip(copy.reason, where, copy.detail)
        else:
            batch.keep(copy, where)


def _encoded(group: int, row: int) -> str:
    return msgspec.json.encode(ParquetPosition(group=group, row=row)).decode()


def _values(column: Any) -> list[Any]:
    """The values of a column; times as numbers of seconds."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", tz=column.type.tz), safe=False).cast(pa.int64())
        return [None if one is None else one / 1e6 for one in column.to_pylist()]
    if pa.types.is_list(column.type) and pa.types.is_timestamp(column.type.value_type):
        kind = pa.timestamp("us", tz=column.type.value_type.tz)
        column = column.cast(pa.list_(kind), safe=False).cast(pa.list_(pa.int64()))
        return [None if one is None else [None if at is None else at / 1e6 for at in one] for one in column.to_pylist()]
    found: list[Any] = column.to_pylist()
    return found


def _seconds(value: object) -> float | None:
    """An instant as epoch seconds, or as the 14 digits of an index; None if it is none."""
    if isinstance(value, str):
        return instant(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e12:
        return float(value)
    return None
