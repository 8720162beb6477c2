from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.detect.diff.json import JsonEdit, json_difference

CASES: list[tuple[Any, Any, list[tuple[str, str]]]] = [
    ({"a": 1}, {"a": 2}, [("$.a", "changed")]),
    ({"a": 1}, {}, [("$.a", "removed")]),
    ({}, {"a b": 1}, [('$["a b"]', "added")]),
    ([1, 2, 3], [1, 3], [("$[1]", "removed")]),
    ([1, 3], [1, 2, 3], [("$[1]", "added")]),
    ([{"id": 1, "v": 1}], [{"id": 1, "v": 2}], [("$[0].v", "changed")]),
    ({"a": [1]}, {"a": {"0": 1}}, [("$.a", "changed")]),
    (1, "1", [("$", "changed")]),
    (True, 1, [("$", "changed")]),
    (None, None, []),
]


@pytest.mark.parametrize(("before", "after", "expected"), CASES)
def test_differences_have_paths(before: Any, after: Any, expected: list[tuple[str, str]]) -> None:
    """Each value that was added, removed or changed is given with its path."""
    assert [(edit.path, edit.change) for edit in json_difference(before, after)] == expected


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


@given(values, values)
def test_no_edit_means_equal(before: Any, after: Any) -> None:
    """There are no edits exactly if both values are equal; the order of members does not matter."""
    same = json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)

    assert (json_difference(before, after) == []) == same


def test_very_deep_values_are_compared_as_a_whole() -> None:
    """Values below the depth limit are compared as a whole and give one edit."""
    before: Any = 1
    after: Any = 2
    for _ in range(400):
        before, after = [before], [after]
    (edit,) = json_difference(before, after)

    assert isinstance(edit, JsonEdit)
    assert edit.path == "$" + "[0]" * 200


def test_objects_are_matched_by_their_identifier() -> None:
    """Objects with an identifying member are compared with each other, also if others were removed before them."""
    before = [{"id": number, "rate": number} for number in range(6)]
    after = [{"id": number, "rate": number + (number in (3, 4))} for number in range(6) if number != 2]
    found = json_difference(before, [*after, {"id": 9, "rate": 9}])

    assert [(edit.path, edit.change, edit.before, edit.after) for edit in found] == [
        ("$[2]", "removed", {"id": 2, "rate": 2}, None),
        ("$[2].rate", "changed", 3, 4),
        ("$[3].rate", "changed", 4, 5),
        ("$[5]", "added", None, {"id": 9, "rate": 9}),
    ]


def test_an_order_that_changed_is_shown() -> None:
    """Objects in another order are a difference, although each has its counterpart."""
    before = [{"id": "a"}, {"id": "b"}, {"id": "c"}]

    assert json_difference(before, before[::-1])
