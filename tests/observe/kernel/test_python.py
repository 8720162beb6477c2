"""The Python kernel against the compiled one: real pages, random markup, hostile pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from tests.observe.fingerprint_reference import simhash_of
from webstrata.compiled import is_compiled
from webstrata.lab.livingweb.recording import load_shipped
from webstrata.observe.html.tree import parse
from webstrata.observe.kernel import python
from webstrata.observe.kernel.choice import select_kernel
from webstrata.observe.kernel.reserialise import reserialise
from webstrata.observe.kernel.results import BodyOutline

pytestmark = pytest.mark.skipif(not is_compiled("observe"), reason="no compiled kernel to compare with")

DATA = Path(__file__).parent.parent.parent / "data" / "fingerprint"
VECTORS = json.loads((DATA / "vectors.json").read_text("utf-8"))


def fields(outline: BodyOutline | None) -> list[Any]:
    assert outline is not None
    return [field.tolist() if isinstance(field, np.ndarray) else field for field in outline]


def check(html: str, *, also_reserialised: bool = True) -> bool:
    """Compare both kernels; return whether the parser's own serialisation was unambiguous."""
    from webstrata.observe.kernel import library

    assert library.scan_text(html) == python.scan_text(html)
    plain = html.encode("ascii", "replace").decode()
    assert library.may_hide(plain) == python.may_hide(plain)
    tree = parse(html)
    if tree is None or tree.body is None or tree.body.tag != "body":
        return True
    expected = fields(python.outline_body(tree.body))
    assert fields(library.outline_body(tree.body)) == expected
    if also_reserialised:
        assert fields(library.outline_html(reserialise(tree.body), is_unambiguous=True)) == expected
    return library.outline_html((tree.body.html or "").encode(), is_unambiguous=False) is not None


@pytest.mark.parametrize("case", VECTORS, ids=[case["name"] for case in VECTORS])
def test_vectors(case: dict[str, str]) -> None:
    """Both kernels give the same outline for the documents of the published vectors."""
    check(case["html"] if "html" in case else (DATA / case["file"]).read_text("utf-8"))


def test_real_pages() -> None:
    """Both kernels give the same outline and simhash for pages of the shipped sites; none is ambiguous."""
    contents = [body for recording in load_shipped() for body in recording.contents.values()]
    pages = [body for body in contents if b"<html" in body[:2000].lower()][::20]
    assert len(pages) > 100
    for page in pages:
        html = page.decode("utf-8", "replace")
        assert check(html, also_reserialised=False)
        body = LexborHTMLParser(html, scripting=True).body
        outlined = python.outline_body(body) if body is not None else None
        if outlined is not None and outlined.text:
            check_simhash(outlined.text)


def check_simhash(text: bytes) -> None:
    expected = simhash_of(text.split(b" "))
    assert [select_kernel(compiled=compiled).simhash(text) for compiled in (True, False)] == [expected, expected]


@given(st.lists(st.binary(min_size=1, max_size=8).filter(lambda word: b" " not in word), min_size=1, max_size=30))
def test_simhash_of_any_words(words: list[bytes]) -> None:
    """Both kernels give the simhash of the specification for any words."""
    check_simhash(b" ".join(words))


@pytest.mark.parametrize("size", [1 << 18, (1 << 18) + 1, 3 << 18])
def test_simhash_of_long_texts(size: int) -> None:
    """Both kernels agree on texts that are hashed in blocks, and on one word longer than a block."""
    for text in ((b"some words of text " * (size // 19 + 1))[:size].strip(), b"x" * size):
        assert select_kernel(compiled=True).simhash(text) == select_kernel(compiled=False).simhash(text)


TAGS = ["a", "a href=x", "annotation-xml encoding=text/html", "area href=z", "article", "aside", "b", "body c=d", "br",
        "button", "center", "desc", "div", "foreignObject", "form", "frameset", "header", "i", "iframe src=q", "image",
        "img", "input", "li", "link", "listing", "main", "math", "menu", "mi", "nav", "noembed", "noframes", "noscript",
        "option", "p", "param", "plaintext", "pre", "script", "section", "select", "source", "style", "svg", "table",
        "td", "template", "textarea", "title", "tr", "ul", "xmp", "bloc\u212aquote", "td\u2003x",
        "figcaption", "div class=comment", "div id='a&amp;nav'", "section class='X\xa0Share&quot;' role=\"\"",
        "article id=reply", "svg class=menu", "td class=\u212acookie"]  # fmt: skip
OTHERS = ["<!--", "-->", "--!>", "<!x", "<?php x?>", "<![CDATA[", "]]>", "<a<b c\"d=e =f>", "<x y='\">'>", "</", "<",
          "/>", "&nbsp;", "&amp;", "&lt;", "&lt;/style&gt;", "&lt;/script&gt;", "&lt;style&gt;", "\xa0", "\n", " ",
          "\t", "\0", "\1", "\2", "\x1c", "\x85", "\u2003", "e", "\u0301", "\u30ab\u3099", "\u017f", "\U0001f600",
          "word", "a few words of text ", "x" * 90, "y" * 300]  # fmt: skip
PIECES = [*(f"<{tag}>" for tag in TAGS), *(f"</{tag.split()[0]}>" for tag in TAGS), *OTHERS]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=50).map("".join))
def test_random_markup(html: str) -> None:
    """Both kernels agree on any markup, in the parser's serialisation and reserialised."""
    check(html)


AMBIGUOUS = {
    "script in a script": "seen<script><!--<script></script>--></script>seen",
    "style in a drawing": "<svg><style>&lt;/style&gt;unseen&lt;style&gt;</style></svg>seen",
    "plaintext": "seen<plaintext></plaintext>seen",
    "link in a drawing": "<svg><link>seen</link></svg>",
    "processing instruction": "seen<?php echo '<p>' ?>seen",
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_ambiguous_markup_is_reserialised(name: str) -> None:
    """The compiled kernel reports a serialisation that it could misread, and the tree is reserialised."""
    assert not check(AMBIGUOUS[name])


HOSTILE = {
    "deep": "<div>" * 9_000 + "word",
    "deep links": "<div>x<a href=y>" * 6_000,
    "wide": "<div>x</div>" * 9_000,
    "attributes": "<p " + " ".join(f"a{number}=1" for number in range(1_900)) + ">word",
    "long attribute": f"<a href='{'&' * 200_000}'>word",
    "NULs": "<p>a\0b" + "\0" * 100_000,
    "references": "<p>" + "&amp;&lt;&nbsp;" * 50_000,
    "accents": "<p><a href=x>" + "e\u0301" * 50_000,
    "invisible": "<template>" * 5_000 + "unseen",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages(name: str) -> None:
    """Both kernels agree on deep, wide and malformed pages."""
    check(HOSTILE[name])


@given(st.binary(max_size=200), st.binary(max_size=40) | st.none())
def test_any_bytes_as_links(hrefs: bytes, spans: bytes | None) -> None:
    """Both kernels select and resolve the same addresses from any bytes, with spans in any order."""
    compiled, fallback = (
        select_kernel(compiled=compiled).collect_links(
            hrefs, spans, root=b"", folder=b"", home="a.test", resolve=lambda href: f"http://a.test/{href!r}"
        )
        for compiled in (True, False)
    )
    assert compiled == fallback
