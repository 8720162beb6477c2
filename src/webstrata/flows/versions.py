"""Archived versions of a page: the visit that holds the version of a time, and its content.

`logged_sightings` lists what the crawl log holds of a whole site, for its coherence.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from urllib.parse import urlsplit

from msgspec import Struct

from webstrata import urls
from webstrata.coding import MAX_RATIO, PieceSource, decode, decode_pieces
from webstrata.detect.response_class import StatusClass, status_class
from webstrata.errors import UsageError
from webstrata.ports import Store, StoredCapture
from webstrata.records import ChangeKind, FailureKind, LargeBody, Page, PageRole, Position, Sighting, Visit


class Version(Struct, frozen=True, kw_only=True):
    """The content of a page at one visit."""

    visit: Visit
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    """Content coding removed; empty if the body is `large`."""
    large: LargeBody | None = None
    """The body as sent, if it is too large for memory."""
    address: str = ""
    """The final URL of the response, after all redirects; empty if it is the page's, or if a handler made the
    content."""

    @property
    def base(self) -> str:
        """The URL against which the links of the content are resolved."""
        return self.address or self.visit.url

    @property
    def size(self) -> int:
        """The size of the body; of a large one, as sent."""
        return len(self.body) if self.large is None else self.large.size

    def write(self, write: Callable[[bytes], object]) -> str | None:
        """Pass the body to `write`, content coding removed, piece by piece; returns the problem, if there is one."""
        if self.large is None:
            write(self.body)
            return None
        has_written = False

        def pass_on(data: bytes) -> None:
            nonlocal has_written
            has_written = has_written or bool(data)
            write(data)

        source = PieceSource(self.large.pieces(), self.large.size)
        max_bytes = int(MAX_RATIO) * self.large.size
        problem = decode_pieces(source, self.header("content-encoding"), pass_on, max_bytes=max_bytes)
        if problem is not None and not has_written:  # it does not have the coding that its header names
            for piece in self.large.pieces():
                write(piece)
        return problem

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)


async def watched_page(store: Store, address: str) -> Page:
    url = urls.canonical(address)
    page = await store.pages.get(url)
    if page is None:
        raise UsageError(f"{url} is not watched. `webstrata list` shows what is; `webstrata watch` adds it.")
    return page


async def version_at(store: Store, page: Page, at: float | None) -> Visit:
    """The newest visit with content that is not after `at`."""
    for visit in await store.visit_log.of_page(page.id, until=at):
        if is_version(visit):
            return visit
    raise UsageError(f"no content of {page.url} is archived" + (" from before that time." if at else " yet."))


async def two_versions(
    store: Store, page: Page, since: float | None, until: float | None, *, raw: bool
) -> tuple[Visit, Visit]:
    """The versions at two times; without `since`, the two versions of the last change that counts.

    A page that moved has the same content at another address. If no change counts, or with `raw`: the last two
    versions whose bytes differ.
    """
    after = await version_at(store, page, until)
    if since is not None:
        return await version_at(store, page, since), after
    versions = [visit for visit in await store.visit_log.of_page(page.id, until=after.at) if is_version(visit)]
    pairs = [
        (before, now)
        for now, before in pairwise(versions)
        if before.raw != now.raw or (now.kind is ChangeKind.MOVED and not raw)
    ]
    counted = [] if raw else [pair for pair in pairs if pair[1].counts]
    if counted or pairs:
        return (counted or pairs)[0]
    raise UsageError(f"only one version of {page.url} is archived so far; there is nothing to compare.")


def is_version(visit: Visit) -> bool:
    """Whether the visit returned the page. Error pages are archived as well, but are not versions."""
    if visit.raw is None or visit.position is None or visit.failure is not None:
        return False
    return status_class(visit.status or 0) is not StatusClass.GONE


def read_version(read: Callable[[Position], StoredCapture], visit: Visit, max_decoded: int) -> Version:
    """Read the content of a visit from the archive."""
    if visit.position is None:
        raise UsageError("nothing is archived of this visit.")
    stored = read(visit.position)
    if stored.large is not None:
        return Version(visit=visit, status=stored.status, headers=stored.headers, body=b"", large=stored.large)
    coding = next((value for name, value in stored.headers if name == "content-encoding"), None)
    # The ratio was checked by the visit: here only the size is limited.
    decoded = decode(stored.body, coding, max_bytes=max_decoded, max_ratio=max_decoded)
    is_redirected = stored.url != visit.url and not stored.url.startswith("urn:")
    return Version(
        visit=visit,
        status=stored.status,
        headers=stored.headers,
        body=decoded.body,
        address=stored.url if is_redirected else "",
    )


_NOT_ASKED = frozenset(
    {FailureKind.ROBOTS, FailureKind.BLOCKED, FailureKind.BAD_URL, FailureKind.HANDLER, FailureKind.INTERNAL}
)
"""Failures that say nothing about the page: the server was not asked for it, or its answer was not understood here."""


async def logged_sightings(
    store: Store, site: str, *, layer: str = "content", longest_visit_s: float
) -> list[Sighting]:
    """All visits of the pages below a URL, or of a host; failed ones as well.

    `layer`: "content" compares versions by the changes that count (as logged), "raw" by their bytes. A visit with
    several requests lasted at most `longest_visit_s`: the waits between them are not logged.
    """
    prefix = urls.canonical(site if "://" in site else f"http://{site}/")
    host = urls.host_of(prefix)
    path_prefix = prefix if urlsplit(prefix).path.strip("/") else ""
    sightings: list[Sighting] = []
    async for page in store.pages.stream(host=host):
        if page.role is not PageRole.PAGE or not page.url.startswith(path_prefix):
            continue
        version = 0
        for visit in await store.visit_log.of_page(page.id, order="oldest"):
            if visit.failure is not None and visit.failure.kind in _NOT_ASKED:
                continue
            version += visit.counts
            content = (visit.raw or visit.payload or "") if layer == "raw" else f"{version}"
            failure = visit.failure.kind.value if visit.failure is not None else "truncated" if visit.truncated else ""
            sightings.append(
                Sighting(
                    url=page.url,
                    at=visit.at,
                    ended_by=visit.at + (max(visit.duration_s, longest_visit_s) if visit.hops else visit.duration_s),
                    content="" if failure else content,
                    status=200 if visit.status == 304 else visit.status or 0,  # 304 means that the page is unchanged
                    failure=failure,
                )
            )
    if not sightings:
        raise UsageError(f"no page of {site} was visited yet. `webstrata list --host {host}` shows what is watched.")
    return sightings
