"""The runs of a page's last version, read back from the archive when a new version first differs from it.

Most pages never change, so the runs of first versions are not read when they come.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence

from msgspec.structs import replace

from webstrata.errors import ArchiveError
from webstrata.flows.crawl.parse import ParsedContent, ParseJob
from webstrata.ports import Archive, Store
from webstrata.records import Original, Page, Position

log = logging.getLogger("webstrata.hindsight")

Read = Callable[[Sequence[ParseJob]], Awaitable[list[ParsedContent]]]


async def with_previous_version(
    pages: Sequence[Page],
    jobs: Sequence[ParseJob],
    looks: Sequence[ParsedContent],
    *,
    store: Store,
    archive: Archive,
    read: Read,
) -> list[ParsedContent]:
    """The looks, those at changed contents of which no earlier runs are known taken again with them."""
    late = [
        i for i, (job, look) in enumerate(zip(jobs, looks, strict=True)) if job.before and look.lines and not job.lines
    ]
    seen = list(looks)
    if not late:
        return seen
    known = await store.visit_log.originals([payload for i in late if (payload := pages[i].payload) is not None])
    past = {i: job for i in late if (job := await _past(jobs[i], known.get(pages[i].payload or ""), archive))}
    lines = dict(zip(past, [look.lines for look in await read(list(past.values()))], strict=True))
    again = await read([replace(jobs[i], lines=found) for i, found in lines.items()])
    for (i, found), look in zip(lines.items(), again, strict=True):
        seen[i] = replace(look, past_lines=found)
    return seen


async def _past(job: ParseJob, original: Original | None, archive: Archive) -> ParseJob | None:
    """The job of reading the last version; none where it cannot be had."""
    if original is None:
        return None
    place = Position(file=original.file, offset=original.offset, length=0, record_id=original.record_id)
    try:
        stored = await archive.read(place)
    except ArchiveError as problem:
        log.warning("the last version of %s is not compared run by run: %s", job.url, problem)
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
