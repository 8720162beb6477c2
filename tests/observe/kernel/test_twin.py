"""The compiled kernel against its twin in Python: real pages, made-up markup, hostile pages."""

from __future__ import annotations

import json
from pathlib import Path
from struct import iter_unpack
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from tests.observe.fingerprint_twin import simhash_of
from tests.observe.twin import outline as twin
from tests.observe.twin.parts import main_spans
from tests.observe.twin.scan import scan_text as twin_scan_text
from webstrata.lab.livingweb.recording import load_shipped
from webstrata.observe.html.outline import HtmlOutline, _read, outline, reserialise
from webstrata.observe.html.scan import scan_text
from webstrata.observe.html.tree import parse
from webstrata.observe.text_runs import simhash

DATA = Path(__file__).parent.parent.parent / "data" / "fingerprint"
VECTORS = json.loads((DATA / "vectors.json").read_text("utf-8"))


class Read(NamedTuple):
    text: bytes
    line_ends: list[int]
    hrefs: list[str]
    pointers: list[str]
    main_lines: list[tuple[int, int]]
    main_links: list[tuple[int, int]]


def own(read: HtmlOutline | None) -> Read:
    assert read is not None
    hrefs, pointers = (packed.decode("utf-8", "replace").split("\0")[:-1] for packed in (read.hrefs, read.pointers))
    main_links = list(iter_unpack("=ii", read.main_links))
    return Read(read.text, list(read.line_ends), hrefs, pointers, read.main_lines, main_links)


def expected(tree: LexborHTMLParser) -> Read:
    walked = twin.outline(tree.body)
    return Read(walked.text, walked.line_ends, walked.hrefs, walked.pointers, *main_spans(walked.boxes))


def check(html: str, *, also_spelled: bool = True) -> bool:
    """Compare all ways of reading; whether the parser's own serialisation was clear."""
    assert scan_text(html) == twin_scan_text(html)
    tree = parse(html)
    if tree is None or tree.body is None or tree.body.tag != "body":
        return True
    wanted = expected(tree)
    assert own(outline(tree.body)) == wanted
    if also_spelled:
        assert own(_read(reserialise(tree.body), is_spelled=True)) == wanted
    return _read((tree.body.html or "").encode(), is_spelled=False) is not None


@pytest.mark.parametrize("case", VECTORS, ids=[case["name"] for case in VECTORS])
def test_vectors(case: dict[str, str]) -> None:
    """The documents of the published vectors are read as the twin reads them."""
    check(case["html"] if "html" in case else (DATA / case["file"]).read_text("utf-8"))


def test_real_pages() -> None:
    """Pages of the shipped sites are read as the twin reads them, and none needs to be spelled out."""
    contents = [body for recording in load_shipped() for body in recording.contents.values()]
    pages = [body for body in contents if b"<html" in body[:2000].lower()][::20]
    assert len(pages) > 100
    for page in pages:
        html = page.decode("utf-8", "replace")
        assert check(html, also_spelled=False)
        text = outline(LexborHTMLParser(html, scripting=True).body).text
        assert simhash(text) == simhash_of(text.split(b" ") if text else [])


TAGS = ["a", "a href=x", "annotation-xml encoding=text/html", "area href=z", "article", "aside", "b", "body c=d", "br",
        "button", "center", "desc", "div", "foreignObject", "form", "frameset", "header", "i", "iframe src=q", "image",
        "img", "input", "li", "link", "listing", "main", "math", "menu", "mi", "nav", "noembed", "noframes", "noscript",
        "option", "p", "param", "plaintext", "pre", "script", "section", "select", "source", "style", "svg", "table",
        "td", "template", "textarea", "title", "tr", "ul", "xmp", "bloc\u212aquote", "td\u2003x"]  # fmt: skip
OTHERS = ["<!--", "-->", "--!>", "<!x", "<?php x?>", "<![CDATA[", "]]>", "<a<b c\"d=e =f>", "<x y='\">'>", "</", "<",
          "/>", "&nbsp;", "&amp;", "&lt;", "&lt;/style&gt;", "&lt;/script&gt;", "&lt;style&gt;", "\xa0", "\n", " ",
          "\t", "\0", "\1", "\2", "\x1c", "\x85", "\u2003", "e", "\u0301", "\u30ab\u3099", "\u017f", "\U0001f600",
          "word", "a few words of text "]  # fmt: skip
PIECES = [*(f"<{tag}>" for tag in TAGS), *(f"</{tag.split()[0]}>" for tag in TAGS), *OTHERS]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=50).map("".join))
def test_made_up_markup(html: str) -> None:
    """Whatever the markup, kernel and twin agree, clear or spelled out."""
    check(html)


UNCLEAR = {
    "script in a script": "seen<script><!--<script></script>--></script>seen",
    "style in a drawing": "<svg><style>&lt;/style&gt;unseen&lt;style&gt;</style></svg>seen",
    "plaintext": "seen<plaintext></plaintext>seen",
    "link in a drawing": "<svg><link>seen</link></svg>",
    "processing instruction": "seen<?php echo '<p>' ?>seen",
}


@pytest.mark.parametrize("name", UNCLEAR)
def test_unclear_markup_is_spelled_out(name: str) -> None:
    """Where a serialised tree could be misread the kernel says so, and the tree is spelled out."""
    assert not check(UNCLEAR[name])


HOSTILE = {
    "deep": "<div>" * 9_000 + "word",
    "deep links": "<div>x<a href=y>" * 6_000,
    "wide": "<div>x</div>" * 9_000,
    "attributes": "<p " + " ".join(f"a{number}=1" for number in range(1_900)) + ">word",
    "long attribute": f"<a href='{'&' * 200_000}'>word",
    "NULs": "<p>a\0b" + "\0" * 100_000,
    "references": "<p>" + "&amp;&lt;&nbsp;" * 50_000,
    "accents": "<p><a href=x>" + "e\u0301" * 50_000,
    "silence": "<template>" * 5_000 + "unheard",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages(name: str) -> None:
    """Deep, wide and odd pages are read as the twin reads them."""
    check(HOSTILE[name])
