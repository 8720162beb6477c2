"""The rows of the tables of a page, for texts that people read: the cells of a row in one line.

In the text layer each cell is a line of its own. `with_rows` finds the lines of a row in a text and joins them. Rows
are found by scanning the markup in one pass, also in pages for which no tree is built. Rows with long cells, and rows
that contain other tables, are layout and keep their lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from webstrata.observe.html.tree import plain_lines, without_invisible
from webstrata.observe.kernel.choice import KERNEL

SEPARATOR = " | "
_TAG = re.compile(r"<(/?)(table|tr|td|th)(?=[\s/>])[^<>]*>", re.IGNORECASE)
_END_OF_CELL = "\ue000"
_END_OF_ROW = "\ue001"
"""Characters for private use; they are removed from the page before they are used as marks."""
_MAX_CELL_LINES = 4
_MAX_ROW_CHARS = 1_000
_MAX_LENGTHS = 8
"""Rows that begin with the same line may have this many different numbers of lines."""


class RowLines(NamedTuple):
    """The lines of a row as they stand in the text, and the row as one line."""

    lines: tuple[str, ...]
    joined: str


def table_rows(html: str) -> list[RowLines]:
    """The rows of at least two cells of all tables that contain no tables."""
    rows = []
    for row in plain_lines(KERNEL.scan_text("".join(_marked(html)))).split(_END_OF_ROW):
        cells = [[line for line in cell.split("\n") if line] for cell in row.split(_END_OF_CELL)][:-1]
        lines = tuple(line for cell in cells for line in cell)
        joined = SEPARATOR.join(" ".join(cell) for cell in cells)
        is_data = all(len(cell) <= _MAX_CELL_LINES for cell in cells) and len(joined) <= _MAX_ROW_CHARS
        if len(cells) > 1 and lines and is_data:
            rows.append(RowLines(lines, joined))
    return rows


def _marked(html: str) -> Iterator[str]:
    """The markup of the cells, with a mark after each cell and each row, each in a line of its own."""
    markup = without_invisible(html).replace(_END_OF_CELL, "").replace(_END_OF_ROW, "")
    row: list[str] | None = None
    start: int | None = None
    for tag in _TAG.finditer(markup):
        is_end, name = bool(tag[1]), tag[2].lower()
        if row is not None and start is not None:
            row.append(f"{markup[start : tag.start()]}<p>{_END_OF_CELL}<p>")
        start = None
        if name in ("td", "th"):
            start = None if is_end else tag.end()
        elif name == "table" and not is_end:
            row = None  # the row around this table is layout
        else:
            if row:
                yield f"{''.join(row)}<p>{_END_OF_ROW}<p>"
            row = [] if name == "tr" and not is_end else None


def with_rows(text: str, rows: list[RowLines]) -> str:
    """The text with the lines of each row joined."""
    if not rows or not text:
        return text
    joined = {row.lines: row.joined for row in rows}
    lengths: dict[str, set[int]] = {}
    for row in rows:
        known = lengths.setdefault(row.lines[0], set())
        if len(known) < _MAX_LENGTHS:
            known.add(len(row.lines))
    lines, shown, index = text.split("\n"), [], 0
    while index < len(lines):
        for length in sorted(lengths.get(lines[index], ()), reverse=True):
            row_text = joined.get(tuple(lines[index : index + length]))
            if row_text is not None:
                shown.append(row_text)
                index += length
                break
        else:
            shown.append(lines[index])
            index += 1
    return "\n".join(shown)
