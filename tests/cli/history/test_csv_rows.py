"""CSV cells: what a spreadsheet would run is text."""

from __future__ import annotations

import csv
import io

import pytest

from webstrata.cli.history.csv_rows import csv_cell, csv_lines


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("a=1", "a=1"),
        ("", ""),
        (None, ""),
        (True, "true"),
        (-1.5, -1.5),
        (7, 7),
        ("a\nb\x1b[2J", "a\nb\N{REPLACEMENT CHARACTER}[2J"),
    ],
)
def test_cells(value: object, cell: object) -> None:
    """A text that begins like a formula gets an apostrophe; numbers stay numbers."""
    assert csv_cell(value) == cell


def test_rows_are_read_back() -> None:
    """Commas, quotes and line feeds are quoted; lines end with CR LF."""
    rows = [["a", "b"], ['say "x", then', "two\nlines"], ["\ud800", "é"]]
    text = csv_lines(rows).decode()
    assert text.startswith("a,b\r\n")
    assert list(csv.reader(io.StringIO(text, newline=""))) == [*rows[:2], ["\N{REPLACEMENT CHARACTER}", "é"]]
