"""The previous version of a page, read from the archive and observed again when a new version differs from it.

This is needed in two cases. Most pages never change, so the runs of first versions are not extracted when they are
first visited. And if the rules of the page were edited since its last version was observed, that version must be
observed again under the present rules: contents are comparable only if both were observed under the same rules.
"""

from __future__ import annotations

import logging

from msgspec.structs import replace

from webstrata.detect.memory import unpack
from webstrata.errors import ArchiveError
from webstrata.flows.crawl.parse import ParsedContent, ParseJob, PastVersion
from webstrata.flows.parsers.parser_pool import ParserPool
from webstrata.ports import Archive, Store
from webstrata.records import Original, Page, Position, observed_by

log = logging.getLogger("webstrata.crawl")


def has_edited_rules(page: Page) -> bool:
    """Whether the last version of a page was observed under other rules than those that it has now."""
    return page.fingerprint is not None and page.fingerprint.rules != observed_by(page.page_rules)


async def with_previous_version(
    page: Page, job: ParseJob, content: ParsedContent, *, store: Store, archive: Archive, parsers: ParserPool
) -> ParsedContent:
    """The parsed content; a changed one whose previous runs are not known is parsed again, with these runs."""
    if job.before is None or job.before.raw == content.fingerprint.raw or page.payload is None:
        return content
    if not has_edited_rules(page) and (job.lines or not content.lines):
        return content
    originals = await store.visit_log.originals([page.payload])
    past_job = await _past_job(page, job, originals.get(page.payload), archive)
    if past_job is None:
        return content
    past = await parsers.submit(past_job, lane=page.host)
    if content.lines:
        content = await parsers.submit(replace(job, lines=past.lines), lane=page.host)
    return replace(content, past=PastVersion(fingerprint=past.fingerprint, lines=past.lines, products=past.products))


async def _past_job(page: Page, job: ParseJob, original: Original | None, archive: Archive) -> ParseJob | None:
    """The job of parsing the previous version; none if it cannot be read."""
    # The record may be that of another page with the same bytes: its URL is not that of this page.
    job = replace(job, url=unpack(page.memory).address or page.url, before=None, want_lines=True)
    if original is None:
        if page.fingerprint is None or page.fingerprint.size:
            return None
        # An empty body has no original: nothing needs to be read.
        return replace(job, body=b"", content_type=page.fingerprint.media_type, content_encoding=None)
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
    )
