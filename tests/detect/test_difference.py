"""All ways to read a difference, and the page that shows them."""

from __future__ import annotations

from webstrata.detect.diff.difference import Difference, ParsedVersion, difference
from webstrata.detect.diff.html import as_html


def _compare(before: ParsedVersion, after: ParsedVersion) -> Difference:
    return difference(before, after, before_name="then", after_name="now")


def test_only_what_both_can_be_read_as_is_compared() -> None:
    """A table against a text is compared as text alone."""
    found = _compare(ParsedVersion(text="a", table=[("x",), ("1",)]), ParsedVersion(text="b"))

    assert found.table is None
    assert found.unified
    assert not found.empty


def test_equal_contents_are_empty() -> None:
    """No way of reading finds a difference in the same content."""
    content = ParsedVersion(
        text="a", links=("http://a.test/",), triples=("t",), table=[("x",), ("1",)], document={"a": 1}
    )

    assert _compare(content, content).empty


def test_a_json_null_is_a_document() -> None:
    """Null is a value like others, not the absence of one."""
    found = _compare(ParsedVersion(text="null", document=None), ParsedVersion(text="1", document=1))

    assert found.json is not None
    assert [edit.path for edit in found.json] == ["$"]


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&"


def test_the_page_escapes_everything() -> None:
    """Text, links, triples, cells and values of a hostile page are shown, never run."""
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


def test_a_page_without_difference_says_so() -> None:
    """An empty difference is a sentence, not an empty page."""
    page = as_html(_compare(ParsedVersion(text="a"), ParsedVersion(text="a")), title="t", before_name="b", after_name="a")

    assert "No difference." in page
