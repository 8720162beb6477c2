"""Include and ignore rules: selected text, notes, and invalid rules."""

from __future__ import annotations

import time

import pytest

from webstrata.errors import UsageError
from webstrata.observe.rules.select import check_page_rules, has_rules, select
from webstrata.records import PageRules

HTML = """<!doctype html><title>Shop</title><nav>Home</nav>
<main><h1>Lamp</h1><p>Price <b class=price>5</b> EUR</p><div class=ad>Buy <i class=ad>socks</i></div> tail
<a href="/more">more</a></main><script>var secret = 1</script>"""
JSON = '{"made": "2026-01-01", "rows": [{"id": 1, "v": "x"}, {"id": 2, "v": "yy", "tmp": 7}], "π": null}'
XML = '<?xml version="1.0"?><list xmlns="urn:l"><item id="1">one <b>bold</b> end</item><item id="2"/></list>'

SELECTED = [
    # content, media type, rules, text
    (HTML, "text/html", PageRules(include=("css:.price",)), "5"),
    (HTML, "text/html", PageRules(include=("css:.price", "css:h1")), "5\nLamp"),
    (HTML, "text/html", PageRules(include=("css:.ad",)), "Buy socks"),
    (HTML, "text/html", PageRules(include=("css:main",), ignore=("css:.ad",)), "Lamp\nPrice 5 EUR\ntail more"),
    (
        HTML,
        "text/html",
        PageRules(include=("xpath://main",), ignore=("xpath://b",)),
        "Lamp\nPrice EUR\nBuy socks\ntail more",
    ),
    (
        HTML,
        "text/html",
        PageRules(include=("css:main",), ignore=("xpath://*[@class='ad']",)),
        "Lamp\nPrice 5 EUR\ntail more",
    ),
    (
        HTML,
        "text/html",
        PageRules(include=("xpath://a/@href", "xpath:count(//p)", "xpath:string(//h1)")),
        "/more\n1\nLamp",
    ),
    (HTML, "text/html", PageRules(include=("css:p",), ignore_text=(r"\d+",)), "Price EUR"),
    (HTML, "text/html", PageRules(include=("css:main",), ignore_text=(r"^Price.*$",)), "Lamp\nBuy socks\ntail more"),
    (HTML, "text/html", PageRules(include=("css:script",)), ""),
    (
        JSON,
        "application/json",
        PageRules(include=("jsonpath:$.rows[*].id",)),
        '$["rows"][0]["id"]: 1\n$["rows"][1]["id"]: 2',
    ),
    (JSON, "application/json", PageRules(include=("jsonpath:$.rows[?@.id==2].v",)), '$["rows"][1]["v"]: "yy"'),
    (JSON, "application/json", PageRules(include=("jsonpath:$.rows[?match(@.v, 'y+')].id",)), '$["rows"][1]["id"]: 2'),
    (
        JSON,
        "application/json",
        PageRules(ignore=("jsonpath:$.made", "jsonpath:$.rows[0]", "jsonpath:$..tmp", "jsonpath:$['π']")),
        '$["rows"][0]["id"]: 2\n$["rows"][0]["v"]: "yy"',
    ),
    (JSON, "application/ld+json", PageRules(ignore=("jsonpath:$",)), "$: {}"),
    (XML, "application/xml", PageRules(include=("xpath://*[@id='1']",)), "item id=1: one end\nb: bold"),
    (
        XML,
        "application/rss+xml",
        PageRules(ignore=("xpath://*[local-name()='b']",)),
        "list\nitem id=1: one end\nitem id=2",
    ),
    ("a 1\n\nb 2\n", "text/plain", PageRules(ignore_text=(r"\d",)), "a\nb"),
    ("id,v\n1,x\n", "text/csv", PageRules(ignore_text=(r"^id.*",)), "1,x"),
]


@pytest.mark.parametrize(("content", "media_type", "page_rules", "text"), SELECTED)
def test_selected(content: str, media_type: str, page_rules: PageRules, text: str) -> None:
    """The selected text for every format that supports rules."""
    check_page_rules(page_rules)
    found = select(content, media_type, page_rules)
    assert found.text == text
    assert found.digest is not None


NOTED = [
    (HTML, "text/html", PageRules(include=("css:.none",)), "", "css:.none matched nothing"),
    (
        HTML,
        "text/html",
        PageRules(ignore=("xpath://video",), include=("css:h1",)),
        "Lamp",
        "xpath://video matched nothing",
    ),
    (HTML, "text/html", PageRules(include=("jsonpath:$.a",)), None, "not for text/html: jsonpath:$.a"),
    ("{", "application/json", PageRules(include=("jsonpath:$.a",)), None, "not JSON, or nested too deeply"),
    ("[" * 100_000, "application/json", PageRules(include=("jsonpath:$..a",)), None, "not JSON, or nested too deeply"),
    (
        "<a>",
        "application/xml",
        PageRules(include=("xpath://a",)),
        None,
        "not well-formed XML, or it declares entities",
    ),
    ("\x89PNG", "image/png", PageRules(include=("css:p",)), None, "not for image/png: css:p"),
    (
        "<p>" * 30_000,
        "text/html",
        PageRules(include=("css:p",)),
        None,
        "the page is too large or too deep for CSS and XPath",
    ),
]


