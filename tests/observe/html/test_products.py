"""Products: prices, currencies and availabilities in one spelling, and the fields of a page's products."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.observe.html.products import currency_in, normal_availability, normal_currency, normal_price
from webstrata.observe.page import observe


@pytest.mark.parametrize(
    ("written", "price"),
    [
        ("1299", "1299.00"),
        ("1299.5", "1299.50"),
        ("1.299", "1.299"),
        ("0099.90", "99.90"),
        ("0", "0.00"),
        ("1.299,00 €", "1299.00"),
        ("€ 1,299.00", "1299.00"),
        ("1.299 €", "1299.00"),
        ("1,299", "1299.00"),
        ("0,999 €", "0.999"),
        ("12,5", "12.50"),
        ("1\u00a0299,00 kr", "1299.00"),
        ("1'299.00 CHF", "1299.00"),
        ("CHF 1\u2019234\u2019567.5", "1234567.50"),
        ("1.234.567", "1234567.00"),
        ("$4.99*", "4.99"),
        ("99,-", "99.00"),
        ("", ""),
        ("on request", "on request"),
        ("10 - 20 €", "10 - 20 €"),
        ("2 for 10", "2 for 10"),
    ],
)
def test_prices(written: str, price: str) -> None:
    """Prices of many countries become decimal numbers; what is no single number is kept."""
    assert normal_price(written) == price


@given(st.integers(0, 10**9), st.integers(0, 99), st.sampled_from([(".", ","), (",", "."), (" ", ","), ("'", ".")]))
def test_prices_with_both_separators(whole: int, cents: int, separators: tuple[str, str]) -> None:
    """A price with two decimals is found in each notation of thousands, and its result is its own result."""
    written = f"{whole:,}".replace(",", separators[0]) + f"{separators[1]}{cents:02} €"
    assert normal_price(written) == f"{whole}.{cents:02}"
    assert normal_price(normal_price(written)) == normal_price(written)


@given(st.text(max_size=40) | st.text(alphabet="0123456789., '€$x", max_size=30))
def test_any_text_is_accepted(text: str) -> None:
    """Any text gives a price, a currency and an availability."""
    price = normal_price(text)
    assert normal_price(price) == price
    assert re.fullmatch(r"[A-Z]{3}|", normal_currency(text))
    assert normal_availability(normal_availability(text)) == normal_availability(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [("EUR", "EUR"), (" usd ", "USD"), ("€", "EUR"), ("5 US$", "USD"), ("A$ 5", "AUD"), ("5 zł", "PLN"), ("5 kr", ""),
     ("CHF 5", "CHF"), ("HELLO", ""), ("$5", "USD")],
)  # fmt: skip
def test_currencies(text: str, code: str) -> None:
    """Currencies are ISO codes, also from signs in a price."""
    assert normal_currency(text) == code
    assert currency_in(f"1 {text.strip().upper() if code == text.strip().upper() else text}") == code


@pytest.mark.parametrize(
    ("written", "name"),
    [("https://schema.org/InStock", "InStock"), ("http://schema.org/OutOfStock/", "OutOfStock"),
     ("in stock", "InStock"), ("PRE_ORDER", "PreOrder"), ("oos", "OutOfStock"), ("ask us", "ask us"), ("", "")],
)  # fmt: skip
def test_availabilities(written: str, name: str) -> None:
    """Availabilities have schema.org's short names; unknown ones are kept."""
    assert normal_availability(written) == name


def fields(html: str) -> dict[str, str]:
    content = observe(html.encode(), "text/html; charset=utf-8", "https://shop.test/lamp")
    found = [one for one in content.attributes if one.kind == "product"]
    assert len({one.name for one in found}) == len(found)
    return {one.name: one.value for one in found}


def script(data: Any) -> str:
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


OFFER = {"@type": "Offer", "price": "19.9", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}
LAMP = {"@context": "https://schema.org", "@type": "Product", "name": "Lamp &amp; shade", "sku": "A-1", "offers": OFFER}
FOUND = {"name": "Lamp & shade", "sku": "A-1", "price": "19.90", "currency": "EUR", "availability": "InStock"}
MICRODATA = """<div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">Lamp</h1>
<meta itemprop="sku" content="A-1"><div itemprop="offers" itemscope itemtype="https://schema.org/Offer">
<span itemprop="price" content="19.90">19,90 €</span><meta itemprop="priceCurrency" content="EUR">
<link itemprop="availability" href="https://schema.org/InStock"></div></div>"""


