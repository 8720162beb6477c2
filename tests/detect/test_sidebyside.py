"""Line against line."""

from __future__ import annotations

from webstrata.detect.diff.html import LinePair, side_by_side


def test_replaced_lines_stand_beside_each_other() -> None:
    """Removed lines meet those that took their place; a line too many has an empty partner."""
    found = side_by_side("a\nb\nc", "a\nx\ny\nc")

    assert found[1:] == [
        LinePair("a", "a", differs=False),
        LinePair("b", "x", differs=True),
        LinePair(None, "y", differs=True),
        LinePair("c", "c", differs=False),
    ]
    assert found[0].heading


def test_equal_texts_have_no_pairs() -> None:
    """Where nothing differs there is nothing to show."""
    assert side_by_side("a\nb", "a\nb") == []
