"""Random contents and rules for properties of detection: pages, plain text, JSON and tables, in similar versions."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from hypothesis import strategies as st

from webstrata.flows.versions import Version
from webstrata.records import Outcome, PageRules, Visit

URL = "http://a.test/page"


class Content(NamedTuple):
    """A body with its media type."""

    kind: str
    body: bytes


def version(content: Content, at: float = 0.0) -> Version:
    """The content as an archived version of a page."""
    visit = Visit(page_id=1, url=URL, at=at, outcome=Outcome.NEW)
    return Version(visit=visit, status=200, headers=(("content-type", content.kind),), body=content.body)


WORDS = ("rate", "4.2", "4.3", "moon", "Buy", "now", "12:30", "tea")
words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
hrefs = st.sampled_from(["/a", "/b", "/c?x=1", "http://b.test/", "mailto:a@a.test", "mailto:b@a.test", "tel:+12"])
sentences = words.map(lambda text: f"{text} is what this long sentence of the page says today.")


def _element(tag: str) -> st.SearchStrategy[str]:
    text = words | sentences
    return st.builds(lambda name, inner: f"<{tag}{name}>{inner}</{tag}>", st.sampled_from(["", " class=ad"]), text)


_blocks = (
    _element("p")
    | _element("b")
    | _element("div")
    | st.builds(lambda href, text: f'<p><a href="{href}">{text}</a></p>', hrefs, words)
    | st.builds(lambda href: f'<p><a href="{href}"><img src=/i.png></a></p>', hrefs)
    | st.builds(lambda n, alt: f'<img src=/{n}.png alt="{alt}">', st.integers(0, 2), words)
    | st.lists(st.tuples(words, words), min_size=1, max_size=3).map(
        lambda rows: "<table>" + "".join(f"<tr><td>{a}</td><td>{b}</td></tr>" for a, b in rows) + "</table>"
    )
)


def _product(name: str, price: str) -> str:
    data = {"@type": "Product", "name": name, "offers": {"@type": "Offer", "price": price}}
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


_heads = (
    st.builds(lambda text: f"<title>{text}</title>", words)
    | st.builds(lambda text: f'<meta name=description content="{text}">', words)
    | st.sampled_from(["<link rel=canonical href=/a>", "<link rel=canonical href=/b>", "<!-- x -->"])
    | st.sampled_from(["<meta name=robots content=noindex>", "<meta name=robots content=nofollow>"])
    | st.builds(
        _product,
        st.sampled_from(["Lamp", "Chair"]),
        st.sampled_from(["4.99", "99.00"]),
    )
)

_Parts = list[list[Any]]
"""The parts of a content, each a list of elements."""


def _page(parts: _Parts) -> Content:
    head, nav, main, footer = map("".join, parts)
    body = f"{head}<nav>{nav}</nav><main>{main}</main><footer>{footer}</footer>"
    return Content("text/html; charset=utf-8", body.encode())


_scalars = st.sampled_from([None, True, False, 0, 1, 2, 1.0, 1.5, "a", "b", "1", ""])
_values = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "a", "b c", "rows"]), inner),
    max_leaves=6,
)
_records = st.builds(lambda n, value: {"id": n, "a": value}, st.integers(0, 3), _values)


def _json(parts: _Parts) -> Content:
    return Content("application/json", json.dumps({"rows": parts[0], "rest": parts[1]}).encode())


_lines = st.builds(lambda n, text: " " * n + text, st.integers(0, 2), words)


def _plain(parts: _Parts) -> Content:
    return Content("text/plain; charset=utf-8", "\n".join(parts[0]).encode())


_cells = st.sampled_from(["1", "2", "x", "y", "4.2", ""])


def _csv(parts: _Parts) -> Content:
    return Content("text/csv", "\n".join(",".join(row) for row in (["id", "name", "rate"], *parts[0])).encode())


_FORMATS = (
    ((_heads, _blocks, _blocks, _blocks), _page),
    ((_records, _values), _json),
    ((_values, _values), _json),
    ((_lines,), _plain),
    ((st.tuples(_cells, _cells, _cells),), _csv),
)


@st.composite
def histories(draw: st.DrawFn, length: int) -> list[Content]:
    """Versions of one page, all of one media type; most parts of a version are those of the one before."""
    elements, render = draw(st.sampled_from(_FORMATS))
    parts: _Parts = [draw(st.lists(one, max_size=5)) for one in elements]
    versions = [render(parts)]
    for _ in range(length - 1):
        index = draw(st.integers(0, len(elements) - 1))
        parts = [draw(_edited(part, elements[i])) if i == index else part for i, part in enumerate(parts)]
        versions.append(render(parts))
    return versions


def _edited(part: list[Any], element: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """The part in another order, with one element replaced, added or removed, or all of it replaced."""
    positions = st.integers(0, max(0, len(part) - 1))
    return st.one_of(
        st.just(part),
        st.permutations(part),
        st.builds(lambda i, new: [*part[:i], new, *part[i + 1 :]], positions, element),
        st.builds(lambda i, new: [*part[:i], new, *part[i:]], positions, element),
        st.builds(lambda i: [*part[:i], *part[i + 1 :]], positions),
        st.lists(element, max_size=5),
    )


_SELECTORS = ["css:.ad", "css:p", "css:main", "css:b, td", "xpath://p[1]", "xpath://a", "xpath://*[@class='ad']"]
_PATHS = ["jsonpath:$.rows", "jsonpath:$.rows[0]", "jsonpath:$..a", "jsonpath:$..id"]
_selectors = st.lists(st.sampled_from([*_SELECTORS, *_PATHS]), max_size=2).map(tuple)
_KINDS = ["description", "canonical", "robots", "image", "label", "form", "structured", "product", "title"]


@st.composite
def rules(draw: st.DrawFn) -> PageRules:
    """Rules of a page that concern the comparison."""
    order = draw(st.sampled_from(["", "", "ordered", "unordered"]))
    kinds: list[Any] = draw(st.lists(st.sampled_from(_KINDS), max_size=4, unique=True))
    return PageRules(
        layer=draw(st.sampled_from(["auto", "auto", "auto", "raw", "text", "main", "links", "data"])),
        include=draw(_selectors),
        ignore=draw(_selectors),
        ignore_text=draw(st.lists(st.sampled_from([r"\d+", "Buy.*", "tea", "^rate.*$"]), max_size=2).map(tuple)),
        min_size=draw(st.sampled_from([0.0, 0.0, 0.2, 0.9])),
        unordered=order == "unordered",
        ordered=order == "ordered",
        indentation=draw(st.booleans()),
        attributes=tuple(kinds[:2]),
        ignore_attributes=tuple(kinds[2:]),
    )
