"""`content_layers`: the layers of a content by which captures compare it, as digests."""

from __future__ import annotations

from msgspec import Struct

from webstrata.detect.layers import layer_digest
from webstrata.observe.visible import is_html, visible_content
from webstrata.records import Fingerprint

_OF_FINGERPRINTS = ("main", "data", "selected")


class ContentLayers(Struct, frozen=True, kw_only=True):
    """The layers of a content: name -> digest."""

    digests: dict[str, str] = {}
    """`raw`; of HTML `visible_text` and `links`; `main`, `data` and `selected` where they exist."""
    script_shell: bool = False
    """The page has scripts and nearly no text."""


def content_layers(body: bytes, content_type: str | None, fingerprint: Fingerprint) -> ContentLayers:
    """The layers of a content whose coding is removed; `fingerprint` is that of the same bytes."""
    digests = {"raw": fingerprint.raw}
    digests |= {name: digest for name in _OF_FINGERPRINTS if (digest := layer_digest(fingerprint, name)) is not None}
    if not is_html(content_type or ""):
        return ContentLayers(digests=digests)
    visible = visible_content(body)
    digests |= {"visible_text": visible.text, "links": visible.links}
    return ContentLayers(digests=digests, script_shell=visible.is_script_shell)
