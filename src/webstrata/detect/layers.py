"""The layers of a fingerprint, and which of them decides.

`auto` decides by what the page is: its own rules where it has some (`selected`), the canonical data of data formats,
title and body of HTML together with the links in there (`main`), the text of other texts, else the bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from webstrata.records import Fingerprint, PageRules

NAMES = ("raw", "text", "main", "links", "main_links", "data", "selected")
_NO_BODY = "d41d8cd98f00b204e9800998ecf8427e"
"""MD5 of nothing: no main content was found."""


def layer_digest(mark: Fingerprint, layer: str) -> str | None:
    """The digest that stands for a layer; none where the content has no such layer."""
    match layer:
        case "raw":
            return mark.raw
        case "text":
            return mark.text
        case "main":
            return None if mark.parts is None or mark.parts[2] == _NO_BODY else mark.parts[0] + mark.parts[2]
        case "links":
            return mark.links
        case "main_links":
            return mark.main_links
        case "data":
            return mark.data
        case "selected":
            return mark.selected
    return None


def differing(before: Fingerprint, now: Fingerprint) -> dict[str, bool]:
    """Layer -> whether it differs, for the layers that both contents have. Other rules, other version: bytes only."""
    names = NAMES if comparable(before, now) else ("raw",)
    pairs = ((name, layer_digest(before, name), layer_digest(now, name)) for name in names)
    return {name: one != other for name, one, other in pairs if one is not None and other is not None}


def comparable(before: Fingerprint, now: Fingerprint) -> bool:
    return before.version == now.version and (before.data_kind == now.data_kind or before.data is None)


def deciding(mark: Fingerprint, page_rules: PageRules | None) -> Iterator[str]:
    """The layers that may decide about this content, best first; the last is always `raw`."""
    wanted = page_rules.layer if page_rules is not None else "auto"
    if page_rules is not None and (page_rules.include or page_rules.ignore or page_rules.ignore_text):
        yield "selected"
    if wanted not in ("auto", "selected"):
        yield wanted
    if wanted != "raw":
        yield "data"
        yield "main"
        yield "text"
    yield "raw"


def layer_of(fingerprint: Fingerprint, page_rules: PageRules | None = None) -> str:
    """The layer by which this content will be compared with the next."""
    return next(name for name in deciding(fingerprint, page_rules) if layer_digest(fingerprint, name) is not None)
