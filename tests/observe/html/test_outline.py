"""The parts of a page: header, body and footer."""

from __future__ import annotations

import time

import pytest

from webstrata.observe.html.outline import PageParts, outline
from webstrata.observe.html.tree import parse
from webstrata.observe.page import ObservedContent, observe

URL = "https://a.test/"
LONG = "<p>" + "Plain words that are no link and weigh something. " * 8 + "</p>"


def observed(html: str) -> ObservedContent:
    return observe(html.encode(), "text/html; charset=utf-8", URL)


def parts_of(html: str) -> PageParts:
    tree = parse(html)
    assert tree is not None
    return PageParts(outline(tree.body))


NOISE = ["<nav>{}</nav>", "<aside>{}</aside>", "<header>{}</header>", "<footer>{}</footer>",
         "<div><a href=1>{}</a> <a href=2>two</a></div>"]  # fmt: skip


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("page", ["{}<main>" + LONG + "</main>", "<div>" + LONG + "</div>{}"])
def test_noise_does_not_change_title_and_body(noise: str, page: str) -> None:
    """Menus, margins and boxes of links are not in the body part and do not change its digest and links."""
    one, other = (observed(page.format(noise.format(word))).fingerprint for word in ("one", "other words"))
    assert one.text != other.text
    assert one.parts is not None
    assert other.parts is not None
    assert (one.parts[0], one.parts[2], one.main_links) == (other.parts[0], other.parts[2], other.main_links)
    assert one.parts != other.parts


KEPT = ["<p>{}", "<ul><li>{}<li>b</ul>", "<table><tr><td>{}<td>2</table>", "<div>{}</div>", "<h2>{}</h2>",
        "<ul><li><a href=1>{}</a><li><a href=2>b</a></ul>", "<div>See <a href=x>{}</a></div>"]  # fmt: skip


@pytest.mark.parametrize("content", KEPT)
def test_content_changes_the_body(content: str) -> None:
    """Paragraphs, tables and lists (also of links) inside the main content are in the body part."""
    one, other = (observed(f"<main>{LONG}{content.format(word)}</main>").fingerprint for word in ("1", "2"))
    assert one.parts is not None
    assert other.parts is not None
    assert one.parts[2] != other.parts[2]


def test_every_line_is_in_one_part() -> None:
    """Header, body and footer together contain every line exactly once."""
    html = f"<nav>menu</nav>{LONG}<div>{LONG}<aside>box</aside></div><footer>end</footer>"
    found = observed(html)
    assert found.part_texts is not None
    _, header, body, footer = found.part_texts
    lines = [line for text in (header, body, footer) for line in text.split("\n")]
    assert sorted(lines) == sorted((found.text or "").split("\n"))


@pytest.mark.parametrize("noise", ["<nav></nav>", "<nav><a href=1><img></a></nav>", "<aside>x</aside>"])
@pytest.mark.parametrize(
    "page", ["{0}{1}", "{1}{0}", "{0}<div>{1}</div>{0}", "<div>{1}{0}{1}</div>", "<div>{0}{1}{0}</div>"]
)
def test_noise_around_the_main_box(noise: str, page: str) -> None:
    """Noise at the edges of the main content, empty or not, removes nothing from it."""
    found = observed(page.format(noise, LONG))
    assert found.part_texts is not None
    assert found.part_texts.body.count("Plain words") == page.count("{1}") * 8


def test_links_of_the_body() -> None:
    """Links of the main content are distinguished from links in menus."""
    found = observed(f"<nav><a href=/menu>m</a></nav><main>{LONG}<a href=/x?utm_source=y>x</a></main>")
    assert found.main_linked.urls == ("https://a.test/x?utm_source=y",)
    other = observed(f"<nav><a href=/other>m</a></nav><main>{LONG}<a href=/x>x</a></main>")
    assert found.fingerprint.main_links == other.fingerprint.main_links
    assert found.fingerprint.links != other.fingerprint.links


def test_giant_pages_have_no_parts() -> None:
    """A page that is scanned without a tree has text, links and simhash, but no parts."""
    mark = observed("<p>word <a href=x>link</a>" * 12_000).fingerprint
    assert mark.parts is None
    assert mark.main_links is None
    assert mark.simhash is not None
    assert mark.link_count == 1


@pytest.mark.parametrize("html", ["<div>" * 9_000 + "x", "<div>x<a href=y>" * 6_000, "<div></div>" * 9_000])
def test_deep_and_wide_trees(html: str) -> None:
    """Deep nesting and many boxes need no recursion and no quadratic time."""
    start = time.process_time()
    parts_of(html)
    assert time.process_time() - start < 2.0
