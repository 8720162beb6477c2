"""Reads files of observations (CSV, JSON lines, Parquet): one row per visit with page, time and whether it changed."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct

from webstrata.clock import DAY_S, iso, parse_instant
from webstrata.errors import UsageError

if TYPE_CHECKING:
    from webstrata.predict.visit_history import VisitHistory

COLUMNS = ("page", "time", "changed")
MAX_FILE = 500 * 10**6
MAX_CELL = 100_000
_DATES = (4, 8, 12, 14)
_WORDS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}

Row = tuple[int, object, object, object]
"""Line or row number, page, time, changed."""


class PageObservations(NamedTuple):
    """The visits of all pages of a file, in the order of their first rows, or of a store."""

    pages: list[str]
    visits: VisitHistory
    first_at: list[float]
    last_at: list[float]


class _Page(Struct):
    number: int
    times: list[float]
    changed: list[bool]


def read_observations(file: Path, now: float) -> PageObservations:
    """The visits of a file. Raises UsageError with the row and the reason if a row is invalid."""
    known: dict[str, _Page] = {}
    for line, name, at, changed in _rows(file):
        if not isinstance(name, str) or not name:
            raise UsageError(f"{file}, row {line}: no page. Every row needs one.")
        page = known.setdefault(name, _Page(len(known), [], []))
        instant = _instant(at, f"{file}, row {line}", now)
        if page.times and instant <= page.times[-1]:
            what = "twice at" if instant == page.times[-1] else "after a later time"
            raise UsageError(
                f"{file}, row {line}: {name} {what} {iso(instant)}. Sort the rows of each page by time, one row per visit."
            )
        flag = False if not page.times and changed in (None, "") else _flag(changed, f"{file}, row {line}")
        page.times.append(instant)
        page.changed.append(flag)
    if not known:
        raise UsageError(f"{file} contains no observations. Write one row per visit: {', '.join(COLUMNS)}.")
    return _observed(known)


def _observed(known: dict[str, _Page]) -> PageObservations:
    import numpy as np

    from webstrata.predict.visit_history import from_times

    rows = list(known.values())
    number = np.repeat([page.number for page in rows], [len(page.times) for page in rows])
    times = np.concatenate([np.array(page.times) for page in rows]) / DAY_S
    changed = np.concatenate([np.array(page.changed, dtype=bool) for page in rows])
    return PageObservations(
        pages=list(known),
        visits=from_times(number, times, changed, len(rows)),
        first_at=[page.times[0] for page in rows],
        last_at=[page.times[-1] for page in rows],
    )


def _rows(file: Path) -> Iterator[Row]:
    try:
        if file.stat().st_size > MAX_FILE:
            raise UsageError(f"{file} is larger than {MAX_FILE // 10**6} MB. Split it by page.")
        if file.suffix.lower() == ".parquet":
            yield from _parquet(file)
        elif file.suffix.lower() in (".jsonl", ".ndjson", ".json"):
            yield from _json_lines(file)
        else:
            yield from _csv(file)
    except OSError as problem:
        raise UsageError(f"cannot read {file}: {problem.strerror}. Check the path.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{file} is not text in UTF-8. Save it in this encoding.") from None


def _parquet(file: Path) -> Iterator[Row]:
    try:
        from webstrata.lab.policies.stored_histories import parquet_rows
    except ImportError:
        raise UsageError("Parquet needs `pip install webstrata[lab]`; CSV and JSON lines do not.") from None
    for number, (page, at, changed) in enumerate(parquet_rows(file, COLUMNS), 1):
        yield number, page, at, changed


def _json_lines(file: Path) -> Iterator[Row]:
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = msgspec.json.decode(line)
            except (msgspec.DecodeError, RecursionError) as problem:
                raise UsageError(f"{file}, row {number}: not JSON ({problem}). Write one object per line.") from None
            if not isinstance(row, dict) or not {"page", "time"} <= row.keys():
                raise UsageError(f"{file}, row {number}: an object with {', '.join(COLUMNS)} is needed.")
            yield number, row["page"], row["time"], row.get("changed")


def _csv(file: Path) -> Iterator[Row]:
    csv.field_size_limit(MAX_CELL)
    with file.open(encoding="utf-8-sig", newline="") as lines:
        reader = csv.DictReader(lines)
        try:
            missing = [name for name in COLUMNS if name not in (reader.fieldnames or COLUMNS)]
            if missing:
                raise UsageError(f"{file}: the first line lacks {', '.join(missing)}; it names the columns.")
            for row in reader:
                yield reader.line_num, row["page"], row["time"], row["changed"]
        except csv.Error as problem:
            raise UsageError(f"{file}, row {reader.line_num}: not CSV ({problem}).") from None


def _instant(value: object, where: str, now: float) -> float:
    """Seconds since 1970 from a number or a text."""
    if isinstance(value, str):
        at = _parsed(value.strip(), where)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        at = float(value)
    else:
        raise UsageError(f"{where}: no time. Write 2026-11-15T08:30:00Z or seconds since 1970.")
    if not math.isfinite(at) or at < 0:
        raise UsageError(f"{where}: {value} is not a time: it must be a number, and not before 1970.")
    if at > now:
        raise UsageError(
            f"{where}: {iso(at) if at < 2e11 else value} is in the future. Only past visits count (`--now` sets the present time)."
        )
    return at


def _parsed(text: str, where: str) -> float:
    """4, 8, 12 or 14 digits are a year, day, minute or second; other numbers are seconds since 1970."""
    if not (text.isdigit() and len(text) in _DATES):
        try:
            return float(text)
        except ValueError:
            pass
    try:
        return parse_instant(text)
    except UsageError as problem:
        raise UsageError(f"{where}: {problem}") from None


def _flag(value: object, where: str) -> bool:
    if isinstance(value, str) and value.strip().lower() in _WORDS:
        return _WORDS[value.strip().lower()]
    if isinstance(value, bool | int | float) and value in (0, 1):
        return bool(value)
    raise UsageError(f"{where}: changed is {value!r}. Write true or false, 1 or 0.")
