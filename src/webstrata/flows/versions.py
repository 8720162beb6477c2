"""Archived versions of a page: the visit that holds the version of a time, its content, and differences of versions.

`logged_sightings` lists what the crawl log holds of a whole site, for its coherence.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from urllib.parse import urlsplit

from msgspec import Struct

from webstrata import urls
from webstrata.clock import iso
from webstrata.coding import decode
from webstrata.detect.diff.binary import BinaryContent
from webstrata.detect.diff.difference import Difference, ParsedVersion, difference
from webstrata.detect.diff.feed import EntryVersion
from webstrata.detect.response_class import StatusClass, status_class
from webstrata.errors import UsageError
from webstrata.observe.data.feed import FeedEntry
from webstrata.observe.data.readable import readable
from webstrata.observe.documents.formats import document_format
from webstrata.observe.documents.image import pixel_difference
from webstrata.observe.documents.summary import describe
from webstrata.observe.documents.text import document_text
from webstrata.observe.html.charset import DEFAULT, decode_plain
from webstrata.observe.html.charset import decode as decode_html
from webstrata.observe.html.table_rows import table_rows, with_rows
from webstrata.observe.media import HTML, header_charset, media_type
from webstrata.observe.page import ObservedContent, observe
from webstrata.ports import Store, StoredCapture
from webstrata.records import Page, PageRole, PageRules, Position, Sighting, Visit


class Version(Struct, frozen=True, kw_only=True):
    """The content of a page at one visit."""

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
    """The newest visit with content that is not after `at`."""
    for visit in await store.visit_log.of_page(page.id, until=at):
        if is_version(visit):
            return visit
    raise UsageError(f"no content of {page.url} is archived" + (" from before that time." if at else " yet."))


async def two_versions(
    store: Store, page: Page, since: float | None, until: float | None, *, raw: bool
) -> tuple[Visit, Visit]:
    """The versions at two times; without `since`, the two versions of the last change that counts.

    If no change counts, or with `raw`: the last two versions whose bytes differ.
    """
    after = await version_at(store, page, until)
    if since is not None:
        return await version_at(store, page, since), after
    versions = [visit for visit in await store.visit_log.of_page(page.id, until=after.at) if is_version(visit)]
    pairs = [(before, now) for now, before in pairwise(versions) if before.raw != now.raw]
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
    coding = next((value for name, value in stored.headers if name == "content-encoding"), None)
    # The ratio was checked by the visit: here only the size is limited.
    decoded = decode(stored.body, coding, max_bytes=max_decoded, max_ratio=max_decoded)
    return Version(visit=visit, status=stored.status, headers=stored.headers, body=decoded.body)


def version_difference(
    before: Version, after: Version, page_rules: PageRules | None, *, raw: bool, before_name: str, after_name: str
) -> Difference:
    """The difference of two versions, without the parts that the rules ignore; `raw` compares the source only."""
    contents = [content_of(version, page_rules, raw=raw) for version in (before, after)]
    return content_difference(*contents, before_name=before_name, after_name=after_name)


def content_difference(before: ParsedVersion, after: ParsedVersion, *, before_name: str, after_name: str) -> Difference:
    """The difference of two contents; pictures are compared by their pixels."""
    pixels = None
    if before.binary is not None and after.binary is not None:
        pixels = pixel_difference(before.binary.body, after.binary.body)
    return difference(before, after, before_name=before_name, after_name=after_name, pixels=pixels)


def content_of(version: Version, page_rules: PageRules | None, *, raw: bool) -> ParsedVersion:
    """A version in the forms that can be compared."""
    header = version.header("content-type")
    charset = header_charset(header)
    if raw:
        return ParsedVersion(text=decode_plain(version.body, charset)[0])
    observed = observe(version.body, header, version.visit.url, page_rules)
    if observed.selected is not None and observed.selected.text is not None:
        return ParsedVersion(text=observed.selected.text)
    kind = media_type(version.body, header)
    if kind in HTML:
        return _page(observed, version.body, kind, charset)
    data = readable(version.body, kind, charset, version.visit.url)
    if data.sheets is not None:
        return ParsedVersion(sheets=data.sheets)
    document = _document(version.body, kind, charset, version.visit.url)
    if document is not None:
        return document
    text = observed.text if observed.text is not None else decode_plain(version.body, charset)[0]
    return ParsedVersion(
        text=text,
        triples=data.triples,
        table=data.table,
        document=data.document,
        entries=None if data.entries is None else tuple(map(_entry, data.entries)),
    )


_BINARY_TYPES = ("image/", "audio/", "video/", "font/")
_SNIFFED_BYTES = 8_000


def _document(body: bytes, kind: str, charset: str | None, url: str) -> ParsedVersion | None:
    """A document that is not a page: its text or a description; None if it is plain text or data."""
    name = document_format(body, kind, url)
    text = document_text(body, kind) if name else None
    if text is not None:
        return ParsedVersion(text=text)
    if name == "svg":
        text = decode_plain(body, charset)[0]
    elif not name and not kind.startswith(_BINARY_TYPES) and b"\0" not in body[:_SNIFFED_BYTES]:
        return None
    content = BinaryContent(description=describe(body, kind), media_type=kind, body=body)
    return ParsedVersion(text=text or "", binary=content)


_MAIN_PARTS = ("title", "body", "side")


def _page(observed: ObservedContent, body: bytes, kind: str, charset: str | None) -> ParsedVersion:
    """The main content of a page, and what surrounds it; the cells of a table row stand in one line."""
    rows = table_rows(decode_html(body, charset, html=True, default=DEFAULT if kind == "text/html" else "utf-8")[0])
    if observed.part_texts is None:
        return ParsedVersion(text=with_rows(observed.text or "", rows), links=observed.links)
    parts = observed.part_texts._asdict()
    main = "\n".join(parts[name] for name in _MAIN_PARTS if parts.get(name))
    outside = "\n".join(text for name, text in parts.items() if text and name not in _MAIN_PARTS)
    return ParsedVersion(text=with_rows(main, rows), outside=with_rows(outside, rows), links=observed.links)


def _entry(entry: FeedEntry) -> EntryVersion:
    return EntryVersion(
        id=entry.id,
        title=entry.title,
        link=entry.url or "",
        updated="" if entry.updated_at is None else _time(entry.updated_at),
        content=entry.content,
    )


def _time(at: float) -> str:
    """The time that a feed states; it may be out of the range of dates."""
    try:
        return iso(at)
    except (ValueError, OverflowError, OSError):
        return ""


async def logged_sightings(store: Store, site: str, *, layer: str = "content") -> list[Sighting]:
    """All successful visits of the pages below a URL, or of a host.

    `layer`: "content" compares versions by the changes that count (as logged), "raw" by their bytes.
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
            if visit.status is None or visit.failure is not None:
                continue
            version += visit.counts
            status = 200 if visit.status == 304 else visit.status  # 304 means that the page is unchanged
            content = (visit.raw or visit.payload or "") if layer == "raw" else f"{version}"
            sightings.append(Sighting(url=page.url, at=visit.at, content=content, status=status))
    if not sightings:
        raise UsageError(f"no page of {site} was visited yet. `webstrata list --host {host}` shows what is watched.")
    return sightings
