"""Content negotiation (RFC 9110, 12.5.1): Accept lists read, and the best of what is on offer.

Values are read leniently: a quality that is none counts as 1, a lone `*` is `*/*`, quoted parameters lose their quotes.

The Link header (RFC 8288): typed links that an answer gives beside its body.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct

from webstrata import urls

_PARAMETER = re.compile(r';\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))')
_LIST_ITEM = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*"?)+')
_QUALITY = re.compile(r"(?:\d+\.?\d*|\.\d+)")


class MediaRange(NamedTuple):
    """`text/html;level=1;q=0.5` in its parts; the type or the subtype may be `*`."""

    type: str
    subtype: str
    parameters: dict[str, str]

    @property
    def quality(self) -> float:
        return float(self.parameters.get("q", "1"))


def media_type(text: str) -> MediaRange:
    """A media type as written; parameter names in lower case."""
    full, _, _ = text.partition(";")
    full = full.strip().lower()
    kind, _, sub = ("*/*" if full == "*" else full).partition("/")
    found = _PARAMETER.findall(text)
    parameters = {
        name.lower(): re.sub(r"\\(.)", r"\1", quoted) if quoted else plain.strip() for name, quoted, plain in found
    }
    return MediaRange(kind.strip(), sub.strip(), parameters)


def media_range(text: str) -> MediaRange:
    """A media type of an Accept list: its quality is always there and lies between 0 and 1."""
    found = media_type(text)
    quality = found.parameters.get("q", "")
    if not _QUALITY.fullmatch(quality) or float(quality) > 1:
        quality = "1"
    return found._replace(parameters={**found.parameters, "q": quality})


def accept_list(header: str) -> list[MediaRange]:
    return [media_range(item) for item in _LIST_ITEM.findall(header) if item.strip()]


def quality(offered: str, header: str) -> float:
    """How welcome a media type is under an Accept header, 0 to 1."""
    return _judged(media_type(offered), accept_list(header))[0]


def best_match(offered: Sequence[str], header: str) -> str:
    """The most welcome of the types on offer, of equals the most exact, then the last; empty: none is welcome."""
    ranges = accept_list(header)
    best: tuple[tuple[float, float], int] = ((0.0, 0.0), -1)
    for place, one in enumerate(offered):
        judged = _judged(media_type(one), ranges)
        if judged[0] > 0:
            best = max(best, (judged, place))
    return offered[best[1]] if best[1] >= 0 else ""


def bare_type(content_type: str | None) -> str:
    """`text/html` of `Text/HTML; charset=utf-8`; empty where there is none."""
    return (content_type or "").partition(";")[0].strip().lower()


def _judged(target: MediaRange, ranges: Iterable[MediaRange]) -> tuple[float, float]:
    """(quality, exactness) by the most exact range that covers the target."""
    fits = [(_exactness(target, one), one.quality) for one in ranges]
    exactness, welcome = max(fits, default=(-1.0, 0.0), key=lambda fit: fit[0])
    own = float(_QUALITY.fullmatch(target.parameters.get("q", "1")) is not None) and target.quality
    return (welcome, exactness + own) if exactness >= 0 else (0.0, 0.0)


def _exactness(target: MediaRange, wanted: MediaRange) -> float:
    """Below 0: not covered."""
    for mine, theirs in ((target.type, wanted.type), (target.subtype, wanted.subtype)):
        if mine != theirs and "*" not in (mine, theirs):
            return -1.0
    named = {name: value for name, value in wanted.parameters.items() if name != "q"}
    if any(target.parameters.get(name) != value for name, value in named.items()):
        return -1.0
    return 100.0 * (target.type == wanted.type) + 10.0 * (target.subtype == wanted.subtype) + len(named)


_LINK = re.compile(r'<([^<>]*)>((?:\s*;\s*[^\s=;,"<>]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s";,<>]*))?)*)')
_LINK_PARAMETER = re.compile(r';\s*([^\s=;,"<>]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,<>]*)))?')
_LONGEST = 65_536
_MOST_LINKS = 200


class HeaderLink(Struct, frozen=True, kw_only=True):
    url: str
    rels: frozenset[str]
    type: str = ""


def read_links(values: Iterable[str], base: str) -> list[HeaderLink]:
    """Links of all Link headers of an answer from `base`, in order; those that cannot be visited are left out."""
    found: list[HeaderLink] = []
    for value in values:
        for target, rest in _LINK.findall(value[:_LONGEST]):
            parameters: dict[str, str] = {}
            for name, quoted, plain in _LINK_PARAMETER.findall(rest):
                parameters.setdefault(name.lower(), quoted or plain)
            url = urls.join(base, target)
            if url is None or "anchor" in parameters:  # an anchored link speaks of another page
                continue
            rels = frozenset(parameters.get("rel", "").lower().split())
            media_type = parameters.get("type", "").partition(";")[0].strip().lower()
            found.append(HeaderLink(url=url, rels=rels, type=media_type))
            if len(found) == _MOST_LINKS:
                return found
    return found
