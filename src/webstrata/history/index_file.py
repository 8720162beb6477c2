"""`IndexFile`: the copies that a CDX or CDXJ file lists. The form of each line is recognised by its content."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from webstrata.clock import iso
from webstrata.copy_rules import LeftOut
from webstrata.history.batch_rows import BATCH_ROWS, BatchRows
from webstrata.history.cdx import cdx_legend, guessed_row
from webstrata.history.cdxj import cdxj_row
from webstrata.history.import_key import archive_name, file_key
from webstrata.history.index_row import IndexRow, archived_copy
from webstrata.history.text_lines import FileLine, TextLines
from webstrata.records import ArchivedCopy, ReadBatch, SkipReason

_RECENT_PAGES = 64
"""Pages of which the last row is remembered: those of one key stand together in a sorted index."""
_BOM = "\ufeff"


class IndexPosition(Struct, kw_only=True):
    """Where an index was read to, with what the reading of the next line depends on."""

    offset: int = 0
    """In the uncompressed file."""
    line: int = 0
    legend: str = ""
    recent: dict[str, float] = {}
    """URL -> the time of its last row."""


class IndexFile:
    """A source of copies (`ports.CopySource`)."""

    def __init__(self, path: Path, *, archive: str = "", now: float) -> None:
        """`now`: later rows are of the future. Raises UsageError if the file cannot be read."""
        self._lines = TextLines(path)
        self._archive = archive or archive_name(path)
        self._now = now
        self._name = path.name
        self.key = file_key("cdx", path, self._lines.size, self._lines.beginning)

    async def batches(self, position: str = "") -> AsyncIterator[ReadBatch]:
        """Read on from a position."""
        reading = self._read(position)
        while (batch := await asyncio.to_thread(next, reading, None)) is not None:
            yield batch

    def _read(self, position: str) -> Iterator[ReadBatch]:
        at = msgspec.json.decode(position, type=IndexPosition) if position else IndexPosition()
        rows = IndexRows(self._archive, self._now, self._name, at)
        batch = BatchRows()
        for line in self._lines.read(at.offset, at.line):
            rows.add(line, batch)
            if batch.read >= BATCH_ROWS:
                yield batch.finished(rows.position, self._lines.done)
                batch = BatchRows()
        if batch.read:
            yield batch.finished(rows.position, 1.0)


class IndexRows:
    """Reads lines one after the other, and remembers what the next one depends on."""

    def __init__(self, archive: str, now: float, name: str, at: IndexPosition) -> None:
        self._archive = archive
        self._now = now
        self._name = name
        self._at = at
        self._format = cdx_legend(at.legend) if at.legend else None

    @property
    def position(self) -> str:
        """Where reading continues after the last line."""
        return msgspec.json.encode(self._at).decode()

    def add(self, line: FileLine, batch: BatchRows) -> None:
        """Add the copy of a line to the batch, or the reason why there is none. Empty lines and headers are no rows."""
        self._at.offset, self._at.line = line.end, line.number
        row = line.problem or self._parsed(line)
        if row is None:
            return
        where = f"{self._name}:{line.number}"
        if isinstance(row, str):
            batch.skip("malformed", where, row)
            return
        copy = archived_copy(row, self._archive, self._now)
        if isinstance(copy, LeftOut):
            batch.skip(copy.reason, where, copy.detail)
        elif (last := self._at.recent.get(copy.url)) is not None and last >= copy.at:
            reason: SkipReason = "duplicate" if last == copy.at else "out-of-order"
            batch.skip(reason, where, f"{copy.url} at {iso(copy.at)}")
        else:
            self._remember(copy)
            batch.keep(copy, where)

    def _remember(self, copy: ArchivedCopy) -> None:
        recent = self._at.recent
        recent.pop(copy.url, None)
        recent[copy.url] = copy.at
        if len(recent) > _RECENT_PAGES:
            del recent[next(iter(recent))]

    def _parsed(self, line: FileLine) -> IndexRow | str | None:
        """The row of a line; a sentence if it has none; None if it is not a row."""
        try:
            text = line.text.decode()
        except UnicodeDecodeError:
            return "not UTF-8"
        if line.number == 1:
            text = text.removeprefix(_BOM)
        if not text.strip() or text.startswith(("!", "@context")):
            return None
        if "\0" in text:
            return "it has NUL bytes"
        if text.endswith("}") and "{" in text:
            return cdxj_row(text)
        if text[1:4] == "CDX" and (legend := cdx_legend(text)) is not None:
            self._format, self._at.legend = legend, text
            return None
        return self._format.row(text) if self._format is not None else guessed_row(text)
