"""`GapsFile`: lists of `[gap in days, changed]` for each page, as research on crawl scheduling publishes them.

A line is a URL, a tab and a JSON list, or a JSON object with `url` and `observations`. A page with n gaps was looked at
n + 1 times, the last time at an instant that the caller gives.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from webstrata.clock import DAY_S, iso
from webstrata.history.batch_rows import BATCH_ROWS, BatchRows
from webstrata.history.import_key import archive_name, file_key
from webstrata.history.observation_list import add_observations, observed_versions, page_url
from webstrata.history.text_lines import FileLine, TextLines
from webstrata.records import ReadBatch

_LONGEST_GAP_DAYS = 36_525.0

_Pairs = list[tuple[float, bool | float]]


class GapsLine(Struct, frozen=True):
    """A line as a JSON object."""

    url: str
    observations: _Pairs


class GapsPosition(Struct, kw_only=True):
    """Where a list was read to, and the time of all last observations."""

    offset: int = 0
    line: int = 0
    until: float


_line = msgspec.json.Decoder(GapsLine)
_pairs = msgspec.json.Decoder(_Pairs)


class GapsFile:
    """A source of copies (`ports.CopySource`)."""

    def __init__(self, path: Path, *, archive: str = "", until: float | None = None, now: float) -> None:
        """`until`: the time of the last observation of each page; without it, `now`, also if the import goes on later.
        Raises UsageError if the file cannot be read."""
        self._lines = TextLines(path)
        self._archive = archive or archive_name(path)
        self._now = now
        self._until = now if until is None else until
        self._name = path.name
        options = [f"until {iso(until)}"] if until is not None else []
        self.key = file_key("gaps", path, self._lines.size, self._lines.beginning, *options)

    async def batches(self, position: str = "") -> AsyncIterator[ReadBatch]:
        """Read on from a position."""
        reading = self._read(position)
        while (batch := await asyncio.to_thread(next, reading, None)) is not None:
            yield batch

    def _read(self, position: str) -> Iterator[ReadBatch]:
        at = msgspec.json.decode(position, type=GapsPosition) if position else GapsPosition(until=self._until)
        batch = BatchRows()
        for line in self._lines.read(at.offset, at.line):
            self._add(line, at.until, batch)
            at.offset, at.line = line.end, line.number
            if batch.read >= BATCH_ROWS:
                yield batch.finished(msgspec.json.encode(at).decode(), self._lines.done)
                batch = BatchRows()
        if batch.read:
            yield batch.finished(msgspec.json.encode(at).decode(), 1.0)

    def _add(self, line: FileLine, until: float, batch: BatchRows) -> None:
        where = f"{self._name}:{line.number}"
        found = line.problem or gaps_of(line.text)
        if isinstance(found, str):
            batch.skip("malformed", where, found)
        elif found is not None:
            address, gaps = found
            if (url := page_url(address)) is None:
                batch.skip("invalid-url", where, address)
            else:
                observations = observed_versions(gaps, until)
                add_observations(batch, url, observations, archive=self._archive, now=self._now, where=where)


def gaps_of(line: bytes) -> tuple[str, list[tuple[float, bool]]] | str | None:
    """The URL of a line and its gaps in seconds; a sentence if it cannot be read; None for an empty line."""
    text = line.strip()
    if not text or text.startswith(b"#"):
        return None
    try:
        if text.startswith(b"{"):
            parsed = _line.decode(text)
            address, pairs = parsed.url, parsed.observations
        else:
            before, tab, after = text.partition(b"\t")
            if not tab:
                return "neither a URL, a tab and a list, nor a JSON object"
            address, pairs = before.decode(), _pairs.decode(after)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        return f"it cannot be read ({problem})"
    for number, (gap_days, changed) in enumerate(pairs, 1):
        if not (math.isfinite(gap_days) and 0 < gap_days <= _LONGEST_GAP_DAYS):
            return f"the gap {number} is not a number of days above 0"
        if changed not in (0, 1):
            return f"the observation {number} is neither true or false, nor 0 or 1"
    return address, [(gap_days * DAY_S, bool(changed)) for gap_days, changed in pairs]
