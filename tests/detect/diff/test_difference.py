from __future__ import annotations

from webstrata.detect.diff.difference import Difference, ParsedVersion, difference, set_difference


def _compare(before: ParsedVersion, after: ParsedVersion) -> Difference:
    return difference(before, after, before_name="then", after_name="now")


def test_only_common_forms_are_compared() -> None:
    """A table and a text are compared as text only."""
    result = _compare(ParsedVersion(text="a", table=[("x",), ("1",)]), ParsedVersion(text="b"))

    assert result.table is None
    assert result.unified
    assert not result.empty


def test_equal_contents_are_empty() -> None:
    """No form of equal contents differs."""
    content = ParsedVersion(
        text="a", links=("http://a.test/",), triples=("t",), table=[("x",), ("1",)], document={"a": 1}
    )

    assert _compare(content, content).empty


def test_a_json_null_is_a_document() -> None:
    """Null is a value, not the absence of a document."""
    result = _compare(ParsedVersion(text="null", document=None), ParsedVersion(text="1", document=1))

    assert result.json is not None
    assert [edit.path for edit in result.json] == ["$"]


def test_members_are_sorted() -> None:
    """Added and removed members are sorted and listed once."""
    result = set_difference(["b", "a", "a"], ["c", "b", "d", "c"])

    assert (result.added, result.removed) == (("c", "d"), ("a",))
    assert (result.added_count, result.removed_count) == (2, 1)


def test_lists_are_limited() -> None:
    """The list ends at 10,000 members, the count does not."""
    result = set_difference([], map(str, range(25_000)))

    assert len(result.added) == 10_000
    assert result.added_count == 25_000
