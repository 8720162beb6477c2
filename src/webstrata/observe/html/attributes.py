"""The attributes of an HTML page: what readers, shops and search engines use besides its text and links.

Each kind is read on its own, in document order (docs/reference/attributes.md lists kinds and names). Names contain the
place of an attribute where it has one, so that values of two versions can be put side by side. The numbers and lengths
of attributes are limited. No input raises an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from zlib import crc32

from selectolax.lexbor import LexborHTMLParser, LexborNode

from webstrata.observe.html.links import LinkResolver, srcset_candidates
from webstrata.observe.html.outline import clean
from webstrata.observe.html.products import page_products, product_fields
from webstrata.observe.html.structured_data import StructuredItem, item_values, json_ld_items, microdata_items
from webstrata.observe.kernel.python_links import link_text
from webstrata.records import ATTRIBUTE_KINDS, AttributeKind, PageAttribute

_MAX_OF_KIND = 1_000
_MAX_NAME, _MAX_VALUE = 160, 500
_MAX_OPTIONS = 200
_MAX_FORMS = 100

_ROBOTS = frozenset({"robots", "googlebot", "bingbot"})
_DEFAULT_DIRECTIVES = frozenset({"", "all", "index", "follow"})
_CONTROLS = "input,select,textarea,button"
_BUTTONS = frozenset({"submit", "button", "reset", "image"})
_SECRET_NAME = re.compile(
    r"csrf|xsrf|token|nonce|captcha|honeypot|viewstate|eventvalidation|authenticity|session|timestamp|form_build_id",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(r"(?=.*[0-9])[A-Za-z0-9+/=_.:|-]{16,}|[0-9]{9,}")
"""A token or a time in seconds."""

NameValue = tuple[str, str]


def page_attributes(
    tree: LexborHTMLParser,
    resolver: LinkResolver,
    *,
    title: str = "",
    canonical: str | None = None,
    kinds: Collection[str] = ATTRIBUTE_KINDS,
) -> list[PageAttribute]:
    """The attributes of these kinds, kind by kind, each kind in document order.

    `title` and `canonical` are those of the page's metadata; `resolver` resolves its addresses.
    """
    page = _PageReader(tree, resolver, title, canonical)
    found: list[PageAttribute] = []
    for kind in ATTRIBUTE_KINDS:
        if kind in kinds:
            found += _limited(kind, page.readers[kind]())
    return found


def _limited(kind: AttributeKind, attributes: Iterator[NameValue]) -> list[PageAttribute]:
    """The first attributes of a kind, cut to the maximum length, without empty values."""
    found: list[PageAttribute] = []
    for name, value in attributes:
        if value:
            found.append(PageAttribute(kind, _cut(name, _MAX_NAME), _cut(value, _MAX_VALUE)))
            if len(found) == _MAX_OF_KIND:
                break
    return found


def _cut(text: str, limit: int) -> str:
    """A long text is cut and followed by a checksum, so that a difference at its end is seen."""
    if len(text) <= limit:
        return text
    return f"{text[: limit - 10]}… {crc32(text.encode('utf-8', 'replace')):08x}"


class _PageReader:
    """Reads the attributes of one page, by kind."""

    def __init__(self, tree: LexborHTMLParser, resolver: LinkResolver, title: str, canonical: str | None) -> None:
        self._tree = tree
        self._resolver = resolver
        self._title = title
        self._canonical = canonical
        self.readers: dict[AttributeKind, Callable[[], Iterator[NameValue]]] = {
            "title": lambda: iter([("title", self._title)]),
            "canonical": lambda: iter([("canonical", link_text(self._canonical or ""))]),
            "robots": self._robots,
            "product": self._products,
            "description": self._descriptions,
            "image": self._images,
            "label": self._labels,
            "form": self._forms,
            "structured": lambda: item_values([*self._json_ld, *self._microdata], _MAX_OF_KIND),
        }

    # ── head ────────────────────────────────────────────────────────────────────────────────────────────────

    def _robots(self) -> Iterator[NameValue]:
        """Directives in the head that differ from the defaults, sorted."""
        found: dict[str, set[str]] = {}
        head = self._tree.head
        for node in head.iter() if head is not None else ():
            name = (node.attributes.get("name") or "").strip().lower() if node.tag == "meta" else ""
            if name in _ROBOTS:
                words = (node.attributes.get("content") or "").lower().split(",")
                found.setdefault(name, set()).update(_text(word) for word in words)
        for name, directives in found.items():
            if "none" in directives:
                directives = directives - {"none"} | {"nofollow", "noindex"}
            yield name, ", ".join(sorted(directives - _DEFAULT_DIRECTIVES))

    @cached_property
    def _properties(self) -> dict[str, str]:
        """The first content of each `meta` element by its name or property."""
        found: dict[str, str] = {}
        for node in self._tree.css("meta[content]")[:_MAX_OF_KIND]:
            attributes = node.attributes
            name = (attributes.get("property") or attributes.get("name") or "").strip().lower()
            if name and name not in found:
                found[name] = _text(attributes.get("content") or "")
        return found

    def _descriptions(self) -> Iterator[NameValue]:
        for name in ("description", "og:description"):
            yield name, self._properties.get(name, "")

    # ── structured data ─────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def _json_ld(self) -> list[StructuredItem]:
        return json_ld_items(self._tree)

    @cached_property
    def _microdata(self) -> list[StructuredItem]:
        return microdata_items(self._tree)

    def _products(self) -> Iterator[NameValue]:
        return product_fields(page_products(self._json_ld, self._microdata, self._properties))

    # ── body ────────────────────────────────────────────────────────────────────────────────────────────────

    def _images(self) -> Iterator[NameValue]:
        for node in self._tree.css("img,picture source,input[type=image i]")[:_MAX_OF_KIND]:
            attributes = node.attributes
            source = attributes.get("src") or ""
            if not source or source.startswith("data:"):  # the image is loaded by a script
                source = attributes.get("data-src") or source
            address, alternative = self._address(source), _text(attributes.get("alt") or "")
            key = attributes.get("id") or ""
            place = f":#{key}" if key else f":{_path(address)}" if address else ""
            yield (f"src:#{key}" if key else f"src:{alternative}" if alternative else "src"), address
            yield f"alt{place}", alternative
            candidates = srcset_candidates(attributes.get("srcset") or attributes.get("data-srcset") or "")
            written = [f"{self._address(url)} {descriptor}".strip() for url, descriptor in candidates]
            yield f"srcset{place or _condition(node)}", ", ".join(written)

    def _labels(self) -> Iterator[NameValue]:
        for node in self._tree.css("[aria-label]")[:_MAX_OF_KIND]:
            key = node.attributes.get("id")
            yield f"{node.tag}:#{key}" if key else str(node.tag), _text(node.attributes.get("aria-label") or "")

    def _forms(self) -> Iterator[NameValue]:
        inside: set[int] = set()
        for form in self._tree.css("form")[:_MAX_FORMS]:
            attributes = form.attributes
            action = self._address(attributes.get("action") or "")
            place = _text(attributes.get("id") or attributes.get("name") or "") or _path(action)
            yield f"action:{place}", action
            for node in form.css(_CONTROLS)[:_MAX_OF_KIND]:
                inside.add(node.mem_id)
                yield from _control(node, place)
        for node in self._tree.css(_CONTROLS)[:_MAX_OF_KIND]:
            if node.mem_id not in inside:
                yield from _control(node, "")

    def _address(self, href: str) -> str:
        """An address as it is compared; of a `data` address only its type and a checksum."""
        href = href.strip()
        if href[:5].lower() == "data:":
            return f"{href[:40].partition(',')[0].partition(';')[0]};{crc32(href.encode('utf-8', 'replace')):08x}"
        url = self._resolver.resolve(href) if href else None
        return link_text(url) if url else ""


def _control(node: LexborNode, form: str) -> Iterator[NameValue]:
    """The properties of a form control: type, value or label, placeholder, options, and whether it is disabled."""
    attributes, tag = node.attributes, node.tag or ""
    kind = _text(attributes.get("type") or "").lower() or {"button": "submit", "input": "text"}.get(tag, tag)
    written = attributes.get("value") or ""
    name = _text(attributes.get("name") or attributes.get("id") or "")
    place = f"{form}/{name or kind}" if form else name or kind
    yield f"type:{place}", kind
    if kind in _BUTTONS:
        yield f"label:{place}", _text(node.text() if tag == "button" else written)
    elif tag == "textarea":
        yield f"value:{place}", _text(node.text())
    elif kind != "password" and not (kind == "hidden" and _is_secret(name, written)):
        yield f"value:{place}", _text(written)
    if kind in ("checkbox", "radio") and "checked" in attributes:
        yield f"checked:{place}", _text(written) or "yes"
    yield f"placeholder:{place}", _text(attributes.get("placeholder") or "")
    if tag == "select":
        options = node.css("option")[:_MAX_OPTIONS]
        yield f"options:{place}", " | ".join([_text(option.text()) for option in options])
        chosen = [_text(option.text()) for option in options if "selected" in option.attributes]
        yield f"selected:{place}", " | ".join(chosen)
    yield f"disabled:{place}", "yes" if "disabled" in attributes else ""


def _is_secret(name: str, value: str) -> bool:
    """Whether a hidden value is a token that differs at each visit."""
    return _SECRET_NAME.search(name) is not None or _SECRET_VALUE.fullmatch(value.strip()) is not None


def _condition(node: LexborNode) -> str:
    """What distinguishes a `source` element from its siblings."""
    condition = _text(node.attributes.get("media") or node.attributes.get("type") or "")
    return f":{condition}" if condition else ""


def _path(address: str) -> str:
    """The path of an absolute address; the address itself if it has none."""
    rest = address.partition("://")[2].partition("?")[0]
    return f"/{rest.partition('/')[2]}" if "/" in rest else rest or address


def _text(text: str) -> str:
    return b" ".join(clean(text)).decode()
