"""Reading the past back: which visit holds the version of a time, and its content from the archive.

Two archived versions of a page, read in every way that their format allows, and compared.

Coherence out of ordinary visits: what the loop's own log saw of a site.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from urllib.parse import urlsplit

from msgspec import Struct

from webstrata import urls
from webstrata.coding import decode
from webstrata.detect.diff.difference import Difference, ParsedVersion, difference
from webstrata.errors import UsageError
from webstrata.observe.data.readable import readable
from webstrata.observe.html.charset import decode_plain
from webstrata.observe.media import HTML, header_charset, media_type
from webstrata.observe.page import observe
from webstrata.ports import Store, StoredCapture
from webstrata.records import Page, PageRole, PageRules, Position, Sighting, Visit


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
    page = await store.pages.get(url)
    if page is None:
        raise UsageError(f"{url} is not watched. `webstrata list` shows what is; `webstrata watch` adds it.")
    return page


async def version_at(store: Store, page: Page, at: float | None) -> Visit:
    """The newest visit with content not after `at`."""
    for visit in await store.visit_log.of_page(page.id, until=at):
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
    held = [visit for visit in await store.visit_log.of_page(page.id, until=after.at) if _is_version(visit)]
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


def version_difference(
    before: Version, after: Version, page_rules: PageRules | None, *, raw: bool, before_name: str, after_name: str
) -> Difference:
    """What differs; `raw` compares the source and nothing else. What the page's rules ignore is not shown."""
    contents = [content_of(version, page_rules, raw=raw) for version in (before, after)]
    return difference(*contents, before_name=before_name, after_name=after_name)


def content_of(version: Version, page_rules: PageRules | None, *, raw: bool) -> ParsedVersion:
    """One version as differences see it."""
    header = version.header("content-type")
    charset = header_charset(header)
    if raw:
        return ParsedVersion(text=decode_plain(version.body, charset)[0])
    seen = observe(version.body, header, version.visit.url, page_rules)
    if seen.selected is not None and seen.selected.text is not None:
        return ParsedVersion(text=seen.selected.text)
    kind = media_type(version.body, header)
    if kind in HTML:
        return ParsedVersion(text=seen.text or "", links=seen.links)
    data = readable(version.body, kind, charset, version.visit.url)
    text = seen.text if seen.text is not None else decode_plain(version.body, charset)[0]
    return ParsedVersion(text=text, triples=data.triples, table=data.table, document=data.document)


async def logged_sightings(store: Store, site: str, *, layer: str = "content") -> list[Sighting]:
    """All that visits saw of the pages below an address, or of a host.

    `layer`: "content" compares what counts as a change of the page (the log's own judgement), "raw" its bytes.
    """
    prefix = urls.canonical(site if "://" in site else f"http://{site}/")
    host = urls.host_of(prefix)
    below = prefix if urlsplit(prefix).path.strip("/") else ""
    seen: list[Sighting] = []
    async for page in store.pages.stream(host=host):
        if page.role is not PageRole.PAGE or not page.url.startswith(below):
            continue
        version = 0
        for visit in await store.visit_log.of_page(page.id, order="oldest"):
            if visit.status is None or visit.failure is not None:
                continue
            version += visit.counts
            content = (visit.raw or visit.payload or "") if layer == "raw" else f"{version}"
            seen.append(Sighting(url=page.url, at=visit.at, content=content, status=_status(visit.status)))
    if not seen:
        raise UsageError(f"nothing of {site} was visited yet. `webstrata list --host {host}` shows what is watched.")
    return seen


def _status(status: int) -> int:
    """A 304 says that the page is as it was."""
    return 200 if status == 304 else status
