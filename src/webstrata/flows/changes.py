"""The changes of all pages by time, each with the words that differ.

The words come from the archived versions, as in `diff`. The contents that are compared for one list are limited
together, so that a list of changes of large pages takes seconds, not minutes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

from msgspec import Struct

from webstrata.detect.diff.difference import Difference
from webstrata.errors import WebstrataError
from webstrata.flows.story import version_before
from webstrata.flows.tag_rules import with_tag_rules
from webstrata.flows.version_content import version_difference
from webstrata.flows.version_noise import learned_noise
from webstrata.flows.versions import is_version, read_version
from webstrata.ports import Store, StoredCapture
from webstrata.records import Page, PageVisit, Position, Visit, VisitFilter

_BATCH = 100
"""Changes whose pages are read together."""
_MAX_CONTENT = 4_000_000
"""Bytes of a version that is compared."""


class PageChange(Struct, frozen=True, kw_only=True):
    """A change of a page, or its first version."""

    found: PageVisit
    page: Page
    """With the rules that apply to it."""
    before: Visit | None = None
    """The version before; None if there is none, or if the change left no content to compare (the page is gone)."""

    @property
    def visit(self) -> Visit:
        return self.found.visit


async def page_changes(store: Store, wanted: VisitFilter, limit: int | None = None) -> AsyncIterator[PageChange]:
    """The changes, newest first."""
    by_tag = await store.pages.tag_rules()
    batch: list[PageVisit] = []

    async def changes() -> Sequence[PageChange]:
        pages = with_tag_rules(list((await store.pages.by_id([row.visit.page_id for row in batch])).values()), by_tag)
        by_id = {page.id: page for page in pages}
        return [
            PageChange(found=row, page=by_id[row.visit.page_id], before=await _before(store, row.visit))
            for row in batch
            if row.visit.page_id in by_id
        ]

    async for row in store.visit_log.listed(wanted, limit=limit):
        batch.append(row)
        if len(batch) == _BATCH:
            for change in await changes():
                yield change
            batch.clear()
    for change in await changes():
        yield change


async def _before(store: Store, visit: Visit) -> Visit | None:
    return await version_before(store, visit.page_id, visit) if visit.counts and is_version(visit) else None


class ChangeReader:
    """Computes the differences of changes from the archive, up to a total number of bytes."""

    def __init__(self, read: Callable[[Position], StoredCapture], *, max_decoded: int, max_bytes: int | None) -> None:
        """`max_bytes`: of all contents together; None: no limit."""
        self._read = read
        self._max_decoded = max_decoded
        self._left = max_bytes
        self.left_out = 0
        """Number of changes whose contents are too large, or above the total."""
        self.unreadable = 0
        """Number of changes whose contents could not be read."""

    def difference(self, change: PageChange, name: Callable[[Visit], str]) -> Difference | None:
        """The difference of the two versions; None if there is nothing to compare, or a limit is reached."""
        before, after = change.before, change.visit
        if before is None:
            return None
        if self._left is not None and self._left <= 0:
            self.left_out += 1
            return None
        try:
            old, new = (read_version(self._read, visit, self._max_decoded) for visit in (before, after))
        except (WebstrataError, OSError):
            self.unreadable += 1
            return None
        size = max(len(old.body), len(new.body))
        if self._left is not None:
            self._left -= size
            if size > _MAX_CONTENT:
                self.left_out += 1
                return None
        return version_difference(
            old,
            new,
            change.page.page_rules,
            raw=False,
            before_name=name(before),
            after_name=name(after),
            noise=learned_noise(change.page),
        )
