from __future__ import annotations

from webstrata.detect.diff.difference import Difference, ParsedVersion, difference
from webstrata.detect.diff.html import LinePair, as_html, side_by_side


def _compare(before: ParsedVersion, after: ParsedVersion) -> Difference:
    return difference(before, after, before_name="then", after_name="now")


def test_replaced_lines_are_paired() -> None:
    """Removed lines are paired with the lines that replaced them; an extra line has no counterpart."""
    result = list(side_by_side("a\nb\nc", "a\nx\ny\nc"))

    assert result[1:] == [
        LinePair("a", "a", differs=False),
        LinePair("b", "x", differs=True),
        LinePair(None, "y", differs=True),
        LinePair("c", "c", differs=False),
    ]
    assert result[0].heading


def test_equal_texts_have_no_pairs() -> None:
    """Equal texts give an empty list."""
    assert list(side_by_side("a\nb", "a\nb")) == []


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&"


def test_the_page_escapes_everything() -> None:
    """Text, links, triples, cells and values of a hostile page are escaped."""
    before = ParsedVersion(text="a", links=(), triples=(), table=[("k", HOSTILE), ("1", "a")], document={"a": 1})
    after = ParsedVersion(
        text=HOSTILE,
        links=(HOSTILE,),
        triples=(HOSTILE,),
        table=[("k", HOSTILE), ("1", HOSTILE), (HOSTILE, HOSTILE)],
        document={HOSTILE: HOSTILE},
    )
    page = as_html(_compare(before, after), title=HOSTILE, before_name=HOSTILE, after_name=HOSTILE)

    assert "<script" not in page
    assert "<img" not in page
    assert page.count("&lt;script&gt;") > 8
    assert "default-src 'none'" in page


def test_the_page_marks_words() -> None:
    """In replaced lines the changed words are marked on both sides."""
    page = as_html(
        _compare(ParsedVersion(text="the old news"), ParsedVersion(text="the new news")),
        title="t",
        before_name="then",
        after_name="now",
    )

    assert "the <del>old</del> news" in page
    assert "the <ins>new</ins> news" in page


def test_an_empty_difference() -> None:
    """The page of an empty difference states that there is no difference."""
    same = _compare(ParsedVersion(text="a"), ParsedVersion(text="a"))
    page = as_html(same, title="t", before_name="b", after_name="a")

    assert "No difference." in page
