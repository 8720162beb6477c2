"""JSON-LD and microdata as items, also from malformed and hostile markup."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from webstrata.observe.html.structured_data import item_values, json_ld_items, microdata_items, type_name


def values(text: str, limit: int = 1000) -> list[tuple[str, str]]:
    tree = LexborHTMLParser(f'<script type="application/ld+json">{text}</script>', scripting=True)
    return list(item_values(json_ld_items(tree), limit))


def microdata(html: str) -> list[tuple[str, str]]:
    return list(item_values(microdata_items(LexborHTMLParser(html, scripting=True)), 1000))


EVENT = '{"@type": "schema:Event", "name": "Talk", "location": {"@type": "Place", "name": "Hall"}, "free": true}'
FLAT = [("Event.name", "Talk"), ("Event.location.name", "Hall"), ("Event.free", "true")]


@pytest.mark.parametrize(
    "text",
    [
        EVENT,
        f"\n<!-- {EVENT} -->",
        f"//<![CDATA[\n{EVENT}\n//]]>",
        f"/* <![CDATA[ */ {EVENT}; /* ]]> */",
        EVENT.replace("}", ", }"),
        EVENT.replace('"free"', '/* a, } */ "free"'),
        EVENT.replace('"free"', '// x"\n "free"'),
        EVENT.replace("Talk", "Ta\u200blk\t").replace("\u200b", ""),
        '{"@graph": [' + EVENT + "]}",
        "[[" + EVENT + "], null, 7]",
    ],
)
def test_json_ld(text: str) -> None:
    """Paths and values are found also in comments, CDATA marks, with trailing commas and control characters."""
    assert values(text) == FLAT


@pytest.mark.parametrize("text", ["", "{", "[1,", '"x"', "null", "{]", "[" * 100_000, '{"a":' * 5_000, "{'a': 1}"])
def test_malformed_json_ld_is_ignored(text: str) -> None:
    """Malformed scripts have no values."""
    assert values(text) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"@value": "x", "@language": "en"}, ["x"]),
        ({"@list": [1, 2.50, None]}, ["1", "2.5"]),
        (["a", ["b"]], ["a", "b"]),
        (10**400, ["1" + "0" * 400]),
        ("A &amp; B\n c", ["A & B c"]),
    ],
)
def test_values(value: Any, expected: list[str]) -> None:
    """Containers are flattened, numbers keep their digits, texts are unescaped and cleaned."""
    assert values(json.dumps({"@type": "Thing", "p": value})) == [("Thing.p", one) for one in expected]


def test_repair_keeps_strings() -> None:
    """What looks like a comment or a trailing comma inside a string is kept."""
    assert values('{"a": "http://x,}/*y*/<!--",}') == [("item.a", "http://x,}/*y*/<!--")]


def test_limits() -> None:
    """The number of values and the depth are limited."""
    assert len(values(json.dumps([{"a": list(range(9_000))}]), 10_000)) == 5_000
    assert len(values(json.dumps({"a": list(range(50))}), 7)) == 7
    deep: Any = "x"
    for _ in range(40):
        deep = {"a": deep}
    assert values(json.dumps(deep)) == []


def test_microdata() -> None:
    """Items are nested by their elements; values are attributes or texts."""
    html = """<div itemscope itemtype="https://schema.org/Event other"><b itemprop="name title">A  talk</b>
    <time itemprop=startDate datetime=2024-05-06>6 May</time><a itemprop=url href=/x>link</a>
    <div itemprop=location itemscope><data itemprop=seats value=40>forty</data></div>
    <img itemprop=image src=/i.png alt=x>
    <p itemscope itemtype=https://schema.org/Person><i itemprop=name>Ann</i></p></div>
    <i itemprop=lost>x</i>"""
    assert microdata(html) == [
        ("Event.name", "A talk"),
        ("Event.title", "A talk"),
        ("Event.startDate", "2024-05-06"),
        ("Event.url", "/x"),
        ("Event.location.seats", "40"),
        ("Event.image", "/i.png"),
        ("Person.name", "Ann"),
    ]


def test_deep_microdata() -> None:
    """Deeply nested items are cut, within the work that the limits allow."""
    nested = "<div itemscope itemprop=a><b itemprop=b>x</b>" * 2_000
    assert len(microdata(nested)) < 100


@pytest.mark.parametrize(
    ("name", "short"),
    [("https://schema.org/Product", "Product"), ("schema:Offer", "Offer"), ("x#Y", "Y"), ("Thing", "Thing"), ("", "")],
)
def test_type_names(name: str, short: str) -> None:
    """Types are named without their vocabulary."""
    assert type_name(name) == short


PIECES = st.sampled_from(['{"@type":"Product"', '"offers":', "[", "]", "{", "}", ",", '"a"', ":", "1e999", "NaN", "//",
                          "/*", "*/", '"', "\\", "<!--", "-->", "]]>", "@graph", "\0", "\ud800"])  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["@type", "@graph", "@value", "@list", "offers", "name", "price"]), inner, max_size=4
        )
    ),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=20).map("".join) | JSON.map(json.dumps) | st.text(max_size=60))
def test_no_script_raises(text: str) -> None:
    """Any script gives texts with paths."""
    assert all(isinstance(path, str) and isinstance(value, str) for path, value in values(text))
