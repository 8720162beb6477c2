"""Reading the past back: which visit holds the version of a time, and its content from the archive."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from msgspec import Struct

from webstrata import urls
from webstrata.coding import decode
from webstrata.errors import UsageError
from webstrata.ports import Store, StoredCapture
from webstrata.records import Page, Position, Visit


class Version(Struct, frozen=True, kw_only=True):
    """A page's content as one visit found it."""

    visit: Visit
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    """Content coding removed."""

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)


async def watched_page(store: Store, address: str) -> Page:
    url = urls.canonical(address)
    page = await store.page(url)
    if page is None:
        raise UsageError(f"{url} is not watched. `webstrata list` shows what is; `webstrata watch` adds it.")
    return page


async def version_at(store: Store, page: Page, at: float | None) -> Visit:
    """The newest visit with content not after `at`."""
    for visit in await store.visits(page.id, until=at):
        if _is_version(visit):
            return visit
    raise UsageError(f"no content of {page.url} is archived" + (" from before that time." if at else " yet."))


async def two_versions(
    store: Store, page: Page, since: float | None, until: float | None, *, raw: bool
) -> tuple[Visit, Visit]:
    """The versions as of two times; without `since`, those of the last change that counted.

    Where none did, or with `raw`: the last two that differ in their bytes.
    """
    after = await version_at(store, page, until)
    if since is not None:
        return await version_at(store, page, since), after
    held = [visit for visit in await store.visits(page.id, until=after.at) if _is_version(visit)]
    pairs = [(before, now) for now, before in pairwise(held) if before.raw != now.raw]
    counted = [] if raw else [pair for pair in pairs if pair[1].counts]
    if counted or pairs:
        return (counted or pairs)[0]
    raise UsageError(f"only one version of {page.url} is archived so far; there is nothing to compare.")


def _is_version(visit: Visit) -> bool:
    """Whether it brought the page: what stood in its place is archived too, and no version of it."""
    return visit.raw is not None and visit.position is not None and visit.failure is None


def read_version(read: Callable[[Position], StoredCapture], visit: Visit, max_decoded: int) -> Version:
    """Read a visit's content back."""
    if visit.position is None:
        raise UsageError("this visit left nothing in the archive.")
    stored = read(visit.position)
    coding = next((value for name, value in stored.headers if name == "content-encoding"), None)
    # The visit saw to the ratio already; a byte may become as much as the whole may be.
    decoded = decode(stored.body, coding, max_bytes=max_decoded, max_ratio=max_decoded)
    return Version(visit=visit, status=stored.status, headers=stored.headers, body=decoded.body)
