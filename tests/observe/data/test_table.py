"""Tables: equal tables, different tables, and limits."""

from __future__ import annotations

import csv
import io
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.observe.data.table import table_digest

CELLS = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=8)


def digest(text: str, *, unordered: bool = False, delimiter: str = ",") -> str | None:
    return table_digest(text.encode("utf-8"), None, unordered=unordered, delimiter=delimiter).digest


def written(rows: list[list[str]], **dialect: object) -> str:
    out = io.StringIO()
    csv.writer(out, **dialect).writerows(rows)  # type: ignore[arg-type]
    return out.getvalue()


TABLES = st.integers(2, 5).flatmap(
    lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=6)
)


@given(TABLES, st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]), st.sampled_from(["\n", "\r\n"]))
def test_quoting_and_line_ends_do_not_count(rows: list[list[str]], quoting: int, end: str) -> None:
    """Quoting and line ends do not change the digest."""
    assert digest(written(rows, quoting=csv.QUOTE_ALL)) == digest(written(rows, quoting=quoting, lineterminator=end))


@given(TABLES, st.randoms(use_true_random=False))
def test_unordered_rows(rows: list[list[str]], luck: random.Random) -> None:
    """With `unordered`, the order of rows below a header does not change the digest."""
    head = [f"column {number}" for number in range(len(rows[0]))]
    mixed = rows[:]
    luck.shuffle(mixed)
    assert digest(written([head, *rows], quoting=1), unordered=True) == digest(
        written([head, *mixed], quoting=1), unordered=True
    )


@given(TABLES, st.data())
def test_another_word_is_another_table(rows: list[list[str]], data: st.DataObject) -> None:
    """One changed cell changes the digest, in ordered and unordered tables."""
    row = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.integers(0, len(rows[0]) - 1))
    other = [list(each) for each in rows]
    other[row][column] += "x"
    for unordered in (False, True):
        assert digest(written(rows, quoting=1), unordered=unordered) != digest(
            written(other, quoting=1), unordered=unordered
        )


@given(st.binary(max_size=300))
def test_any_bytes(body: bytes) -> None:
    """Any bytes give a digest or a note."""
    data = table_digest(body, None)
    assert (data.digest is None) == (data.note is not None)


SAME = [
    ("id,v\n1,a\n2,b\n", "id,v\r\n1,a\r\n2,b"),
    ("id,v\n1,a\n2,b\n", "id;v\n1;a\n2;b\n"),
    ("id,v\n1,a\n2,b\n", "id\tv\n1\ta\n2\tb\n"),
    ("id,v\n1,a\n2,b\n", '"id", "v"\n"1","a"\n"2","b"\n'.replace(", ", ",")),
    ("id,v\n1,a\n2,b\n", "id,v\n2,b\n1,a\n"),
    ("id,v\n1,a\n2,b\n", "v,id\na,1\nb,2\n"),
    ("id,v\nx,1.0\ny,2.50\n", "id,v\nx,1\ny,+2.5\n"),
    ("id,t\nx,2026-01-01T00:00:00Z\n", "id,t\nx,2026-01-01 01:00:00+01:00\n"),
    ("id,v\n1,a\n2,b\n", "id,v\n1,a,\n2,b,,\n"),
    ("1,a\n2,b\n", "1,a,\n2,b\n"),
    ("sep=;\na;b\n1;2\n", "a,b\n1,2\n"),
    ("\ufeffa,b\n1,2\n", "a,b\n1,2\n"),
]
DIFFERENT = [
    ("id,v\n1,a\n2,b\n", "id,v\n1,a\n"),
    ("id,v\n1,a\n2,b\n", "id,w\n1,a\n2,b\n"),
    ("id,v\n1,a\n2,b\n", "id,v\n1,b\n2,a\n"),
    ("k,v\n1,a\n1,b\n", "k,v\n1,b\n1,a\n"),
    ("1,a\n2,b\n", "2,b\n1,a\n"),
    ("id,v\nx,007\n", "id,v\nx,7\n"),
    ("id,v\nx,1.10\ny,1.1.2\n", "id,v\nx,1.1\ny,1.1.2\n"),
    ('id,v\nx,"1,000"\n', "id,v\nx,1000\n"),
    ("id,t\nx,2026-01-01\n", "id,t\nx,2026-01-01T00:00:00Z\n"),
    ('a,b\n"x|y",z\n', 'a,b\nx,"y|z"\n'),
    ("a,b\n1,2\n", "a|b\n1,2\n"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_table(one: str, other: str) -> None:
    """Dialect, order of named columns and keyed rows, and notation of numbers and instants do not count."""
    assert digest(one) == digest(other) is not None


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_tables(one: str, other: str) -> None:
    """Cells, names and rows without keys count, and text that only looks like a number."""
    assert digest(one) != digest(other)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\n\n",
        b"a,b\0\n",
        b"," * 1_000_000,
        b"x" * 20_000_000,
        b'"' + b"x" * 5_000_000,
        b'a,b\n"' * 100_000,
        b"a,b\n1,2\n" * 100_000,
    ],
    ids=["empty", "blank", "nul", "columns", "line", "quote", "quotes", "rows"],
)
def test_hostile_tables_are_bounded(body: bytes) -> None:
    """Tables with millions of columns, long lines or many quotes are processed in seconds."""
    begun = time.process_time()
    data = table_digest(body, None)
    assert (data.digest is None) == (data.note is not None)
    assert time.process_time() - begun < 15.0


def test_ordered_rows() -> None:
    """The order of rows of a keyed table counts only with `ordered`."""
    one, other = b"name,points\nann,3\nbob,2\n", b"name,points\nbob,2\nann,3\n"
    for ordered in (False, True):
        digests = [table_digest(body, None, ordered=ordered).digest for body in (one, other)]
        assert (digests[0] == digests[1]) is not ordered
