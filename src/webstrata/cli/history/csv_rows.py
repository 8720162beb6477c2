"""CSV as RFC 4180 defines it, in UTF-8, with cells that no spreadsheet takes for a formula.

A text that begins with `=`, `+`, `-`, `@`, a tab or a carriage return gets an apostrophe in front, because spreadsheets
would run it as a formula. Numbers are written as they are. Texts of pages are made printable.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from webstrata.cli.output import printable

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_lines(rows: Iterable[Sequence[object]]) -> bytes:
    """These rows as lines that end with CR LF."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows([csv_cell(value) for value in row] for row in rows)
    return text.getvalue().encode("utf-8", "replace")


def csv_cell(value: object) -> object:
    """A value as it is written: empty if there is none, `true` and `false`, texts safe for spreadsheets."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return "" if value is None else value
    text = "\n".join(map(printable, value.split("\n")))
    return f"'{text}" if text.startswith(_FORMULA) else text
