"""Verdicts on two contents alone, from their bytes: what readers would call a change, and what not."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import pytest
from PIL import Image, ImageDraw

from webstrata.detect.verdict import judge_alone
from webstrata.observe.page import observation_of, observe
from webstrata.records import Change, ChangeKind, Observation, PageRules, ValueChange

URL = "https://shop.test/lamp"
STORY = (
    "<p>The lamp is made of brass and lights a whole room with a warm and even light, as people like it.</p>"
    "<p>It was designed in a small workshop and has been built there by hand for more than thirty years.</p>"
)


def page(extra: str = "", head: str = "", around: str = "") -> str:
    return f"<title>Lamp</title>{head}<main><h1>A lamp</h1>{STORY}{extra}</main>{around}"


def product(price: str, availability: str = "InStock") -> str:
    offer = {"price": price, "priceCurrency": "EUR", "availability": f"https://schema.org/{availability}"}
    data = {"@context": "https://schema.org", "@type": "Product", "name": "Lamp", "sku": "L1", "offers": offer}
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


def seen(body: str | bytes, content_type: str, rules: PageRules | None) -> Observation:
    content = observe(body.encode() if isinstance(body, str) else body, content_type, URL, rules)
    return observation_of(content, URL, 0.0)


def verdict(
    before: str | bytes,
    after: str | bytes,
    content_type: str = "text/html; charset=utf-8",
    rules: PageRules | None = None,
) -> Change:
    old, new = (seen(body, content_type, rules) for body in (before, after))
    return judge_alone(old, new, rules)


ARTICLES = [
    f"<article><h2>News {n}</h2><p>Report number {n} is a text of some length about {n} things.</p></article>"
    for n in "abc"
]

TOLD = {
    "a price in the text": (page("<p>Price: 99 EUR</p>"), page("<p>Price: 4.99 EUR</p>"), ChangeKind.CONTENT),
    "a button in a form": (
        page("<form><button>Add to cart</button></form>"),
        page("<form><button>Sold out</button></form>"),
        ChangeKind.CONTENT,
    ),
    "the second of three articles": (
        f"<title>News</title>{''.join(ARTICLES)}",
        f"<title>News</title>{''.join(ARTICLES).replace('number b is', 'number b was')}",
        ChangeKind.CONTENT,
    ),
    "another title": (page(), page().replace("<title>Lamp", "<title>Old lamp"), ChangeKind.CONTENT),
    "an e-mail address": (
        page('<a href="mailto:a@shop.test">Write to us</a>'),
        page('<a href="mailto:b@shop.test">Write to us</a>'),
        ChangeKind.LINKS,
    ),
    "a link with another target": (page("<a href=/one>More</a>"), page("<a href=/two>More</a>"), ChangeKind.LINKS),
    "a product that costs more": (page(head=product("99.00")), page(head=product("120.00")), ChangeKind.PRODUCT),
    "a page that is not to be indexed": (
        page(),
        page(head='<meta name="robots" content="noindex">'),
        ChangeKind.METADATA,
    ),
    "another canonical address": (
        page(head='<link rel="canonical" href="https://shop.test/a">'),
        page(head='<link rel="canonical" href="https://shop.test/b">'),
        ChangeKind.METADATA,
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_told(name: str) -> None:
    """These differences count, each with its kind."""
    before, after, kind = TOLD[name]
    change = verdict(before, after)
    assert (change.counts, change.kind) == (True, kind)
    assert change.significance >= 0.05
    assert change.reasons


NOT_TOLD = {
    "http becomes https": (page("<a href=http://b.test/x>More</a>"), page("<a href=https://b.test/x>More</a>")),
    "a trailing slash": (page("<a href=http://b.test/x>More</a>"), page("<a href=http://b.test/x/>More</a>")),
    "a session number": (page("<a href='/x?PHPSESSID=a1b2'>More</a>"), page("<a href='/x?PHPSESSID=c3d4'>More</a>")),
    "the name of an asset": (
        page("<a href=/files/plan.0a1b2c3d4e.pdf>Plan</a>"),
        page("<a href=/files/plan.9f8e7d6c5b.pdf>Plan</a>"),
    ),
    "the day of the build": (page("<p>Last updated: 3 May 2026</p>"), page("<p>Last updated: 9 May 2026</p>")),
    "the order of tags": (page("<div>brass light lamp</div>"), page("<div>lamp brass light</div>")),
    "a menu": (page(around="<nav><a href=/a>A</a></nav>"), page(around="<nav><a href=/a>A</a><a href=/b>B</a></nav>")),
    "the text of a picture": (page('<img src="a.png" alt="brass">'), page('<img src="a.png" alt="steel">')),
}


@pytest.mark.parametrize("name", NOT_TOLD)
def test_not_told(name: str) -> None:
    """These differences of bytes do not count."""
    change = verdict(*NOT_TOLD[name])
    assert change.raw
    assert not change.counts, change.reasons


def test_values_of_products() -> None:
    """The change has the values before and after, and the reasons name them."""
    change = verdict(page(head=product("99.00")), page(head=product("4.99", "OutOfStock")))
    assert ValueChange(name="price", before="99.00", after="4.99") in change.product_values
    assert {value.after for value in change.product_values} == {"4.99", "OutOfStock"}
    assert any("99.00 to 4.99" in reason for reason in change.reasons)
    assert change.significance >= 0.6


def test_attributes_follow_the_rules() -> None:
    """Kinds can be added and left out; exact layers see stamps."""
    alt = NOT_TOLD["the text of a picture"]
    assert verdict(*alt, rules=PageRules(attributes=("image",))).kind is ChangeKind.METADATA
    cheaper = (page(head=product("99.00")), page(head=product("4.99")))
    assert not verdict(*cheaper, rules=PageRules(ignore_attributes=("product",))).counts
    titled = TOLD["another title"][:2]
    assert not verdict(*titled, rules=PageRules(ignore_attributes=("title",))).counts
    assert verdict(*NOT_TOLD["the day of the build"], rules=PageRules(layer="text")).counts


def picture(draw: Callable[[ImageDraw.ImageDraw], None], form: str, **options: int) -> bytes:
    image = Image.new("RGB", (320, 240), "white")
    drawing = ImageDraw.Draw(image)
    drawing.rectangle((40, 60, 180, 200), fill="navy")
    draw(drawing)
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


def test_pictures_are_judged_by_their_looks() -> None:
    """Encoding a picture again is no change, another picture is one."""

    def nothing(drawing: ImageDraw.ImageDraw) -> None:
        """The picture as it is."""

    def disc(drawing: ImageDraw.ImageDraw) -> None:
        drawing.ellipse((200, 20, 300, 120), fill="red")

    first, again = (picture(nothing, "JPEG", quality=quality) for quality in (95, 60))
    other = picture(disc, "JPEG", quality=95)
    assert first != again
    assert not verdict(first, again, "image/jpeg").counts
    change = verdict(first, other, "image/jpeg")
    assert (change.counts, change.layer) == (True, "picture")


def feed(*titles: str) -> str:
    items = "".join(
        f"<item><guid>{title}</guid><title>{title}</title><pubDate>{20 - n:02} May 2026 10:00:00 GMT</pubDate></item>"
        for n, title in enumerate(titles)
    )
    return f'<rss version="2.0"><channel><title>News</title>{items}</channel></rss>'


def test_an_entry_that_leaves_a_feed_is_no_change() -> None:
    """A new entry is a change; the oldest one that vanishes is none, one from between others is."""
    before = feed("a", "b", "c", "d")
    assert not verdict(before, feed("a", "b", "c"), "application/rss+xml").counts
    assert verdict(before, feed("z", "a", "b", "c"), "application/rss+xml").counts
    assert verdict(before, feed("a", "c", "d"), "application/rss+xml").counts


def test_the_size_of_data_is_counted_in_values() -> None:
    """One cell of a table of a thousand rows is a small part of it."""
    rows = [f"{n},name {n},{n * 3}" for n in range(1000)]
    before = "\n".join(["id,name,count", *rows])
    change = verdict(before, before.replace("name 500,", "other,"), "text/csv")
    assert (change.counts, change.kind) == (True, ChangeKind.DATA)
    assert 0 < change.size < 0.01
    assert "of the data" in change.reasons[0]
