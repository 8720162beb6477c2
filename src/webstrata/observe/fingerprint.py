"""Bytes + media type + URL -> Fingerprint."""

from __future__ import annotations

from webstrata.observe.page import look
from webstrata.records import Fingerprint


def fingerprint(body: bytes, media_type: str, charset: str | None, url: str) -> Fingerprint:
    """Fingerprint of a body whose media type and charset label (or None) are known; `url` is its canonical URL."""
    return look(body, media_type, charset, url).fingerprint
