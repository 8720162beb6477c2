"""`LargeBodies`: what becomes of a body that is not in memory. It is archived at once, and compared by its bytes only.

Its record is written before the batch with its visit is, so that no other visit waits for it. If the crawl ends in
between, the record belongs to no visit, as that of any batch that was archived and not committed.
"""

from __future__ import annotations

import asyncio

from webstrata.coding import content_codings
from webstrata.flows.crawl.archive_entries import visit_part
from webstrata.flows.crawl.parse import ParsedContent, unparsed_fingerprint
from webstrata.flows.parsers.large_digest import large_digest
from webstrata.observe.documents.summary import readable_size
from webstrata.ports import Archive, Store
from webstrata.records import Capture, Exchange, LargeBody, VisitResult


class LargeBodies:
    """Archives large bodies and computes their fingerprints."""

    def __init__(self, *, store: Store, archive: Archive, max_decoded: int) -> None:
        self._store = store
        self._archive = archive
        self._max_decoded = max_decoded

    async def parse(self, result: VisitResult, response: Exchange, body: LargeBody) -> ParsedContent:
        """The fingerprint of the body and, unless the archive has the same payload already, the position of its record.

        Raises ArchiveError.
        """
        payload = await asyncio.to_thread(lambda: body.payload)
        is_known = response.truncated is None and payload in await self._store.visit_log.originals([payload])
        position = None
        if not is_known:
            position = await self._archive.append_large(
                Capture(exchange=response, payload=payload, visit=visit_part(result, response))
            )
        raw, size, note = await asyncio.to_thread(self._digest, response, body)
        return ParsedContent(
            payload=payload,
            fingerprint=unparsed_fingerprint(raw, size, note),
            problem=note,
            position=position,
        )

    def _digest(self, response: Exchange, body: LargeBody) -> tuple[str, int, str]:
        """Digest and size of what is compared, and why it is not parsed."""
        note = f"not parsed: a body of {readable_size(body.size)} is not held in memory (fetch.max_parsed)"
        coding = response.header("content-encoding") or ""
        if content_codings(coding):
            decoded = large_digest(body, coding, max_decoded=self._max_decoded)
            if isinstance(decoded, tuple):
                return (*decoded, note)
            note = f"{note}; compared as sent: {decoded}"
        return body.sha256, body.size, note
