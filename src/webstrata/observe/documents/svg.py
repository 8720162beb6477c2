"""SVG by its tree: the digest without what editors add and what is not drawn."""

from __future__ import annotations

import re

from webstrata.observe.data.digest import DataDigest
from webstrata.observe.data.xml import IgnoredMarkup, root_attributes, xml_digest

_EDITORS = (
    "http://www.inkscape.org/namespaces/inkscape",
    "http://sodipodi.sourceforge.net/DTD/sodipodi-0.dtd",
    "http://www.bohemiancoding.com/sketch/ns",
    "http://www.figma.com/figma/ns",
    "http://www.serif.com/",
    "http://vectornator.io",
    "http://ns.adobe.com/",
)
"""The beginnings of namespaces in which drawing programs store their own settings."""
_METADATA = frozenset({"http://www.w3.org/2000/svg metadata", "metadata"})
_UNSEEN = frozenset({"version", "data-name", "enable-background"})
_LENGTH = re.compile(r"\s*([0-9]{1,6})(?:\.[0-9]*)?\s*(?:px)?\s*")

NOT_DRAWN = IgnoredMarkup(
    element=lambda name: name in _METADATA or name.startswith(_EDITORS),
    attribute=lambda name: name in _UNSEEN or name.startswith(_EDITORS),
    instructions=True,
)
"""What does not change the picture."""


def svg_digest(body: bytes, charset: str | None, url: str) -> DataDigest:
    """The digest of an SVG picture. Never raises."""
    return xml_digest(body, charset, url, kind="svg", ignored=NOT_DRAWN)


def svg_size(body: bytes) -> tuple[int, int] | None:
    """Width and height in pixels, from the root element or its `viewBox`; None if they are not given so."""
    attributes = root_attributes(body)
    sides = [_LENGTH.fullmatch(attributes.get(name, "")) for name in ("width", "height")]
    if not all(sides):
        sides = [_LENGTH.fullmatch(part) for part in attributes.get("viewBox", "").replace(",", " ").split()[2:4]]
    lengths = [int(side[1]) for side in sides if side is not None]
    return (lengths[0], lengths[1]) if len(lengths) == 2 else None
