"""The attributes of a page: kinds, names, values, limits, and markup of any kind."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webstrata.observe.page import observe
from webstrata.records import ATTRIBUTE_KINDS, DEFAULT_ATTRIBUTES, PageAttribute, PageRules

EVERY = PageRules(attributes=ATTRIBUTE_KINDS)


def attributes(html: str, rules: PageRules | None = EVERY) -> list[PageAttribute]:
    return observe(
        html.encode("utf-8", "replace"), "text/html; charset=utf-8", "https://a.test/dir/page", rules
    ).attributes


def of_kind(kind: str, html: str) -> list[tuple[str, str]]:
    return [(one.name, one.value) for one in attributes(html) if one.kind == kind]


HEAD = """<title> A  page </title><link rel=canonical href="http://a.test/x/"><base href="/base/">
<meta name=Robots content="NOINDEX, follow"><meta name=robots content="max-snippet:5"><meta name=googlebot content=none>
<meta name=description content="First&#10;line"><meta name=description content=Second>
<meta property=og:description content=Shared>"""


def test_head() -> None:
    """Title, canonical URL, robots directives and descriptions are found, in one spelling."""
    assert [(one.kind, one.name, one.value) for one in attributes(HEAD)] == [
        ("title", "title", "A page"),
        ("canonical", "canonical", "https://a.test/x"),
        ("robots", "robots", "max-snippet:5, noindex"),
        ("robots", "googlebot", "nofollow, noindex"),
        ("description", "description", "First line"),
        ("description", "og:description", "Shared"),
    ]


@pytest.mark.parametrize("content", ["index, follow", "all", "", "INDEX"])
def test_default_robots_are_no_attribute(content: str) -> None:
    """Directives that say what holds anyway are left out."""
    assert attributes(f'<meta name=robots content="{content}">') == []


def test_images() -> None:
    """Images have address, alternative text and candidates; names identify them by id, text or path."""
    html = """<img src="/i/a.png?v=1" alt="A lamp" srcset="a.png 1x, b.png 2x"><img src=b.png>
    <img id=logo src="http://a.test/l.png" alt=Logo><picture><source media="(min-width: 9px)" srcset=c.webp></picture>
    <img src="data:image/gif;base64,R0lG" data-src=/lazy.png><img src="data:image/gif;base64,R0lG" alt=Dot>
    <input type=image src=go.png alt=Go><img src="http://[bad" alt=""><img>"""
    assert of_kind("image", html) == [
        ("src:A lamp", "https://a.test/i/a.png?v=1"),
        ("alt:/i/a.png", "A lamp"),
        ("srcset:/i/a.png", "https://a.test/dir/a.png 1x, https://a.test/dir/b.png 2x"),
        ("src", "https://a.test/dir/b.png"),
        ("src:#logo", "https://a.test/l.png"),
        ("alt:#logo", "Logo"),
        ("srcset:(min-width: 9px)", "https://a.test/dir/c.webp"),
        ("src", "https://a.test/lazy.png"),
        ("src:Dot", "data:image/gif;03a985f4"),
        ("alt:data:image/gif;03a985f4", "Dot"),
        ("src:Go", "https://a.test/dir/go.png"),
        ("alt:/dir/go.png", "Go"),
    ]


def test_labels() -> None:
    """Labels for screen readers have the name of their element, and its id."""
    html = '<a id=top aria-label="To the  top" href=x>↑</a><button aria-label=Close>x</button><p aria-label="">'
    assert of_kind("label", html) == [("a:#top", "To the top"), ("button", "Close")]


FORM = """<form id=cart action="/buy?x=1"><input name=n type=number value=2><input type=hidden name=item value=lamp>
<input type=hidden name=csrf_token value=abc><input type=hidden name=state value=a1b2c3d4e5f6a7b8c9>
<input type=hidden name=at value=1700000000><input type=password name=p value=secret>
<input type=checkbox name=gift value=yes checked><textarea name=note>Hello  there</textarea>
<select name=size><option>S<option selected>M<option disabled>L</select>
<input name=code placeholder="Voucher"><button>Add to cart</button><input type=submit value="Buy now" disabled></form>
<input type=search name=q placeholder=Search>"""


def test_forms() -> None:
    """Controls are named by form and name; tokens and passwords are left out."""
    assert of_kind("form", FORM) == [
        ("action:cart", "https://a.test/buy?x=1"),
        ("type:cart/n", "number"),
        ("value:cart/n", "2"),
        ("type:cart/item", "hidden"),
        ("value:cart/item", "lamp"),
        ("type:cart/csrf_token", "hidden"),
        ("type:cart/state", "hidden"),
        ("type:cart/at", "hidden"),
        ("type:cart/p", "password"),
        ("type:cart/gift", "checkbox"),
        ("value:cart/gift", "yes"),
        ("checked:cart/gift", "yes"),
        ("type:cart/note", "textarea"),
        ("value:cart/note", "Hello there"),
        ("type:cart/size", "select"),
        ("options:cart/size", "S | M | L"),
        ("selected:cart/size", "M"),
        ("type:cart/code", "text"),
        ("placeholder:cart/code", "Voucher"),
        ("type:cart/submit", "submit"),
        ("label:cart/submit", "Add to cart"),
        ("type:cart/submit", "submit"),
        ("label:cart/submit", "Buy now"),
        ("disabled:cart/submit", "yes"),
        ("type:q", "search"),
        ("placeholder:q", "Search"),
    ]


def test_a_form_without_an_id_is_named_by_its_address() -> None:
    """The path of the action identifies a form without id and name."""
    assert of_kind("form", "<form action=/search?a=1><input name=q></form>") == [
        ("action:/search", "https://a.test/search?a=1"),
        ("type:/search/q", "text"),
    ]


def test_structured() -> None:
    """JSON-LD and microdata are paths with values."""
    html = """<script type="application/ld+json">{"@type":"Event","name":"Talk"}</script>
    <div itemscope itemtype=https://schema.org/Person><b itemprop=name>Ann</b></div>"""
    assert of_kind("structured", html) == [("Event.name", "Talk"), ("Person.name", "Ann")]