@pytest.mark.parametrize(
    "data",
    [
        LAMP,
        [LAMP],
        {"@graph": [{"@type": "WebPage", "name": "x"}, LAMP]},
        {"@type": "ItemPage", "mainEntity": LAMP},
        LAMP | {"@type": ["Thing", "Product"], "isSimilarTo": LAMP | {"sku": "B-2"}},
        LAMP | {"offers": [OFFER]},
        LAMP | {"offers": {"@type": "Offer", "availability": "InStock", "priceSpecification": OFFER}},
        LAMP | {"@type": "https://schema.org/Product"},
        LAMP | {"@type": "Book"},
        OFFER | {"itemOffered": {"@type": "Service", "name": "Lamp & shade", "sku": "A-1"}},
    ],
)
def test_json_ld(data: Any) -> None:
    """One product has plain names, wherever it stands in the data; similar products are not read."""
    assert fields(script(data)) == FOUND


def test_aggregate_offer() -> None:
    """An aggregate offer has a range of prices."""
    offer = {"@type": "AggregateOffer", "lowPrice": 5, "highPrice": "7,50", "priceCurrency": "USD"}
    found = fields(script({"@type": "Product", "name": "Lamp", "offers": offer}))
    assert found == {"name": "Lamp", "low_price": "5.00", "high_price": "7.50", "currency": "USD"}


def test_several_products() -> None:
    """Fields of several products and offers are keyed by article number, name or URL."""
    items = [LAMP, {"@type": "Product", "name": "Shade", "offers": [OFFER, {"@type": "Offer", "price": 3}]},
             {"@type": "Product", "url": "https://shop.test/x", "offers": {"price": "1"}}]  # fmt: skip
    listed = {"@type": "ItemList", "itemListElement": [{"@type": "ListItem", "item": item} for item in items]}
    found = fields(script(listed))
    prices = {name: value for name, value in found.items() if name.startswith("price:")}
    assert prices == {
        "price:A-1": "19.90",
        "price:Shade": "19.90",
        "price:Shade#2": "3.00",
        "price:https://shop.test/x": "1.00",
    }
    assert found["name:A-1"] == "Lamp & shade"


def test_variants() -> None:
    """Variants of a product group are products with their own article numbers."""
    variants = [LAMP | {"sku": number, "name": "Lamp"} for number in ("S", "M")]
    found = fields(script({"@type": "ProductGroup", "name": "Lamps", "hasVariant": variants}))
    assert (found["price:S"], found["price:M"], found["name:Lamps"]) == ("19.90", "19.90", "Lamps")


def test_microdata() -> None:
    """Microdata is read where JSON-LD has no product, and products are not read twice."""
    assert fields(MICRODATA) == FOUND | {"name": "Lamp"}
    assert fields(script({"@type": "WebSite"}) + MICRODATA) == FOUND | {"name": "Lamp"}
    assert fields(MICRODATA + script(LAMP)) == FOUND


def test_microdata_text() -> None:
    """A price in the text gives number and currency."""
    text = MICRODATA.replace(' content="19.90"', "").replace('<meta itemprop="priceCurrency" content="EUR">', "")
    assert fields(text) == FOUND | {"name": "Lamp"}


def test_open_graph() -> None:
    """Open Graph alone describes a product, and completes the structured data of one product."""
    graph = """<meta property="og:title" content="Lamp"><meta property="product:price:amount" content="19,90">
    <meta property="product:price:currency" content="EUR"><meta property="og:availability" content="instock">"""
    expected = {"name": "Lamp", "price": "19.90", "currency": "EUR", "availability": "InStock"}
    assert fields(graph) == expected
    assert fields(graph + script({"@type": "Product", "sku": "A-1", "name": "A lamp"})) == expected | {
        "sku": "A-1",
        "name": "A lamp",
    }
    assert fields('<meta property="og:title" content="No product">') == {}


def test_a_changed_price_is_a_changed_value() -> None:
    """Two versions differ in the value of one field."""
    before, after = fields(script(LAMP)), fields(script(LAMP | {"offers": OFFER | {"price": 4.99}}))
    assert {name: (value, after[name]) for name, value in before.items() if after[name] != value} == {
        "price": ("19.90", "4.99")
    }
