"""The difference of two tables: columns, rows, and the cells of rows that are identified by a key column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from msgspec import Struct

Row = tuple[str, ...]

_MAX_LISTED = 10_000
_MAX_CANDIDATES = 12
_SAMPLED_ROWS = 2_000
_IDENTIFYING = re.compile(r"(?:\b|_)(?:id|key|code|name|title|symbol|sku|slug|url|date)$", re.IGNORECASE)


class CellChange(Struct, frozen=True, kw_only=True):
    """A cell that differs."""

    key: str
    """The row's value in the key column."""
    column: str
    before: str
    after: str


class TableDifference(Struct, frozen=True, kw_only=True):
    """Rows are identified by `key`, a column whose values are unique; if there is none, by all their cells."""

    key: str | None = None
    columns_before: tuple[str, ...] = ()
    columns_after: tuple[str, ...] = ()
    """The names of all columns: of the removed rows, and of the added rows."""
    columns_added: tuple[str, ...] = ()
    columns_removed: tuple[str, ...] = ()
    rows_added: tuple[Row, ...] = ()
    rows_removed: tuple[Row, ...] = ()
    cells: tuple[CellChange, ...] = ()
    rows_added_count: int = 0
    rows_removed_count: int = 0
    cells_count: int = 0
    """The counts cover all; the tuples hold the first 10,000."""

    @property
    def empty(self) -> bool:
        counts = (self.rows_added_count, self.rows_removed_count, self.cells_count)
        return not (any(counts) or self.columns_added or self.columns_removed)


def table_difference(before: Sequence[Row], after: Sequence[Row]) -> TableDifference:
    """Compare two tables whose first row contains the column names."""
    if not before or not after:
        return TableDifference(
            columns_before=before[0] if before else (),
            columns_after=after[0] if after else (),
            columns_added=after[0] if after else (),
            columns_removed=before[0] if before else (),
            rows_added=tuple(after[1 : _MAX_LISTED + 1]),
            rows_removed=tuple(before[1 : _MAX_LISTED + 1]),
            rows_added_count=max(0, len(after) - 1),
            rows_removed_count=max(0, len(before) - 1),
        )
    old_names, new_names = before[0], after[0]
    shared = [name for name in old_names if name in set(new_names)]
    key = _key(before, after, shared)
    columns_added = tuple(name for name in new_names if name not in set(old_names))
    columns_removed = tuple(name for name in old_names if name not in set(new_names))
    if key is None:
        return _by_whole_rows(before, after, columns_added, columns_removed)
    return _by_key(before, after, key, shared, columns_added, columns_removed)


def _key(before: Sequence[Row], after: Sequence[Row], shared: Sequence[str]) -> str | None:
    """The column by which the fewest cells differ, of those with unique values of which half are in both tables.

    The address of an office is unique, too, but two people may exchange their offices: the number of a person is the
    better key. Of equally good columns, one whose name says that it identifies is chosen, or else the first.
    """
    candidates: list[str] = []
    for name in shared:
        old, new = _column(before, name), _column(after, name)
        if len(set(old)) == len(old) and len(set(new)) == len(new) and "" not in old and "" not in new:
            common = len(set(old) & set(new))
            if 2 * common >= min(len(old), len(new)):
                candidates.append(name)
                if len(candidates) == _MAX_CANDIDATES:
                    break
    if len(candidates) < 2:
        return candidates[0] if candidates else None
    costs = {name: _differing_cells(before, after, name, shared) for name in candidates}
    return min(candidates, key=lambda name: (costs[name], _IDENTIFYING.search(name) is None))


def _differing_cells(before: Sequence[Row], after: Sequence[Row], key: str, shared: Sequence[str]) -> float:
    """An estimate of the number of cells that differ if rows are identified by this column, from a part of the rows."""
    old = dict(zip(_column(before, key), before[1:], strict=True))
    pairs = [(old[name], row) for name, row in zip(_column(after, key), after[1:], strict=True) if name in old]
    unmatched = len(before) + len(after) - 2 - 2 * len(pairs)
    sample = pairs[:: len(pairs) // _SAMPLED_ROWS + 1]
    positions = [(before[0].index(name), after[0].index(name)) for name in shared]
    differing = sum(_cell(one, i) != _cell(other, j) for one, other in sample for i, j in positions)
    return unmatched * len(shared) + differing * len(pairs) / max(1, len(sample))


def _column(table: Sequence[Row], name: str) -> list[str]:
    index = table[0].index(name)
    return [_cell(row, index) for row in table[1:]]


def _by_key(
    before: Sequence[Row],
    after: Sequence[Row],
    key: str,
    shared: Sequence[str],
    columns_added: Row,
    columns_removed: Row,
) -> TableDifference:
    old = dict(zip(_column(before, key), before[1:], strict=True))
    new = dict(zip(_column(after, key), after[1:], strict=True))
    added = [row for name, row in new.items() if name not in old]
    removed = [row for name, row in old.items() if name not in new]
    positions = [(name, before[0].index(name), after[0].index(name)) for name in shared]
    cells: list[CellChange] = []
    count = 0
    for name, row in new.items():
        if name not in old:
            continue
        for column, i, j in positions:
            old_cell, new_cell = _cell(old[name], i), _cell(row, j)
            if old_cell != new_cell:
                count += 1
                if len(cells) < _MAX_LISTED:
                    cells.append(CellChange(key=name, column=column, before=old_cell, after=new_cell))
    return TableDifference(
        key=key,
        columns_before=before[0],
        columns_after=after[0],
        columns_added=columns_added,
        columns_removed=columns_removed,
        rows_added=tuple(added[:_MAX_LISTED]),
        rows_removed=tuple(removed[:_MAX_LISTED]),
        cells=tuple(cells),
        rows_added_count=len(added),
        rows_removed_count=len(removed),
        cells_count=count,
    )


def _cell(row: Row, index: int) -> str:
    return row[index] if index < len(row) else ""


def _by_whole_rows(
    before: Sequence[Row], after: Sequence[Row], columns_added: Row, columns_removed: Row
) -> TableDifference:
    old, new = Counter(before[1:]), Counter(after[1:])
    added, removed = new - old, old - new
    return TableDifference(
        columns_before=before[0],
        columns_after=after[0],
        columns_added=columns_added,
        columns_removed=columns_removed,
        rows_added=tuple(islice(added.elements(), _MAX_LISTED)),
        rows_removed=tuple(islice(removed.elements(), _MAX_LISTED)),
        rows_added_count=added.total(),
        rows_removed_count=removed.total(),
    )
