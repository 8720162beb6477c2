from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from webstrata.observe.html.table_rows import table_rows, with_rows
from webstrata.observe.page import observe

TABLE = (
    "<table><thead><tr><th>Name<th>Rate &amp; year</tr></thead>"
    "<tr><td>Alpha</td><td></td><td>one<br>two</td></tr><tr><td>only one cell</td></tr></table>"
)


def _shown(html: str) -> list[str]:
    observed = observe(html.encode(), "text/html; charset=utf-8", "http://a.test/")
    return with_rows(observed.text or "", table_rows(html)).split("\n")


def test_cells_of_a_row_are_one_line() -> None:
    """Cells are joined, also empty ones and those of several lines; text outside the table keeps its lines."""
    assert _shown(f"<p>before</p>{TABLE}<p>after</p>") == [
        "before",
        "Name | Rate & year",
        "Alpha |  | one two",
        "only one cell",
        "after",
    ]


def test_tables_in_tables_are_layout() -> None:
    """A row that contains a table keeps its lines; the rows of the inner table are joined."""
    inner = "<table><tr><td>a</td><td>b</td></tr></table>"

    assert _shown(f"<table><tr><td>menu</td><td>{inner}</td><td>end</td></tr></table>") == ["menu", "a | b", "end"]


def test_long_cells_are_layout() -> None:
    """A row with a cell of many lines is a page layout, not data."""
    story = "".join(f"<p>paragraph {number}</p>" for number in range(6))

    assert _shown(f"<table><tr><td>menu</td><td>{story}</td></tr></table>")[:2] == ["menu", "paragraph 0"]


def test_comments_and_scripts_are_no_cells() -> None:
    """What is not shown to readers is no part of a row."""
    assert _shown("<table><tr><td>a<script>x</script></td><!-- <td>c</td> --><td>b</td></tr></table>") == ["a | b"]


def test_pages_without_a_tree() -> None:
    """Rows are found in tables with so many tags that no tree is built."""
    table = "".join(f"<tr><td>{number}</td><td>name {number}</td></tr>" for number in range(20_000))

    lines = _shown(f"<title>t</title><table>{table}</table>")

    assert lines[-1] == "19999 | name 19999"
    assert len(lines) < 20_005


@given(
    st.lists(st.sampled_from(["<table>", "</table>", "<tr>", "</tr>", "<td>", "<th x=1>", "</td>", "a", "b\n", "<"]))
)
def test_every_word_is_kept(pieces: list[str]) -> None:
    """Joining rows of any markup, well-formed or not, loses and adds no word."""
    html = "".join(pieces)
    observed = observe(html.encode(), "text/html; charset=utf-8", "http://a.test/")

    words = with_rows(observed.text or "", table_rows(html)).replace("|", " ").split()

    assert words == (observed.text or "").split()


def test_hostile_tables_take_bounded_time() -> None:
    """Rows that nearly match every line, unclosed tags and marks of the module itself are harmless."""
    started = time.monotonic()
    rows = "".join(f"<tr>{'<td>a' * length}<td>b</tr>" for length in range(290, 300))
    for html in (f"<table>{rows}</table>{'<p>a' * 100_000}", "<td " * 200_000, "<tr><td>\ue000\ue001" * 50_000):
        with_rows("a\n" * 100_000, table_rows(html))
    assert time.monotonic() - started < 100
