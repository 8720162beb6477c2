from __future__ import annotations

import re

import pytest

from webstrata.detect.diff.binary import BinaryDifference, Picture
from webstrata.detect.diff.difference import Difference, ParsedVersion, difference
from webstrata.detect.diff.feed import EntryVersion
from webstrata.detect.diff.html import HtmlDifference
from webstrata.detect.diff.html_page import as_html


def _compare(before: ParsedVersion, after: ParsedVersion) -> Difference:
    return difference(before, after, before_name="then", after_name="now")


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&"


def _sections(before: ParsedVersion, after: ParsedVersion) -> str:
    return "\n".join(HtmlDifference(_compare(before, after)).sections())


FORMS = {
    "text": (ParsedVersion(text="a"), ParsedVersion(text=HOSTILE), 1),
    "similar lines": (ParsedVersion(text=f"old {HOSTILE}"), ParsedVersion(text=f"new {HOSTILE}"), 2),
    "outside": (ParsedVersion(outside=HOSTILE), ParsedVersion(outside="a"), 1),
    "attributes": (ParsedVersion(attributes={HOSTILE: "a"}), ParsedVersion(attributes={HOSTILE: HOSTILE}), 2),
    "links": (ParsedVersion(links=()), ParsedVersion(links=(HOSTILE,)), 1),
    "triples": (ParsedVersion(triples=()), ParsedVersion(triples=(HOSTILE, f"{HOSTILE} {HOSTILE} {HOSTILE} .")), 1),
    "cells": (
        ParsedVersion(table=[(HOSTILE, "a" + HOSTILE), ("1", "a")]),
        ParsedVersion(table=[(HOSTILE, "a" + HOSTILE), ("1", HOSTILE)]),
        3,
    ),
    "rows": (
        ParsedVersion(table=[("k", HOSTILE), ("1", "a"), (HOSTILE, HOSTILE)]),
        ParsedVersion(table=[("k", HOSTILE), ("1", "a"), (f"2{HOSTILE}", f"3{HOSTILE}")]),
        6,
    ),
    "columns": (ParsedVersion(table=[("k",), ("1",)]), ParsedVersion(table=[("k", HOSTILE), ("1", "")]), 1),
    "json": (ParsedVersion(document={"a": 1}), ParsedVersion(document={"a": HOSTILE, HOSTILE: {HOSTILE: 1}}), 3),
    "feed": (
        ParsedVersion(entries=(EntryVersion(id="1"), EntryVersion(id="2", title=HOSTILE), EntryVersion(id="3"))),
        ParsedVersion(
            entries=(
                EntryVersion(id="0", title=HOSTILE, link=HOSTILE, updated=HOSTILE),
                EntryVersion(id="1", title=HOSTILE, link=HOSTILE, content=HOSTILE, updated=HOSTILE),
                EntryVersion(id="3"),
            )
        ),
        10,
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_everything_is_escaped(form: str) -> None:
    """No markup of a hostile page is markup of the page of differences, in any form."""
    before, after, count = FORMS[form]
    html = _sections(before, after)

    assert "<script" not in html
    assert "<img" not in html
    assert html.count("&lt;script&gt;") + html.count("&lt;<del>script") >= count


def test_titles_are_escaped() -> None:
    """The title and the names of the versions are escaped, and the policy of the page forbids scripts and requests."""
    found = difference(ParsedVersion(text="a"), ParsedVersion(text="b"), before_name=HOSTILE, after_name=HOSTILE)
    page = as_html(found, title=HOSTILE)

    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 2
    assert "default-src 'none'" in page


def test_pictures_are_images_only() -> None:
    """Pictures stand side by side as data in `img` elements; SVG is never markup of the page."""
    svg = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'><script>alert(1)</script></svg>"
    pictures = (Picture(media_type="image/svg+xml", body=svg), Picture(media_type="image/png", body=b"\x89PNG"))
    binary = BinaryDifference(before=HOSTILE, after="PNG 1×1, 4 B", pictures=pictures)
    html = "\n".join(HtmlDifference(Difference(before_name="", after_name="", binary=binary)).sections())

    assert "<script" not in html
    assert "<svg" not in html
    assert re.findall(r'<img src="data:([a-z/+]+);base64,[A-Za-z0-9+/=]+" alt="', html) == [
        "image/svg+xml",
        "image/png",
    ]
    assert html.count("<img") == 2


def test_values_are_grouped() -> None:
    """JSON values stand in a table by path, below the path of their object, and not as lines of the source."""
    before = {"a": {"b": "the old word", "c": 1}, "d": [1, 2]}
    after = {"a": {"b": "the new word", "c": 1, "e": None}, "d": [1, 3]}
    html = _sections(ParsedVersion(text="{", document=before), ParsedVersion(text="[", document=after))

    assert re.findall(r'colspan="3">([^<]+)<', html) == ["$.a", "$.d"]
    assert re.findall(r"<tr><td>([^<]+)<", html) == ["b", "e", "[1]"]
    assert "the <del>old</del> word" in html
    assert "the <ins>new</ins> word" in html
    assert '<td></td><td class="add">null</td>' in html
    assert "<h3>Text" not in html


def test_rows_are_limited() -> None:
    """A section of a story has a limited number of rows, and says how many are left out."""
    before, after = ParsedVersion(text=""), ParsedVersion(text="\n".join(map(str, range(500))), links=())
    found = difference(before, after, before_name="", after_name="")
    html = "\n".join(HtmlDifference(found, max_rows=100).sections())

    assert html.count("<tr>") == 101
    assert "… 401 more" in html  # 500 lines and the heading of the hunk


def test_the_page_marks_words() -> None:
    """In replaced lines the changed words are marked on both sides."""
    page = as_html(
        _compare(ParsedVersion(text="the old news"), ParsedVersion(text="the new news")),
        title="t",
    )

    assert "the <del>old</del> news" in page
    assert "the <ins>new</ins> news" in page


def test_an_empty_difference() -> None:
    """The page of an empty difference states that there is no difference."""
    same = _compare(ParsedVersion(text="a"), ParsedVersion(text="a"))
    page = as_html(same, title="t")

    assert "No difference." in page