ALL = HEAD + FORM + '<img src=a alt=b><p aria-label=l itemscope><script type="application/ld+json">{"a": 1}</script>'


@pytest.mark.parametrize(
    ("rules", "kinds"),
    [
        (None, ["title", "canonical", "robots"]),
        (PageRules(attributes=("image", "label")), ["title", "canonical", "robots", "image", "label"]),
        (PageRules(ignore_attributes=("title", "robots")), ["canonical"]),
        (PageRules(attributes=("form",), ignore_attributes=DEFAULT_ATTRIBUTES), ["form"]),
    ],
)
def test_rules_choose_the_kinds(rules: PageRules | None, kinds: list[str]) -> None:
    """Title, canonical URL, robots and products count by default; rules add and remove kinds."""
    assert list(dict.fromkeys(one.kind for one in attributes(ALL, rules))) == kinds


def test_every_kind_is_read() -> None:
    """A page with everything has attributes of every kind but products, which it has not."""
    assert {one.kind for one in attributes(ALL)} == set(ATTRIBUTE_KINDS) - {"product"}


def test_limits() -> None:
    """Numbers and lengths are limited; a difference at the end of a long value is seen."""
    assert len(of_kind("label", "<p aria-label=x>" * 1_500)) == 1_000
    one, other = (of_kind("label", f"<p aria-label='{'x' * 5_000}{end}'>")[0][1] for end in "ab")
    assert one != other
    assert len(one) == len(other) == 500
    assert len(of_kind("label", f"<p id={'x' * 999} aria-label=y>")[0][0]) == 160


@pytest.mark.parametrize("content_type", ["text/plain", "application/json", "image/png"])
def test_only_pages_have_attributes(content_type: str) -> None:
    """Contents of other types have none."""
    content = observe(b'{"title": 1}', content_type, "https://a.test/")
    assert (content.read_attributes, content.attributes) == (None, [])


def test_a_page_too_large_to_parse_has_none() -> None:
    """Pages that are scanned, not parsed, have no attributes, which is different from an empty list."""
    assert observe(b"<b>" * 30_000, "text/html", "https://a.test/").read_attributes is None


TAGS = ["form", "form id=f action=x", "input", "input type=hidden name=a value=1", "input type=IMAGE src=", "select",
        "option", "button", "textarea", "img src=a srcset=','", "img srcset='\x0b x'", "img src=data:", "picture",
        "img", "source", "p itemscope", "p itemprop='a b'", "p itemscope itemprop=offers itemtype=/Offer", "svg",
        "b itemprop=price", "table", "meta name=robots content", "meta property=og:price:amount content=1", "template",
        "meta itemprop=x content", "link rel=canonical", "link rel=canonical href=//", "i aria-label", "i aria-label=x",
        "frameset", "html", "head", "body", "script type=application/ld+json", "title"]  # fmt: skip
MARKUP = st.sampled_from(
    [f"<{tag}>" for tag in TAGS]
    + [f"</{tag.split()[0]}>" for tag in TAGS]
    + ["word ", '{"@type":"Product","offers":{"price":1}}', "1,5 €", "<!--", "\0", "\ud800", "&#0;", "\xa0"]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(MARKUP, max_size=30).map("".join))
def test_random_markup(html: str) -> None:
    """Any markup gives attributes within the limits."""
    for one in attributes(html):
        assert one.kind in ATTRIBUTE_KINDS
        assert one.value
        assert len(one.name) <= 160
        assert len(one.value) <= 500


@given(st.binary(max_size=300))
def test_random_bytes(body: bytes) -> None:
    """Any bytes give attributes."""
    assert isinstance(observe(body, "text/html", "https://a.test/", EVERY).attributes, list)
