"""Sets of links and triples."""

from __future__ import annotations

from webstrata.detect.diff.difference import set_difference


def test_what_came_and_went_is_in_order() -> None:
    """Added and removed members are sorted, each once."""
    found = set_difference(["b", "a", "a"], ["c", "b", "d", "c"])

    assert (found.added, found.removed) == (("c", "d"), ("a",))
    assert (found.added_count, found.removed_count) == (2, 1)


def test_very_many_are_counted_but_not_listed() -> None:
    """The list ends at ten thousand, the count does not."""
    found = set_difference([], map(str, range(25_000)))

    assert len(found.added) == 10_000
    assert found.added_count == 25_000
