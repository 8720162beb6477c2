"""Rows and cells."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webstrata.detect.diff.table import CellChange, TableDifference, table_difference

OLD = [("id", "name", "price"), ("1", "tea", "3"), ("2", "rice", "5"), ("3", "salt", "1")]


def test_cells_of_known_rows_are_compared() -> None:
    """A column that names its rows is the key: rows come and go by it, and cells change."""
    new = [("id", "name", "price"), ("2", "rice", "6"), ("3", "salt", "1"), ("4", "oil", "9")]

    found = table_difference(OLD, new)

    assert found.key == "id"
    assert found.rows_added == (("4", "oil", "9"),)
    assert found.rows_removed == (("1", "tea", "3"),)
    assert found.cells == (CellChange(key="2", column="price", before="5", after="6"),)


def test_columns_come_and_go() -> None:
    """A new column is named, and does not make every row a changed one."""
    new = [(*row, extra) for row, extra in zip(OLD, ("stock", "7", "8", "9"), strict=True)]

    found = table_difference(OLD, new)

    assert found.columns_added == ("stock",)
    assert (found.cells_count, found.rows_added_count, found.rows_removed_count) == (0, 0, 0)


def test_rows_without_a_name_are_compared_whole() -> None:
    """Where no column tells rows apart, whole rows come and go, as often as they stand there."""
    found = table_difference([("a", "b"), ("x", "1"), ("x", "1")], [("a", "b"), ("x", "1"), ("x", "2")])

    assert found.key is None
    assert (found.rows_added, found.rows_removed) == ((("x", "2"),), (("x", "1"),))


def test_order_alone_is_no_difference() -> None:
    """The same rows in another order, and the same columns in another order, are the same table."""
    shuffled = [(price, id_, name) for id_, name, price in (OLD[0], OLD[3], OLD[1], OLD[2])]

    assert table_difference(OLD, shuffled) == TableDifference(key="id")


def test_empty_tables_and_ragged_rows_are_taken() -> None:
    """Nothing, a heading alone, and rows that are too short or too long are no errors."""
    assert table_difference([], []) == TableDifference()
    assert table_difference([], OLD).rows_added_count == 3
    assert table_difference([("a", "b"), ("1",)], [("a", "b"), ("1", "2", "3")]).cells_count == 1


@given(st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), max_size=8))
def test_a_table_equals_itself(rows: list[tuple[str, str]]) -> None:
    """No table differs from itself, whatever its cells."""
    table = [("a", "b"), *rows]
    found = table_difference(table, table)

    assert found == TableDifference(key=found.key)
