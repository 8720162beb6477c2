"""JSON Feed (versions 1 and 1.1): its items as entries of a feed."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any
from urllib.parse import urljoin

from webstrata.observe.data.digest import digest_of
from webstrata.observe.data.feed_entry import MAX_CONTENT_LENGTH, MAX_ENTRIES, Feed, FeedEntry, feed_time, plain_content
from webstrata.observe.data.json import json_text
from webstrata.urls import join

MAX_BYTES = 64 * 1024 * 1024
_VERSION = re.compile(rb'"version"\s*:\s*"https?:(?:\\?/){2}jsonfeed\.org(?:\\?/)version')
_PREVIEW_BYTES = 4096
_MAX_TITLE_LENGTH = 1_000
_CONTENTS = ("content_html", "content_text", "summary", "image", "external_url")


def is_json_feed(body: bytes) -> bool:
    """Whether a JSON document declares, near its beginning, that it is a feed."""
    return _VERSION.search(body[:_PREVIEW_BYTES]) is not None


def parse_json_feed(body: bytes, charset: str | None, url: str, *, max_contents: int = 0) -> Feed:
    """The entries of a JSON feed; `max_contents`: characters of all contents that are kept as text. Never raises."""
    if len(body) > MAX_BYTES:
        return Feed(problem=f"longer than {MAX_BYTES} bytes")
    try:
        document = json.loads(json_text(body, charset))
    except (ValueError, RecursionError) as error:
        return Feed(problem=f"not JSON: {error}"[:160])
    items = document.get("items") if isinstance(document, dict) else None
    if not isinstance(items, list):
        return Feed(problem="not a feed")
    if len(items) > MAX_ENTRIES:
        return Feed(problem=f"more than {MAX_ENTRIES} entries")
    entries: dict[str, FeedEntry] = {}
    for item in items:
        if isinstance(item, dict):
            entry = _entry(item, url, min(max_contents, MAX_CONTENT_LENGTH))
            max_contents -= len(entry.content)
            entries[entry.digest] = entry
    return Feed(entries=tuple(entries.values()))


def _entry(item: dict[str, Any], base: str, content_length: int) -> FeedEntry:
    name, title = _text(item, "id"), " ".join(_text(item, "title").split())
    address = _text(item, "url") or _text(item, "external_url")
    times = (feed_time(_text(item, key)) for key in ("date_modified", "date_published"))
    updated = next((at for at in times if at is not None), None)
    attachments = [part.get("url") for part in _parts(item, "attachments")]
    content = hashlib.sha256(json.dumps([[_text(item, key) for key in _CONTENTS], attachments]).encode()).digest()
    parts = [name, _absolute(base, address), title, str(updated)]
    digest = digest_of("entry", [*(part.encode("utf-8", "replace") for part in parts), content])
    return FeedEntry(
        url=join(base, address) if address else None,
        id=name[:_MAX_TITLE_LENGTH],
        title=title[:_MAX_TITLE_LENGTH],
        updated_at=updated,
        digest=digest,
        content=plain_content(next(filter(None, (_text(item, key) for key in _CONTENTS[:3])), "")[:content_length]),
    )


def _text(item: dict[str, Any], key: str) -> str:
    value = item.get(key)
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) else ""  # ids are often numbers


def _parts(item: dict[str, Any], key: str) -> list[dict[str, Any]]:
    value = item.get(key)
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def _absolute(base: str, address: str) -> str:
    try:
        return urljoin(base, address.strip())
    except ValueError:
        return address