@pytest.mark.parametrize(("content", "media_type", "page_rules", "text", "note"), NOTED)
def test_notes(content: str, media_type: str, page_rules: PageRules, text: str | None, note: str) -> None:
    """A note names rules that match nothing or do not fit; if no rule fits, the whole content is compared."""
    found = select(content, media_type, page_rules)
    assert found.text == text
    assert found.note is not None
    assert found.note.startswith(note)


WRONG = [
    (PageRules(include=("p",)), "must begin with css:, xpath: or jsonpath:"),
    (PageRules(include=("css:p[",)), "not a supported CSS selector"),
    (PageRules(include=("css:",)), "1 to 500 characters"),
    (PageRules(ignore=("css:" + "a" * 600,)), "1 to 500 characters"),
    (PageRules(include=("xpath://a[",)), "not a supported XPath 1.0"),
    (PageRules(include=("xpath:document('file:///etc/passwd')",)), "Unregistered function"),
    (PageRules(include=("xpath:unparsed-text('/etc/passwd')",)), "Unregistered function"),
    (PageRules(include=("xpath:re:test('a', '(a+)+$')",)), "not a supported XPath 1.0"),
    (PageRules(include=("xpath://*[//*[//*[//*[//*]]]]",)), "more than 4 times"),
    (PageRules(include=("jsonpath:$.[",)), "not a JSONPath"),
    (PageRules(include=("jsonpath:$[?@.a =~ /(a+)+$/]",)), "not a JSONPath"),
    (PageRules(include=("jsonpath:$[?env('HOME')]",)), "not a JSONPath"),
    (PageRules(ignore_text=("(a",)), "missing )"),
    (PageRules(ignore_text=("(?=a)",)), "Look-around"),
    (PageRules(ignore_text=(r"(a)\1",)), "back-references"),
    (PageRules(ignore_text=("a{1000}{1000}",)), "not a regular expression"),
    (PageRules(ignore_text=("x",) * 51), "at most 50 rules"),
    (PageRules(layer="pixels"), "not a layer"),
    (PageRules(handler="gopher"), "not a handler"),
    (PageRules(min_size=1.5), "from 0 to 1"),
    (PageRules(ordered=True, unordered=True), "not both"),
    (PageRules(attributes=("colour",)), "'colour' is not a kind of attribute; use some of title, canonical, robots"),
    (PageRules(ignore_attributes=("links",)), "not a kind of attribute"),
    (PageRules(attributes=("image", "form"), ignore_attributes=("form",)), "--ignore-attributes for form, not both"),
]


@pytest.mark.parametrize(("page_rules", "reason"), WRONG)
def test_invalid_rules_are_refused(page_rules: PageRules, reason: str) -> None:
    """Every invalid rule is refused with the reason."""
    with pytest.raises(UsageError) as told:
        check_page_rules(page_rules)
    assert reason in str(told.value)
    assert "\n" not in str(told.value)


def test_regular_expressions_cannot_be_slow() -> None:
    """Expressions with catastrophic backtracking take linear time, in texts and in JSON."""
    started = time.perf_counter()
    text = "a" * 50_000 + "!"
    for expression in ("(a+)+$", "(a|aa)+$", "(.*)*x", "(a|a?)+$"):
        select(text, "text/plain", PageRules(ignore_text=(expression,)))
        select(
            f'[{{"v": "{text}"}}]',
            "application/json",
            PageRules(include=(f"jsonpath:$[?search(@.v, '{expression}')]",)),
        )
    assert time.perf_counter() - started < 5


def test_entities_are_refused() -> None:
    """An external entity is not loaded and an entity bomb is refused."""
    external = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'
    bomb = (
        '<!DOCTYPE a [<!ENTITY a "ha">'
        + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
        + "]><a>&j;</a>"
    )
    for content in (external, bomb):
        found = select(content, "application/xml", PageRules(include=("xpath:string(//a)",)))
        assert len(found.text or "") < 100
        assert "root:" not in (found.text or "")


def test_pages_without_rules() -> None:
    """Content is selected only if there are include or ignore rules."""
    assert not has_rules(None)
    assert not has_rules(PageRules(layer="text", min_size=0.5))
    assert has_rules(PageRules(ignore_text=("x",)))


ROWS = "<ul><li>one</li><li>two</li><li>three</li></ul><p class=x>four</p>"


@pytest.mark.parametrize(
    "rules",
    [
        ("css:li:nth-child(1)", "css:li:nth-child(2)"),
        ("css:li:nth-child(2)", "css:li:nth-child(1)"),
        ("css:li:nth-child(1)", "xpath://li[2]"),
        ("xpath://li[2]", "css:li:nth-child(1)"),
        ("xpath://li[1]", "xpath://li[2]"),
    ],
)
def test_ignore_rules_apply_to_the_whole_page(rules: tuple[str, ...]) -> None:
    """Each rule is applied to the unchanged page: the result does not depend on the order of rules."""
    assert select(ROWS, "text/html", PageRules(ignore=rules)).text == "three\nfour"


def test_xml_rules_apply_to_the_whole_document() -> None:
    """Each XPath rule is applied to the unchanged XML document."""
    found = select("<a><b>1</b><b>2</b><b>3</b></a>", "text/xml", PageRules(ignore=("xpath:/a/b[1]", "xpath:/a/b[2]")))
    assert found.text == "a\nb: 3"


def test_nested_matches() -> None:
    """If rules match an element and its ancestor, the ancestor is removed, in either order of rules."""
    for rules in (("css:ul", "css:li"), ("css:li", "css:ul"), ("css:ul", "xpath://li")):
        assert select(ROWS, "text/html", PageRules(ignore=rules)).text == "four"
