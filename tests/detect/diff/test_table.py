from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webstrata.detect.diff.table import CellChange, TableDifference, table_difference

OLD = [("id", "name", "price"), ("1", "tea", "3"), ("2", "rice", "5"), ("3", "salt", "1")]


def test_cells_of_identified_rows_are_compared() -> None:
    """A column with unique values is the key: rows are added and removed by it, and cells compared."""
    new = [("id", "name", "price"), ("2", "rice", "6"), ("3", "salt", "1"), ("4", "oil", "9")]

    result = table_difference(OLD, new)

    assert result.key == "id"
    assert result.rows_added == (("4", "oil", "9"),)
    assert result.rows_removed == (("1", "tea", "3"),)
    assert result.cells == (CellChange(key="2", column="price", before="5", after="6"),)


def test_an_added_column() -> None:
    """An added column is listed, and rows that differ only by it are not."""
    new = [(*row, extra) for row, extra in zip(OLD, ("stock", "7", "8", "9"), strict=True)]

    result = table_difference(OLD, new)

    assert result.columns_added == ("stock",)
    assert (result.cells_count, result.rows_added_count, result.rows_removed_count) == (0, 0, 0)


def test_rows_without_a_key_are_compared_as_a_whole() -> None:
    """If no column identifies rows, whole rows are added and removed, with their multiplicity."""
    result = table_difference([("a", "b"), ("x", "1"), ("x", "1")], [("a", "b"), ("x", "1"), ("x", "2")])

    assert result.key is None
    assert (result.rows_added, result.rows_removed) == ((("x", "2"),), (("x", "1"),))


def test_the_key_explains_most() -> None:
    """Of several columns with unique values, the key is the one by which the fewest cells differ."""
    people = [("office", "name", "number"), ("1", "Ann", "a"), ("2", "Bob", "b"), ("3", "Eve", "c"), ("4", "Zoe", "d")]
    moved = [("office", "name", "number"), ("2", "Ann", "a"), ("1", "Bob", "b"), ("3", "Eva", "c"), ("4", "Zoe", "d")]

    found = table_difference(people, moved)

    assert found.key == "number"
    assert [(cell.key, cell.column, cell.before, cell.after) for cell in found.cells] == [
        ("a", "office", "1", "2"),
        ("b", "office", "2", "1"),
        ("c", "name", "Eve", "Eva"),
    ]


def test_order_is_not_a_difference() -> None:
    """The same rows in another order, and the same columns in another order, are the same table."""
    shuffled = [(price, id_, name) for id_, name, price in (OLD[0], OLD[3], OLD[1], OLD[2])]

    result = table_difference(OLD, shuffled)
    assert result.empty
    assert result.key == "id"


def test_empty_tables_and_ragged_rows() -> None:
    """Empty tables, and rows that are too short or too long, are not errors."""
    assert table_difference([], []) == TableDifference()
    assert table_difference([], OLD).rows_added_count == 3
    assert table_difference([("a", "b"), ("1",)], [("a", "b"), ("1", "2", "3")]).cells_count == 1


@given(st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), max_size=8))
def test_a_table_equals_itself(rows: list[tuple[str, str]]) -> None:
    """No table differs from itself."""
    table = [("a", "b"), *rows]
    assert table_difference(table, table).empty
