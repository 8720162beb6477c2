"""Products of an HTML page: name, price, currency, availability and article number, in one spelling.

They are read from JSON-LD and microdata (`Product`, `Offer`, `AggregateOffer` and every item that has offers) and from
the Open Graph properties of products. Prices are decimal numbers with a point, currencies are ISO 4217 codes,
availabilities are the names of schema.org.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from webstrata.observe.html.structured_data import StructuredItem, type_name

_MAX_PRODUCTS = 500
_MAX_OFFERS = 50
_MAX_DEPTH = 8
_MAX_KEY = 120

_PRODUCTS = frozenset(
    {"Product", "ProductModel", "ProductGroup", "IndividualProduct", "SomeProducts", "Vehicle", "Car"}
)
_OFFERS = frozenset({"Offer", "AggregateOffer", "OfferForPurchase", "OfferForLease"})
_NUMBERS = ("sku", "productID", "mpn", "gtin", "gtin13", "gtin14", "gtin12", "gtin8", "isbn")

_CURRENCY_CODES = frozenset(
    """AED ARS AUD BGN BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP GEL HKD HRK HUF IDR ILS INR ISK JPY KES KRW KWD MAD
    MXN MYR NGN NOK NZD PEN PHP PKR PLN QAR RON RSD RUB SAR SEK SGD THB TND TRY TWD UAH USD VND ZAR""".split()  # noqa: SIM905
)
_CURRENCY_SIGNS = {
    "US$": "USD", "A$": "AUD", "AU$": "AUD", "C$": "CAD", "CA$": "CAD", "NZ$": "NZD", "HK$": "HKD", "S$": "SGD",
    "R$": "BRL", "CN¥": "CNY", "元": "CNY", "円": "JPY", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₽": "RUB",
    "₩": "KRW", "₺": "TRY", "₴": "UAH", "₪": "ILS", "฿": "THB", "₫": "VND", "₱": "PHP", "₦": "NGN", "zł": "PLN",
    "Kč": "CZK", "Ft": "HUF", "лв": "BGN", "руб": "RUB", "lei": "RON", "Fr.": "CHF", "Euro": "EUR", "$": "USD",
}  # fmt: skip
"""Longer signs come before the signs that they contain. `kr` stands for several currencies and is not one of them."""
_AVAILABILITIES = {
    name.lower(): name
    for name in """BackOrder Discontinued InStock InStoreOnly LimitedAvailability MadeToOrder OnlineOnly OutOfStock
    PreOrder PreSale Reserved SoldOut""".split()  # noqa: SIM905
} | {"oos": "OutOfStock", "available": "InStock", "unavailable": "OutOfStock"}

_THOUSANDS = re.compile("(?<=[0-9])[ \u00a0\u2009\u202f'\u2019](?=[0-9]{3}(?![0-9]))")
"""A space or an apostrophe between groups of digits."""
_CODE = re.compile(r"(?<![A-Z])[A-Z]{3}(?![A-Z])")
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_PLAIN = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_MAX_PRICE_TEXT = 200


class PageProduct(Struct, frozen=True, gc=False):
    """One product or offer: its key (article number, name or URL), and its fields in the order to show."""

    key: str
    fields: tuple[tuple[str, str], ...]


def page_products(
    json_ld: list[StructuredItem], microdata: list[StructuredItem], properties: Mapping[str, str]
) -> list[PageProduct]:
    """The products of a page. `properties` are its Open Graph properties by their names in lower case.

    Microdata is used where JSON-LD has no product, because most shops write the same products twice. Open Graph
    describes one product: it adds the fields that the structured data of one product leaves out.
    """
    found = _of_items(json_ld) or _of_items(microdata)
    graph = _of_properties(properties)
    if graph is None or len(found) > 1:
        return found
    known = dict(found[0].fields) if found else {}
    fields = known | {name: value for name, value in graph.fields if name not in known}
    return [PageProduct(found[0].key if found else graph.key, tuple(fields.items()))]


def _of_items(items: list[StructuredItem]) -> list[PageProduct]:
    found: dict[PageProduct, None] = {}
    for item in _product_items(items):
        found |= dict.fromkeys(_of_item(item))
        if len(found) >= _MAX_PRODUCTS:
            break
    return [product for product in found if product.fields][:_MAX_PRODUCTS]


def product_fields(products: list[PageProduct]) -> Iterator[tuple[str, str]]:
    """Name and value of each field; with several products the name is followed by the key: `price:A-17`."""
    for product in products:
        place = f":{product.key}" if len(products) > 1 and product.key else ""
        for name, value in product.fields:
            yield name + place, value


def _product_items(items: list[StructuredItem]) -> Iterator[StructuredItem]:
    """Products and offers, also inside lists and other items, but not those that a product mentions."""
    stack = [(item, 0) for item in reversed(items)]
    while stack:
        item, depth = stack.pop()
        is_product = item.type in _PRODUCTS or item.type in _OFFERS or next(item.items("offers"), None) is not None
        if is_product:
            yield item
        inner = item.items("hasVariant") if is_product else item.items()
        if depth < _MAX_DEPTH:
            stack += [(one, depth + 1) for one in reversed(list(inner))]


def _of_item(item: StructuredItem) -> list[PageProduct]:
    """One product for each offer of an item; one without a price if it has no offers."""
    offered = next(item.items("itemOffered"), item) if item.type in _OFFERS else item
    number, name = offered.first(*_NUMBERS) or item.first(*_NUMBERS), offered.first("name") or item.first("name")
    key = number or name or offered.first("url", "@id") or item.first("url", "@id")
    offers = [item] if item.type in _OFFERS else list(item.items("offers"))[:_MAX_OFFERS]
    found = []
    for index, offer in enumerate(offers or [item]):
        own = offer.first(*_NUMBERS)
        place = own or (key if index == 0 else f"{key}#{index + 1}")
        fields = [("name", name), ("sku", own or number), *_price_fields(offer)]
        found.append(PageProduct(place[:_MAX_KEY], _filled(fields)))
    return found


def _price_fields(offer: StructuredItem) -> list[tuple[str, str]]:
    specification = next(offer.items("priceSpecification"), None) or StructuredItem("", [])
    written = [offer.first(name) for name in ("price", "lowPrice", "highPrice")]
    price, low, high = written if any(written) else [specification.first("price"), "", ""]
    given = offer.first("priceCurrency") or specification.first("priceCurrency")
    return [
        ("price", normal_price(price)),
        ("low_price", normal_price(low)),
        ("high_price", normal_price(high)),
        ("currency", normal_currency(given) or currency_in(price or low or high)),
        ("availability", normal_availability(offer.first("availability"))),
    ]


def _of_properties(properties: Mapping[str, str]) -> PageProduct | None:
    def first(*names: str) -> str:
        return next((properties[name] for name in names if properties.get(name)), "")

    price = first("product:sale_price:amount", "product:price:amount", "og:price:amount", "product:price")
    currency = first("product:sale_price:currency", "product:price:currency", "og:price:currency")
    availability = first("product:availability", "og:availability")
    if not price and not availability:
        return None
    number = first("product:retailer_item_id", "product:sku", "product:mfr_part_no")
    name = first("og:title")
    fields = [
        ("name", name),
        ("sku", number),
        ("price", normal_price(price)),
        ("currency", normal_currency(currency) or currency_in(price)),
        ("availability", normal_availability(availability)),
    ]
    return PageProduct((number or name or first("og:url"))[:_MAX_KEY], _filled(fields))


def _filled(fields: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in fields if value)


# ── spellings ───────────────────────────────────────────────────────────────────────────────────────────────


def normal_price(text: str) -> str:
    """A price as a decimal number with at least two decimals: `1299.00` of `1.299,00 €`.

    A text without a number, or with several, is returned as it is.
    """
    text = text.strip()[:_MAX_PRICE_TEXT]
    if _PLAIN.fullmatch(text):
        return _decimal(text)
    numbers = _NUMBER.findall(_THOUSANDS.sub("", text))
    if len(numbers) != 1:
        return text
    number = numbers[0]
    last = max(number.rfind("."), number.rfind(","))
    if last < 0:
        return _decimal(number)
    separator, decimals = number[last], number[last + 1 :]
    is_mixed = "." in number and "," in number
    # A separator that occurs twice, or alone before exactly three digits, separates thousands, unless a 0 is before it.
    is_thousands = number.count(separator) > 1 or (len(decimals) == 3 and not is_mixed and number[0] != "0")
    digits = number.replace(".", "").replace(",", "")
    return _decimal(digits if is_thousands else f"{digits[: len(digits) - len(decimals)]}.{decimals}")


def _decimal(number: str) -> str:
    whole, _, decimals = number.partition(".")
    return f"{whole.lstrip('0') or '0'}.{decimals.rstrip('0').ljust(2, '0')}"


def normal_currency(text: str) -> str:
    """The ISO code of a currency; empty if it is unknown."""
    code = text.strip().upper()
    return code if len(code) == 3 and code.isascii() and code.isalpha() else currency_in(text)


def currency_in(text: str) -> str:
    """The ISO code of the currency that a price names by code or sign; empty if there is none."""
    text = text[:_MAX_PRICE_TEXT]
    code = next((word for word in _CODE.findall(text) if word in _CURRENCY_CODES), "")
    return code or next((code for sign, code in _CURRENCY_SIGNS.items() if sign in text), "")


def normal_availability(text: str) -> str:
    """The short name of an availability: `InStock` of `https://schema.org/InStock` and of `in stock`."""
    name = type_name(text) if "://" in text else text.strip()
    return _AVAILABILITIES.get(re.sub(r"[\s_-]+", "", name).lower(), name)
