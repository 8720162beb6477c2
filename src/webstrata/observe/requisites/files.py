"""The files to which a style sheet, a script, a web app manifest or a drawing refers."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from webstrata.coding import EncodedBody, decode
from webstrata.observe.html.links import LinkResolver
from webstrata.observe.requisites.manifests import manifest_addresses
from webstrata.observe.requisites.page import page_requisites
from webstrata.observe.requisites.scripts import script_addresses
from webstrata.observe.requisites.styles import style_addresses

MAX_FILES = 500
"""Files per document."""
_MAX_BYTES = 4_000_000
_MAX_RATIO = 200.0
_ADDRESSES: dict[str, Callable[[str], Iterable[str]]] = {
    "text/css": style_addresses,
    **dict.fromkeys(
        ("text/javascript", "application/javascript", "application/x-javascript", "application/ecmascript"),
        script_addresses,
    ),
    **dict.fromkeys(("application/manifest+json", "application/json"), manifest_addresses),
}
_SVG = "image/svg+xml"


def refers_to_files(content_type: str | None) -> bool:
    """Whether contents of this type may refer to files. Pages are parsed elsewhere (`page_requisites`)."""
    kind = _media_type(content_type)
    return kind in _ADDRESSES or kind == _SVG


def _media_type(content_type: str | None) -> str:
    return (content_type or "").partition(";")[0].strip().lower()


def referred_files(response: EncodedBody) -> tuple[str, ...]:
    """The http and https URLs to which a content refers; each once."""
    if not refers_to_files(response.content_type):
        return ()
    coding, kind = response.content_encoding, _media_type(response.content_type)
    body = decode(response.body, coding, max_bytes=_MAX_BYTES, max_ratio=_MAX_RATIO).body[:_MAX_BYTES]
    text = body.decode("utf-8", "replace")
    if kind == _SVG:
        return page_requisites(text, response.url).files[:MAX_FILES]
    return LinkResolver(response.url).all(_ADDRESSES[kind](text))[:MAX_FILES]
