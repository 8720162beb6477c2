"""The text runs of a page's previous version, extracted from the archive when a new version first differs from it.

Most pages never change, so the runs of first versions are not extracted when they are first visited.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from msgspec.structs import replace

from webstrata.errors import ArchiveError
from webstrata.flows.crawl.parse import ParsedContent, ParseJob
from webstrata.flows.crawl.parser_pool import ParserPool
from webstrata.ports import Archive, Store
from webstrata.records import Original, Page, Position

log = logging.getLogger("webstrata.crawl")


async def with_previous_version(
    pages: Sequence[Page],
    jobs: Sequence[ParseJob],
    contents: Sequence[ParsedContent],
    *,
    store: Store,
    archive: Archive,
    parsers: ParserPool,
) -> list[ParsedContent]:
    """The parsed contents; changed ones whose previous runs are not known are parsed again, with these runs."""
    unknown = [
        index
        for index, (job, content) in enumerate(zip(jobs, contents, strict=True))
        if job.before and content.lines and not job.lines
    ]
    parsed = list(contents)
    if not unknown:
        return parsed
    payloads = [payload for index in unknown if (payload := pages[index].payload) is not None]
    originals = await store.visit_log.originals(payloads)
    past_jobs: dict[int, ParseJob] = {}
    for index in unknown:
        past_job = await _past_job(jobs[index], originals.get(pages[index].payload or ""), archive)
        if past_job is not None:
            past_jobs[index] = past_job
    if not past_jobs:
        return parsed
    past_contents = await parsers.parse(list(past_jobs.values()))
    past_lines = {index: content.lines for index, content in zip(past_jobs, past_contents, strict=True)}
    again = await parsers.parse([replace(jobs[index], lines=lines) for index, lines in past_lines.items()])
    for (index, lines), content in zip(past_lines.items(), again, strict=True):
        parsed[index] = replace(content, past_lines=lines)
    return parsed


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
    headers = dict(reversed(stored.headers))
    return replace(
        job,
        body=stored.body,
        content_type=headers.get("content-type"),
        content_encoding=headers.get("content-encoding"),
        before=None,
        want_lines=True,
    )
