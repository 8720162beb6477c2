"""Change histories of real pages as ragged columns, read from Parquet files.

The columns of a file are `corpus`, `page`, `bucket`, `first`, `until` (instants) and `changes` (a list of epoch
seconds). Pages with the same `site` are siblings. Without that column, the site is the part of the page's name before
the first slash, or the corpus itself if all its pages belong to one site (`ONE_SITE`).

Changes are sorted, and equal times count once. A change that is not after `first` and up to `until`, an `until` before
`first`, or a missing value is an error that names the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.clock import DAY_S
from webstrata.errors import UsageError

Instants: TypeAlias = NDArray[np.float64]

ONE_SITE = frozenset({"registry", "wikipedia"})
"""Corpora whose pages all belong to one site."""

COLUMNS = ("corpus", "page", "bucket", "first", "until", "changes")

BUCKETS = ("7d>l>2d", "14d>l>7d", "1m>l>14d", "2m>l>1m", "4m>l>2m", "6m>l>4m", "l>6m")
"""Classes of the mean interval between changes, shortest first (a month is 30 days)."""
_BUCKET_EDGES = np.array([7.0, 14.0, 30.0, 60.0, 120.0, 180.0])


class Histories(Struct, frozen=True, kw_only=True):
    """Pages and their changes. The changes of page i are `changes[offsets[i]:offsets[i + 1]]`, ascending."""

    corpus: list[str]
    page: list[str]
    bucket: list[str]
    site: list[str]
    """Pages of one corpus with the same site are siblings."""
    first: Instants
    until: Instants
    offsets: NDArray[np.int64]
    changes: Instants

    def __len__(self) -> int:
        return len(self.page)

    def take(self, rows: NDArray[np.intp]) -> Histories:
        """The histories of some of the pages, in the given order."""
        parts = [self.changes[self.offsets[row] : self.offsets[row + 1]] for row in rows]
        return Histories(
            corpus=[self.corpus[row] for row in rows],
            page=[self.page[row] for row in rows],
            bucket=[self.bucket[row] for row in rows],
            site=[self.site[row] for row in rows],
            first=self.first[rows],
            until=self.until[rows],
            offsets=np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64),
            changes=np.concatenate(parts) if parts else np.empty(0),
        )


def read_histories(paths: Iterable[Path]) -> Histories:
    """All pages of these files and folders. Raises UsageError if there is no file or one cannot be read."""
    paths_of_files = [file for path in paths for file in _files(path)]
    if not paths_of_files:
        raise UsageError("no history file was named. Give Parquet files, or a folder that contains some.")
    return _joined([_read(file) for file in paths_of_files])


def shipped_histories() -> Histories:
    """The extract in the package (for sources and licences see README.md in the data folder)."""
    with as_file(files("webstrata.lab") / "data" / "histories") as folder:
        return read_histories([folder])


def make_histories(rows: Sequence[dict[str, Any]]) -> Histories:
    """Histories from rows with the columns of a file; `site` and `bucket` may be missing."""
    complete = [{"site": None, "bucket": None, **row} for row in rows]
    changes = [np.asarray(row["changes"], dtype=np.float64) for row in complete]
    return _checked(
        where="row",
        corpus=[row["corpus"] for row in complete],
        page=[row["page"] for row in complete],
        bucket=[row["bucket"] for row in complete],
        site=[row["site"] for row in complete],
        first=np.array([row["first"] for row in complete], dtype=np.float64),
        until=np.array([row["until"] for row in complete], dtype=np.float64),
        changes=changes,
    )


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(path.glob("*.parquet"))
    if not path.exists():
        raise UsageError(f"there is no history file {path}.")
    return [path]


def _read(file: Path) -> Histories:
    try:
        table = pq.read_table(file)
    except (pa.ArrowException, OSError) as problem:
        raise UsageError(f"{file} cannot be read as Parquet: {problem}.") from None
    missing = [name for name in COLUMNS if name not in table.column_names]
    if missing:
        raise UsageError(f"{file} is no history: it lacks the columns {', '.join(missing)}.")
    try:
        return _checked(
            where=str(file),
            corpus=table["corpus"].to_pylist(),
            page=table["page"].to_pylist(),
            bucket=table["bucket"].to_pylist(),
            site=table["site"].to_pylist() if "site" in table.column_names else [None] * table.num_rows,
            first=_seconds(table["first"]),
            until=_seconds(table["until"]),
            changes=[np.asarray(times, dtype=np.float64) for times in table["changes"].to_pylist()],
        )
    except (pa.ArrowException, TypeError, ValueError) as problem:
        raise UsageError(f"{file} is no history: {problem}.") from None


def _seconds(column: pa.ChunkedArray) -> Instants:
    """Instants as epoch seconds, NaN for missing values."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", tz=column.type.tz), safe=False).cast(pa.int64())
        return np.array([np.nan if one is None else one / 1e6 for one in column.to_pylist()], dtype=np.float64)
    return np.array([np.nan if one is None else one for one in column.to_pylist()], dtype=np.float64)


