"""The changes of a page in a period, each with the version before it; visits between them are only counted.

Rows of the log are read in batches, and contents one pair at a time, so that the memory needed does not depend on the
number of visits.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator

from msgspec import Struct

from webstrata.detect.diff.difference import Difference
from webstrata.detect.noisy_place import NoisyPlace
from webstrata.flows.version_content import version_difference
from webstrata.flows.versions import is_version, read_version
from webstrata.ports import Store, StoredCapture
from webstrata.records import ChangeKind, Page, PageRules, Position, Visit

_BATCH = 500
"""Rows of the log that are read together."""


class StoryEvent(Struct, frozen=True, kw_only=True):
    """A change of the page, or its first version."""

    visit: Visit
    before: Visit | None = None
    """The version before; None if there is none, or if the change left no content to compare (the page is gone)."""
    quiet_visits: int = 0
    """Visits after this one, and before the next change, that found no change that counts."""


class PageStory(Struct, frozen=True, kw_only=True):
    """What happened to a page in a period, newest first."""

    events: tuple[StoryEvent, ...] = ()
    visits: int = 0
    quiet_first: int = 0
    """Visits before the oldest event that found no change that counts."""

    @property
    def changes(self) -> int:
        return sum(event.visit.counts for event in self.events)


async def page_story(store: Store, page: Page, since: float | None, until: float | None) -> PageStory:
    """Read the log of a page from newest to oldest."""
    events: list[StoryEvent] = []
    visits = quiet = 0
    async for visit in _newest_first(store, page.id, since, until):
        visits += 1
        if not visit.counts and visit.kind is not ChangeKind.NEW:
            quiet += 1
            continue
        before = await version_before(store, page.id, visit) if is_version(visit) else None
        events.append(StoryEvent(visit=visit, before=before, quiet_visits=quiet))
        quiet = 0
    return PageStory(events=tuple(events), visits=visits, quiet_first=quiet)


async def _newest_first(
    store: Store, page_id: int, since: float | None, until: float | None, first_batch: int = _BATCH
) -> AsyncIterator[Visit]:
    """The visits of a page, at most one at any time. Each batch starts with the last visit of the batch before it, and
    is larger."""
    last: Visit | None = None
    size = first_batch
    while batch := await store.visit_log.of_page(page_id, since=since, until=until, limit=size):
        for visit in batch:
            if last is None or visit.at < last.at:
                yield visit
        if len(batch) < size:
            return
        last = batch[-1]
        until = last.at
        size = min(8 * size, _BATCH)


async def version_before(store: Store, page_id: int, visit: Visit) -> Visit | None:
    """The version that was compared with this one; None if there is none. It is often one of the visits just before."""
    async for earlier in _newest_first(store, page_id, None, visit.at, first_batch=4):
        if earlier.at < visit.at and is_version(earlier):
            return earlier
    return None


def story_differences(
    story: PageStory,
    page_rules: PageRules | None,
    *,
    read: Callable[[Position], StoredCapture],
    max_decoded: int,
    name: Callable[[Visit], str],
    noise: tuple[NoisyPlace, ...] = (),
) -> Iterator[tuple[StoryEvent, Difference | None]]:
    """Each event with its difference, in which the places of `noise` are set apart.

    Contents are read when they are needed.
    """
    for event in story.events:
        found = None
        if event.before is not None:
            found = version_difference(
                read_version(read, event.before, max_decoded),
                read_version(read, event.visit, max_decoded),
                page_rules,
                raw=False,
                before_name=name(event.before),
                after_name=name(event.visit),
                noise=noise,
            )
        yield event, found
