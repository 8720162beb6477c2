"""The static features of a content: what a page looks like at its first visit, before anything is known of its past.

They are those of the classifier of "Looking at both the present and the past" (section 3.3), and others that cost no
parsing. Counts are of the bytes as received, so that a recorded content and a visit give the same numbers. Tags are
counted by the beginnings of their names: `list_items` has `<link>`, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from webstrata.observe.media import HTML
from webstrata.observe.page import ObservedContent

_TAGS = {
    "images": b"img",
    "scripts": b"script",
    "tables": b"table",
    "forms": b"form",
    "headings": b"h2",
    "list_items": b"li",
    "times": b"time",
}
_TAG = re.compile(b"<(" + b"|".join(_TAGS.values()) + b")")
"""One pass over the body takes a third of the time of a count for each tag."""
_DATE = re.compile(r"/(?:19|20)\d\d(?:[/_-]?(?:0[1-9]|1[0-2]))?(?=[/_.-]|$)")
_FEEDS = frozenset({"feed", "sitemap"})

STATIC_FEATURES = (
    "size", "words", "title_length", "internal_links", "external_links", "document_links", "emails", "feeds", *_TAGS,
    "directory_level", "url_length", "url_digits", "url_has_query", "url_has_date", "is_start_page",
    "has_last_modified", "is_page", "is_feed", "is_data",
)  # fmt: skip
"""The names of the features, in the order in which classifiers read them."""


def static_features(
    observed: ObservedContent, body: bytes, url: str, headers: Mapping[str, str] | None = None
) -> dict[str, float]:
    """The features of a content with this canonical URL; `body` has no content coding. `headers`: names in lower case;
    without them, no header is known to be present."""
    fingerprint, is_page = observed.fingerprint, observed.fingerprint.media_type in HTML
    tags = _TAG.findall(body.lower()) if is_page else []
    features = {
        "size": fingerprint.size,
        "words": observed.spaces,
        "title_length": len(observed.title or ""),
        "internal_links": fingerprint.internal_links,
        "external_links": fingerprint.external_links,
        "document_links": fingerprint.document_links,
        "emails": sum(contact.startswith("mailto:") for contact in observed.linked.contacts),
        "feeds": len(observed.feeds),
        **{name: tags.count(tag) for name, tag in _TAGS.items()},
        **_url_features(url),
        "has_last_modified": "last-modified" in (headers or {}),
        "is_page": is_page,
        "is_feed": fingerprint.data_kind in _FEEDS,
        "is_data": not is_page and fingerprint.data_kind is not None and fingerprint.data_kind not in _FEEDS,
    }
    return {name: float(features[name]) for name in STATIC_FEATURES}


def _url_features(url: str) -> dict[str, int]:
    """Directory level: 1 is the root of the server, 2 a folder or file in it, and so on."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    return {
        "directory_level": 1 + path.count("/"),
        "url_length": len(url),
        "url_digits": sum(character.isdigit() for character in parts.path),
        "url_has_query": bool(parts.query),
        "url_has_date": _DATE.search(parts.path) is not None,
        "is_start_page": not path and not parts.query,
    }
