"""Structured data of an HTML page: JSON-LD and microdata, as items with properties.

Properties are read as written: contexts are not loaded and IRIs are not resolved, because the values are shown to
readers and compared with those of other versions of the same page. Malformed JSON is repaired where that is cheap
(comments, CDATA marks, trailing commas), and ignored otherwise. All work is bounded: the length of the scripts, the
number of items and properties, the depth of nesting.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser, LexborNode

from webstrata.observe.html.outline import clean

_MAX_SCRIPTS = 50
_MAX_SCRIPT_LENGTH = 1_000_000
"""Characters of all JSON-LD of a page."""
_MAX_PROPERTIES = 5_000
_MAX_DEPTH = 16
_MAX_NODES = 3_000
"""Elements with microdata."""
_MAX_TEXT = 2_000_000
"""Characters read as values of microdata."""
_MAX_ANCESTORS = 100

_JSON_LD = 'script[type*="ld+json" i]'
# One pass: strings are kept; comments and commas before a closing bracket are removed. Every part is linear.
_NOT_JSON = re.compile(
    r"(\"(?:[^\"\\]|\\.)*+\"?)|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|//[^\n]*+|,(?=\s*+[}\]])|<!\[CDATA\[|\]\]>|<!--|-->",
    re.DOTALL,
)
_ADDRESSES = {
    "a": "href",
    "area": "href",
    "audio": "src",
    "data": "value",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "link": "href",
    "meter": "value",
    "object": "data",
    "source": "src",
    "track": "src",
    "video": "src",
}
"""Elements whose microdata value is an attribute."""


class StructuredItem(Struct):
    """An item: its type (`Product`, without the vocabulary) and its properties in document order."""

    type: str
    properties: list[tuple[str, StructuredItem | str]]

    def first(self, *names: str) -> str:
        """The first text among these properties, in the order of the names; empty if there is none."""
        for name in names:
            for key, value in self.properties:
                if key == name and isinstance(value, str) and value:
                    return value
        return ""

    def items(self, *names: str) -> Iterator[StructuredItem]:
        """The items that are values of these properties; of all properties without names."""
        for key, value in self.properties:
            if isinstance(value, StructuredItem) and (not names or key in names):
                yield value


def item_values(items: list[StructuredItem], limit: int) -> Iterator[tuple[str, str]]:
    """Path and value of each property, as `Product.offers.price`; a path can occur several times. At most `limit`."""
    left = limit
    stack: list[Iterator[tuple[str, StructuredItem | str]]] = [iter([(item.type, item) for item in items])]
    while stack and left > 0:
        for path, value in stack[-1]:
            if isinstance(value, StructuredItem):
                stack.append(iter([(f"{path}.{name}", inner) for name, inner in value.properties]))
                break
            left -= 1
            yield path, value
            if left <= 0:
                break
        else:
            stack.pop()


def type_name(name: str) -> str:
    """The last part of a type's IRI or prefixed name: `Product` of `https://schema.org/Product`."""
    return re.split(r"[/#:]", name.strip().rstrip("/#"))[-1][:100]


# ── JSON-LD ─────────────────────────────────────────────────────────────────────────────────────────────────


def json_ld_items(tree: LexborHTMLParser) -> list[StructuredItem]:
    """The top-level items of the JSON-LD scripts. Never raises."""
    length = 0
    found: list[StructuredItem] = []
    budget = _Budget(_MAX_PROPERTIES)
    for script in tree.css(_JSON_LD)[:_MAX_SCRIPTS]:
        text = script.text()
        length += len(text)
        if length > _MAX_SCRIPT_LENGTH:
            break
        for item in _parsed(text, budget):
            graph = list(item.items("@graph"))
            found += graph or [item]
    return found


def _parsed(text: str, budget: _Budget) -> list[StructuredItem]:
    for repaired in (False, True):
        source = _NOT_JSON.sub(lambda match: match[1] or "", text).strip(" \t\r\n;") if repaired else text
        try:
            value = json.loads(source, strict=False, parse_float=str, parse_int=str, parse_constant=str)
        except (ValueError, RecursionError):
            continue
        return [item for item in _values(value, budget, 0) if isinstance(item, StructuredItem)]
    return []


class _Budget:
    """The number of properties that may still be read."""

    def __init__(self, left: int) -> None:
        self.left = left


def _values(value: Any, budget: _Budget, depth: int) -> Iterator[StructuredItem | str]:
    """The items and texts of a JSON value; lists and JSON-LD's containers are flattened."""
    if depth > _MAX_DEPTH or budget.left <= 0:
        return
    if isinstance(value, list):
        for one in value:
            yield from _values(one, budget, depth + 1)
    elif isinstance(value, dict):
        for container in ("@value", "@list", "@set"):
            if container in value:
                yield from _values(value[container], budget, depth + 1)
                return
        yield _item(value, budget, depth)
    elif value is not None:
        budget.left -= 1
        yield str(value).lower() if isinstance(value, bool) else _text(str(value))


def _item(value: dict[str, Any], budget: _Budget, depth: int) -> StructuredItem:
    types = value.get("@type", value.get("type"))
    first = next((one for one in (types if isinstance(types, list) else [types]) if isinstance(one, str)), "")
    item = StructuredItem(type_name(first) or "item", [])
    for name, content in value.items():
        if name not in ("@context", "@type"):
            item.properties += [(_text(name)[:100], one) for one in _values(content, budget, depth + 1)]
    return item


# ── microdata ───────────────────────────────────────────────────────────────────────────────────────────────


def microdata_items(tree: LexborHTMLParser) -> list[StructuredItem]:
    """The top-level items of the page's microdata. References by `itemref` are not followed."""
    found: list[StructuredItem] = []
    items: dict[int, tuple[StructuredItem, int]] = {}  # the depth is that of nested items
    read = 0
    nodes = {node.mem_id: node for node in tree.css("[itemscope],[itemprop]")}  # those that match both come twice
    for node in list(nodes.values())[:_MAX_NODES]:
        attributes = node.attributes
        names = (attributes.get("itemprop") or "").split()[:4]
        owner, depth = _owner(node, items) if names else (None, 0)
        value: StructuredItem | str
        if "itemscope" in attributes:
            value = StructuredItem(type_name((attributes.get("itemtype") or "").split(" ")[0]) or "item", [])
            items[node.mem_id] = (value, depth + 1)
            if owner is None:
                found.append(value)
        elif owner is not None:
            value = _microdata_value(node)
            read += len(value)
        if owner is not None and depth < _MAX_DEPTH:
            owner.properties += [(type_name(name), value) for name in names]
        if read > _MAX_TEXT:
            break
    return found


def _owner(node: LexborNode, items: dict[int, tuple[StructuredItem, int]]) -> tuple[StructuredItem | None, int]:
    """The item that a property belongs to: that of the nearest ancestor with `itemscope`."""
    ancestor = node.parent
    for _ in range(_MAX_ANCESTORS):
        if ancestor is None:
            break
        if ancestor.mem_id in items:
            return items[ancestor.mem_id]
        ancestor = ancestor.parent
    return None, 0


def _microdata_value(node: LexborNode) -> str:
    attributes, tag = node.attributes, node.tag or ""
    if attributes.get("content") is not None:
        return _text(attributes["content"] or "")
    if tag in _ADDRESSES:
        return _text(attributes.get(_ADDRESSES[tag]) or "")
    if tag == "time" and attributes.get("datetime"):
        return _text(attributes["datetime"] or "")
    return _text(node.text())


def _text(text: str) -> str:
    return b" ".join(clean(unescape(text) if "&" in text else text)).decode()
