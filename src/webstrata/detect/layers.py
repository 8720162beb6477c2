"""The layers of a fingerprint, and the choice of the layer by which two contents are compared.

With `layer: auto` the choice depends on the content: `selected` if the page has include or ignore rules, canonical
`data` for data formats, `main` (title and main content, together with its links) for HTML, `text` for other text
formats, the signature of the pixels for pictures, and the raw bytes for everything else.
"""

from __future__ import annotations

from collections.abc import Iterator

from webstrata.detect.picture import compare_pictures
from webstrata.records import Fingerprint, PageRules

LAYERS = ("raw", "text", "main", "links", "main_links", "data", "picture", "selected")
_EMPTY = "d41d8cd98f00b204e9800998ecf8427e"
"""MD5 of no bytes: the page has no main content."""


def layer_digest(fingerprint: Fingerprint, layer: str) -> str | None:
    """The digest of a layer; None if the content does not have this layer."""
    if layer == "main":
        parts = fingerprint.parts
        # The digest of body and side together: a line that only moves from one to the other is no change.
        return None if parts is None or parts[5] == _EMPTY else parts[0] + parts[5]
    digest: str | None = getattr(fingerprint, layer) if layer in LAYERS else None
    return digest


def layer_differences(before: Fingerprint, now: Fingerprint) -> dict[str, bool]:
    """Layer -> whether it differs, for the layers that both contents have.

    Only `raw` if the fingerprints were made by different rules and are not comparable.
    """
    names = LAYERS if is_comparable(before, now) else ("raw",)
    pairs = ((name, layer_digest(before, name), layer_digest(now, name)) for name in names)
    return {name: _differs(name, old, new) for name, old, new in pairs if old is not None and new is not None}


def _differs(layer: str, before: str, now: str) -> bool:
    """Whether two values of a layer differ: signatures of pictures if the pictures look different."""
    return before != now and (layer != "picture" or compare_pictures(before, now) == "changed")


def is_comparable(before: Fingerprint, now: Fingerprint) -> bool:
    """Whether two fingerprints were made by the same version of the rules, and from the same kind of data."""
    return before.version == now.version and (before.data_kind == now.data_kind or before.data is None)


def candidate_layers(page_rules: PageRules | None) -> Iterator[str]:
    """The layers that may decide about a page, in order of preference; the last is always `raw`."""
    layer = page_rules.layer if page_rules is not None else "auto"
    if page_rules is not None and (page_rules.include or page_rules.ignore or page_rules.ignore_text):
        yield "selected"
    if layer not in ("auto", "selected"):
        yield layer
    if layer != "raw":
        yield "data"
        yield "main"
        yield "text"
        yield "picture"
    yield "raw"


def deciding_layer(fingerprint: Fingerprint, page_rules: PageRules | None = None) -> str:
    """The layer by which this content will be compared with the next version."""
    return next(name for name in candidate_layers(page_rules) if layer_digest(fingerprint, name) is not None)
