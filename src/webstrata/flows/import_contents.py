"""`ContentSource`: copies from the contents of archive files, with the layers that only a content has.

Contents are hostile: they are parsed in the parser processes, as those of visits are, so the text and the links of a
copy can be compared with those of a visit. Each page's content with one digest is parsed once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from webstrata.copy_rules import LeftOut, copy_at
from webstrata.flows.crawl.parse import ParsedContent, ParseJob
from webstrata.flows.crawl.visit_pipeline import PARSED_HEADERS
from webstrata.flows.original_contents import KnownContent, OriginalContents
from webstrata.flows.parsers.parser_pool import ParserPool
from webstrata.records import (
    UNPARSED,
    ArchivedCopy,
    CapturedContent,
    ContentFeatures,
    ReadBatch,
    SkippedRow,
)
from webstrata.wanted_pages import WantedPages

_BATCH_CONTENTS = 256
_BATCH_BYTES = 64 * 1024**2
"""Of bodies in memory, besides the last one."""
_MAX_DETAIL = 200


class _Prepared(Struct):
    """A content that is a copy, and how it is parsed."""

    content: CapturedContent
    copy: ArchivedCopy
    job: ParseJob | None
    """None: it is known, unwanted, or has no body."""


class ContentSource:
    """A source of copies (`ports.CopySource`)."""

    def __init__(
        self,
        *,
        key: str,
        read: Callable[[str], Iterator[CapturedContent]],
        parsers: ParserPool,
        originals: OriginalContents,
        wanted: WantedPages,
        archive: str,
        default_archive: str,
        now: float,
        max_decoded: int,
    ) -> None:
        """`read` gives the contents after a position. `originals` may be shared by the files of an import. `archive`:
        the name of the archive; if empty, the one that the file states, or else `default_archive`."""
        self.key = key
        self._read = read
        self._parsers = parsers
        self._originals = originals
        self._wanted = wanted
        self._archive = archive
        self._default_archive = default_archive
        self._now = now
        self._max_decoded = max_decoded

    async def batches(self, position: str = "") -> AsyncIterator[ReadBatch]:
        """Read on from a position. A batch ends at a record after which reading can go on."""
        reading = self._read(position)
        while contents := await asyncio.to_thread(_next_contents, reading):
            yield await self._batch(contents)

    async def _batch(self, contents: Sequence[CapturedContent]) -> ReadBatch:
        found = [self._prepared(content) for content in contents]
        jobs = [one.job for one in found if isinstance(one, _Prepared) and one.job is not None]
        parsed = iter(await asyncio.gather(*(self._parsers.submit(job) for job in jobs)))
        copies: list[ArchivedCopy] = []
        places: list[str] = []
        features: list[ContentFeatures] = []
        skipped: list[SkippedRow] = []
        counts: dict[str, int] = {}
        for content, one in zip(contents, found, strict=True):
            result = self._finished(one, next(parsed), features) if _is_parsed(one) else self._known(one)
            if isinstance(result, LeftOut):
                counts[result.reason] = counts.get(result.reason, 0) + 1
                detail = result.detail[:_MAX_DETAIL]
                skipped.append(SkippedRow(reason=result.reason, where=content.where, detail=detail))
            else:
                copies.append(result)
                places.append(content.where)
        last = contents[-1]
        return ReadBatch(
            copies=copies,
            places=places,
            features=features,
            skipped=skipped,
            skipped_counts=counts,
            read=len(contents),
            position=last.position,
            done=last.done,
        )

    def _prepared(self, content: CapturedContent) -> _Prepared | LeftOut:
        """The copy of a content, as far as it is known without parsing it."""
        if content.problem:
            return LeftOut("malformed" if content.is_malformed else "not-a-page", content.problem)
        copy = copy_at(
            url=content.url,
            at=content.at,
            shown_time=content.date,
            status=str(content.status or ""),
            digest="" if content.is_cut else content.digest,
            archive=self._archive or content.archive or self._default_archive,
            now=self._now,
        )
        if isinstance(copy, LeftOut):
            return copy
        if content.is_wrong:
            return LeftOut("bad-checksum", f"{copy.url}: the payload has another digest than the record declares")
        if content.body is None or content.is_cut or self._wanted.left_out(copy.url) is not None:
            return _Prepared(content, copy, None)
        if self._originals.of_page(copy.url, copy.digest) is not None:
            return _Prepared(content, copy, None)
        job = ParseJob(
            url=copy.url,
            body=content.body,
            content_type=content.headers.get("content-type"),
            content_encoding=content.headers.get("content-encoding"),
            status=content.status,
            headers={name: value for name, value in content.headers.items() if name in PARSED_HEADERS},
            max_decoded=self._max_decoded,
        )
        return _Prepared(content, copy, job)

    def _finished(
        self, one: _Prepared | LeftOut, parsed: ParsedContent, features: list[ContentFeatures]
    ) -> ArchivedCopy | LeftOut:
        """The copy of a content that was parsed."""
        if isinstance(one, LeftOut):
            return one
        copy, content = one.copy, one.content
        if parsed.error_page is not None:
            return LeftOut("error-status", f"{copy.url}: {parsed.error_page.kind}: {parsed.error_page.detail}")
        known = KnownContent(copy.digest, "", None)
        if parsed.problem is None and parsed.fingerprint.data_kind != UNPARSED:
            known = KnownContent(copy.digest, parsed.fingerprint.text or "", parsed.seen_links)
            if parsed.features:
                features.append(ContentFeatures(url=copy.url, at=copy.at, features=parsed.features))
        self._originals.add(known, copy.url, content.record_id, content.declared)
        return replace(copy, text=known.text, links=known.links)

    def _known(self, one: _Prepared | LeftOut) -> ArchivedCopy | LeftOut:
        """The copy of a content that was not parsed: a revisit, a content that was parsed before, or a large one."""
        if isinstance(one, LeftOut):
            return one
        copy, content = one.copy, one.content
        if content.kind == "revisit":
            known = self._originals.of_revisit(content.refers_to, copy.digest)
        else:
            known = self._originals.of_page(copy.url, copy.digest) if copy.digest else None
        if known is None:
            return copy
        self._originals.add(known, copy.url, content.record_id, content.declared)
        return replace(copy, digest=known.digest, text=known.text, links=known.links)


def _is_parsed(one: _Prepared | LeftOut) -> bool:
    return isinstance(one, _Prepared) and one.job is not None


def _next_contents(reading: Iterator[CapturedContent]) -> list[CapturedContent]:
    """The contents of a batch; none at the end."""
    contents: list[CapturedContent] = []
    size = 0
    for content in reading:
        contents.append(content)
        size += len(content.body or b"")
        if content.position and (len(contents) >= _BATCH_CONTENTS or size >= _BATCH_BYTES):
            break
    return contents
