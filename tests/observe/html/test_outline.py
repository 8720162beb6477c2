"""The parts of a page: header, body, side and footer."""

from __future__ import annotations

import time

import pytest

from webstrata.detect.layers import layer_digest
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
    """Header, body, side and footer together contain every line exactly once."""
    html = f"<nav>menu</nav>{LONG}<div>{LONG}<form>box</form></div><footer>end</footer>"
    found = observed(html)
    assert found.part_texts is not None
    assert all(found.part_texts[1:])
    lines = [line for text in found.part_texts[1:] for line in text.split("\n")]
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


SIDE = ["<form>{}</form>", "<aside>{}</aside>", "<footer>{}</footer>", "<figure><figcaption>{}</figcaption></figure>",
        "<div class=comments>{}</div>", "<section id=related-pages>{}</section>", "<div role=complementary>{}</div>",
        "<div>More: <a href=1>the first</a> or <a href=2>another</a>, {}</div>"]  # fmt: skip


@pytest.mark.parametrize("addition", SIDE)
def test_additions_are_in_the_side_part(addition: str) -> None:
    """Comments, captions, forms and other additions count as main content and are not in the body part."""
    one, other = (observed(f"<main>{LONG}{addition.format(word)}</main>") for word in ("Sold out", "Add to cart"))
    assert one.part_texts is not None
    assert other.part_texts is not None
    assert "Sold out" in one.part_texts.side
    assert one.part_texts.body == other.part_texts.body
    assert layer_digest(one.fingerprint, "main") != layer_digest(other.fingerprint, "main")


def test_a_line_may_move_between_body_and_side() -> None:
    """Another class name moves a line from the body to the side part; the main content stays the same."""
    one, other = (observed(f"<main>{LONG}<div class={name}>By A. Author</div></main>") for name in ("box", "byline"))
    assert one.part_texts != other.part_texts
    assert layer_digest(one.fingerprint, "main") == layer_digest(other.fingerprint, "main")


MAIN = {
    "beside the text of a main element": "<main><div>{}</div><div>" + LONG * 3 + "</div></main>",
    "the second of three articles": f"<section><article>{LONG * 3}</article>"
    "<article>{}</article><article>third</article></section>",
    "an aside of an article": f"<article>{LONG}<aside>" + "{}</aside></article>",
    "a list of events": f"<main>{LONG}<div><a href=1>" + "A concert in the park: {}</a><br>"
    "<a href=2>A walk through the old town on Sunday</a></div></main>",
    "a lead above the text": "<main><div><p>{}</p></div><div>" + LONG * 3 + "</div></main>",
}


@pytest.mark.parametrize("name", MAIN)
def test_edits_in_the_main_content(name: str) -> None:
    """These edits differ in the main content of a page judged alone."""
    edits = "planned for Monday afternoon", "moved to Tuesday"
    one, other = (observed(f"<div>Site</div>{MAIN[name].format(word)}").fingerprint for word in edits)
    assert layer_digest(one, "main") != layer_digest(other, "main")


def test_leads_are_in_the_body_part() -> None:
    """A paragraph before the box with most of the text is in the body part; a short line and one after it are not."""
    lead = "A paragraph before the text says in a few more words than any headline what the whole text is about."
    html = f"<main><h1>Headline</h1><p>{lead}</p><div>{LONG}{LONG}</div><p>{lead} Again.</p></main>"
    found = parts_of(html)
    assert found.body.split("\n")[0] == lead
    assert found.side == f"Headline\n{lead} Again."


def test_comments_longer_than_the_article() -> None:
    """Comments after a text are in the side part, however long they are; a wrapper with such a name is not."""
    assert parts_of(f"<div>{LONG}<div id=comments>{LONG * 5}</div></div>").body.count("Plain words") == 8
    assert parts_of(f"<main><div class=comments-open>{LONG}</div></main>").body.count("Plain words") == 8


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
