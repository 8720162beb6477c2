"""Header fields of content negotiation: media types, qualities of an Accept header, and Link headers (RFC 8288)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from webstrata import urls

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_MEDIA_TYPE = re.compile(rf"\s*({_TOKEN}/{_TOKEN})\s*(?:;|,|$)")
_QUALITY = re.compile(r";\s*q\s*=\s*(\d(?:\.\d*)?)", re.IGNORECASE)
_LINK = re.compile(r'<([^<>]*)>((?:\s*;\s*[^\s=;,"<>]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s";,<>]*))?)*)')
_LINK_PARAMETER = re.compile(r';\s*([^\s=;,"<>]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,<>]*)))?')
_MAX_LINK_HEADER = 65_536
_MAX_LINKS = 200


class HeaderLink(Struct, frozen=True, kw_only=True):
    """A link of a Link header."""

    url: str
    rels: frozenset[str]
    type: str = ""


def bare_type(content_type: str | None) -> str:
    """The media type of a Content-Type without parameters, in lower case; empty if there is no valid one.

    `text` and `text/a/b` are no media types: such a header counts as missing.
    """
    match = _MEDIA_TYPE.match(content_type or "")
    return match[1].lower() if match else ""


def accept_quality(media_type: str, accept: str) -> float:
    """The quality (0 to 1) that an Accept header gives to a media type: of the type itself, else of a wildcard."""
    qualities: dict[str, float] = {}
    for media_range in accept.split(","):
        quality = _QUALITY.search(media_range)
        # Some clients send `*` in place of `*/*`.
        name = "*/*" if media_range.partition(";")[0].strip() == "*" else bare_type(media_range)
        qualities[name] = min(float(quality[1]), 1.0) if quality is not None else 1.0
    wildcard = f"{media_type.partition('/')[0]}/*"
    return next((qualities[name] for name in (media_type, wildcard, "*/*") if name in qualities), 0.0)


def parse_links(headers: Iterable[str], base: str) -> list[HeaderLink]:
    """The links of the Link headers of a response from `base`, in order, without those to unusable URLs."""
    links: list[HeaderLink] = []
    for header in headers:
        for target, rest in _LINK.findall(header[:_MAX_LINK_HEADER]):
            parameters: dict[str, str] = {}
            for name, quoted, plain in _LINK_PARAMETER.findall(rest):
                parameters.setdefault(name.lower(), quoted or plain)
            url = urls.join(base, target)
            if url is None or "anchor" in parameters:  # an anchored link describes another page
                continue
            rels = frozenset(parameters.get("rel", "").lower().split())
            links.append(HeaderLink(url=url, rels=rels, type=bare_type(parameters.get("type"))))
            if len(links) == _MAX_LINKS:
                return links
    return links
