"""Addresses in JSON documents that list files: web app manifests and import maps of pages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import msgspec

_MAX_LENGTH = 1_000_000
"""Characters; longer documents are not parsed."""
_IMAGE_LISTS = ("icons", "screenshots")


def manifest_addresses(text: str) -> Iterator[str]:
    """The icons and screenshots of a web app manifest, and the icons of its shortcuts, as written."""
    manifest = _parsed(text)
    shortcuts = manifest.get("shortcuts")
    for entry in chain([manifest], shortcuts if isinstance(shortcuts, list) else ()):
        for name in _IMAGE_LISTS if isinstance(entry, dict) else ():
            images = entry.get(name)
            for image in images if isinstance(images, list) else ():
                if isinstance(image, dict) and isinstance(source := image.get("src"), str):
                    yield source


def import_map_addresses(text: str) -> Iterator[str]:
    """The modules that an import map names, as written; not the folders, whose modules it does not name."""
    document = _parsed(text)
    scopes = document.get("scopes")
    for names in chain([document.get("imports")], scopes.values() if isinstance(scopes, dict) else ()):
        for address in names.values() if isinstance(names, dict) else ():
            if isinstance(address, str) and not address.endswith("/"):
                yield address


def _parsed(text: str) -> dict[str, Any]:
    """A JSON object; empty if the text is none."""
    try:
        document = msgspec.json.decode(text) if len(text) <= _MAX_LENGTH else None
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return {}
    return document if isinstance(document, dict) else {}
