"""How a table's text is cut into cells: the delimiter, found from the first rows in bounded time."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from io import StringIO

LARGEST_CELL = 4 * 1024 * 1024
"""Characters. The limit is the csv module's own and one for the whole process; its default (128 K) cuts geometries."""
csv.field_size_limit(LARGEST_CELL)

DELIMITERS = ",;\t|"
_SNIFFED = 65_536
_MOST_ROWS = 200


def rows_of(text: str, delimiter: str) -> Iterator[list[str]]:
    """Rows of cells, empty lines left out. Raises csv.Error for a cell beyond the limit."""
    return filter(None, csv.reader(StringIO(text, newline=""), delimiter=delimiter))


def delimiter_of(text: str, likely: str) -> str:
    """The delimiter that cuts the first rows most evenly; `likely` where none does, or others do no better."""
    start = text[:_SNIFFED]
    if len(text) > _SNIFFED:  # the last row of the sample is cut off
        start = start[: start.rfind("\n") + 1] or start
    order = likely + DELIMITERS.replace(likely, "")
    return max(order, key=lambda delimiter: _evenness(start, delimiter))


def _evenness(text: str, delimiter: str) -> tuple[float, bool]:
    """Share of rows with the commonest number of cells, where that is more than one."""
    widths: Counter[int] = Counter()
    try:
        for number, row in enumerate(rows_of(text, delimiter)):
            if number == _MOST_ROWS:
                break
            widths[len(row)] += 1
    except csv.Error:
        return 0.0, False
    if not widths:
        return 0.0, False
    width, rows = widths.most_common(1)[0]
    return (rows / widths.total(), True) if width > 1 else (0.0, False)