def _checked(
    *,
    where: str,
    corpus: list[str],
    page: list[str],
    bucket: list[str | None],
    site: list[str | None],
    first: Instants,
    until: Instants,
    changes: list[Instants],
) -> Histories:
    for row, name in enumerate(page):
        if not isinstance(name, str) or not isinstance(corpus[row], str):
            raise UsageError(f"{where}: row {row + 1} has no page or no corpus.")
        changes[row] = _times(f"{where}: page {name!r}", first[row], until[row], changes[row])
    buckets = _buckets(until - first, np.array([len(one) for one in changes], dtype=np.int64))
    return Histories(
        corpus=corpus,
        page=page,
        bucket=[given or computed for given, computed in zip(bucket, buckets, strict=True)],
        site=[given or _site(of, name) for given, of, name in zip(site, corpus, page, strict=True)],
        first=first,
        until=until,
        offsets=np.concatenate([[0], np.cumsum([len(one) for one in changes])]).astype(np.int64),
        changes=np.concatenate(changes) if changes else np.empty(0),
    )


def _times(where: str, first: float, until: float, changes: Instants) -> Instants:
    """The sorted changes of one page. Raises UsageError if they are invalid."""
    if not (np.isfinite(first) and np.isfinite(until)) or until < first or first < 0:
        raise UsageError(f"{where} needs `first` and a later `until`, both after 1970.")
    if changes.ndim != 1 or not np.isfinite(changes).all():
        raise UsageError(f"{where} has changes that are not instants.")
    if len(changes) and (changes.min() <= first or changes.max() > until):
        raise UsageError(f"{where} has changes that are not after `first` and up to `until`.")
    return np.unique(changes)


def _site(corpus: str, page: str) -> str:
    return corpus if corpus in ONE_SITE else page.partition("/")[0]


def _buckets(seconds: Instants, changes: NDArray[np.int64]) -> list[str]:
    """The class of the mean interval of each page; pages without a change are in the slowest class."""
    interval = np.where(changes > 0, seconds / DAY_S / np.maximum(changes, 1), np.inf)
    return [BUCKETS[index] for index in np.searchsorted(_BUCKET_EDGES, interval, side="left").tolist()]


def _joined(parts: Sequence[Histories]) -> Histories:
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    joined = Histories(
        corpus=[name for part in parts for name in part.corpus],
        page=[name for part in parts for name in part.page],
        bucket=[name for part in parts for name in part.bucket],
        site=[name for part in parts for name in part.site],
        first=np.concatenate([part.first for part in parts]),
        until=np.concatenate([part.until for part in parts]),
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        changes=np.concatenate([part.changes for part in parts]),
    )
    seen: set[tuple[str, str]] = set()
    for key in zip(joined.corpus, joined.page, strict=True):
        if key in seen:
            raise UsageError(f"page {key[1]!r} of {key[0]} is in the histories twice.")
        seen.add(key)
    return joined
