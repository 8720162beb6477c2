"""The contents that an import has read last: what revisits refer to, and what need not be parsed again."""

from __future__ import annotations

from collections import OrderedDict

from msgspec import Struct

_MAX_KEYS = 50_000
_MAX_LINK_BYTES = 64 * 1024**2


class KnownContent(Struct, frozen=True, gc=False):
    """What is known of a content."""

    digest: str
    text: str
    links: bytes | None


class OriginalContents:
    """Contents by the identifiers of their records and by their digests; the oldest are forgotten."""

    def __init__(self) -> None:
        self._by_key: OrderedDict[str, KnownContent] = OrderedDict()
        self._link_bytes = 0

    def add(self, content: KnownContent, url: str, record_id: str, *digests: str) -> None:
        """Add a content under its record, its page, and all digests that it has."""
        keys = [f"{url} {content.digest}", *digests, content.digest, *([record_id] if record_id else [])]
        for key in keys:
            if key:
                self._forget(key)
                self._by_key[key] = content
                self._link_bytes += len(content.links or b"")
        while len(self._by_key) > _MAX_KEYS or self._link_bytes > _MAX_LINK_BYTES:
            self._forget(next(iter(self._by_key)))

    def _forget(self, key: str) -> None:
        before = self._by_key.pop(key, None)
        if before is not None:
            self._link_bytes -= len(before.links or b"")

    def of_page(self, url: str, digest: str) -> KnownContent | None:
        """A content of this page with this digest."""
        return self._by_key.get(f"{url} {digest}")

    def of_revisit(self, record_id: str, digest: str) -> KnownContent | None:
        """The original of a revisit: by its identifier, unless the digests contradict, or by its digest."""
        found = self._by_key.get(digest) if digest else None
        if found is None and record_id:
            found = self._by_key.get(record_id)
            if found is not None and digest and digest.partition(":")[0] == found.digest.partition(":")[0]:
                return found if digest == found.digest else None
        return found
