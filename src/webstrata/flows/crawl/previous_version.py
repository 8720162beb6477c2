"""The text runs of a page's previous version, extracted from the archive when a new version first differs from it.

Most pages never change, so the runs of first versions are not extracted when they are first visited.
"""

from __future__ import annotations

import logging

from msgspec.structs import replace

from webstrata.errors import ArchiveError
from webstrata.flows.crawl.parse import ParsedContent, ParseJob
from webstrata.flows.parsers.parser_pool import ParserPool
from webstrata.ports import Archive, Store
from webstrata.records import Original, Page, Position

log = logging.getLogger("webstrata.crawl")


async def with_previous_version(
    page: Page, job: ParseJob, content: ParsedContent, *, store: Store, archive: Archive, parsers: ParserPool
) -> ParsedContent:
    """The parsed content; a changed one whose previous runs are not known is parsed again, with these runs."""
    if job.before is None or not content.lines or job.lines or page.payload is None:
        return content
    originals = await store.visit_log.originals([page.payload])
    past_job = await _past_job(job, originals.get(page.payload), archive)
    if past_job is None:
        return content
    past = await parsers.submit(past_job, lane=page.host)
    again = await parsers.submit(replace(job, lines=past.lines), lane=page.host)
    return replace(again, past_lines=past.lines)


async def _past_job(job: ParseJob, original: Original | None, archive: Archive) -> ParseJob | None:
    """The job of parsing the previous version; none if it cannot be read."""
    if original is None:
        return None
    position = Position(file=original.file, offset=original.offset, length=0, record_id=original.record_id)
    try:
        stored = await archive.read(position)
    except ArchiveError as problem:
        log.warning("the previous version of %s is not compared run by run: %s", job.url, problem)
        return None
    if stored.large is not None:
        return None
    headers = dict(reversed(stored.headers))
    return replace(
        job,
        body=stored.body,
        content_type=headers.get("content-type"),
        content_encoding=headers.get("content-encoding"),
        before=None,
        want_lines=True,
    )
