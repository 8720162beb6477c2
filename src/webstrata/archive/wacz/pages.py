"""The lists of pages in a WACZ file, from which readers choose and in which replay software searches.

Each page is listed once: with its capture nearest to the instant of the package, with its title and its text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Container, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import asdict

from webstrata.archive.export import ExportedRecords, OpenArchive, SelectedRecord
from webstrata.archive.index import cdxj
from webstrata.archive.warc.reader import WarcCapture
from webstrata.clock import iso
from webstrata.coding import decode
from webstrata.errors import ArchiveError

PAGES = "pages/pages.jsonl"
EXTRA_PAGES = "pages/extraPages.jsonl"
_PAGE_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_MAX_BODY_BYTES = 4 * 1024**2
"""Titles and texts are those of the first bytes of longer pages."""

DescribePage = Callable[[bytes, str], tuple[str, str]]
"""(body, Content-Type) -> (title, text)."""


class PackagePages(Struct, frozen=True, kw_only=True):
    """Which pages a package lists."""

    seeds: tuple[str, ...] | None = None
    """The pages at which the capture began, which are listed apart from the others; None if there are none."""
    pages: Container[str] | None = None
    """The pages of the capture; None: all HTML pages."""
    since: float = 0.0
    """Records from before are only there because revisits refer to them."""
    nearest_to: float | None = None
    """Of several captures of a page, the one nearest to this time is listed; the first one if it is None."""
    describe: DescribePage = lambda body, content_type: ("", "")


class ListedPage(Struct, frozen=True, kw_only=True):
    """A page of a list. The encoded line has these fields without the empty ones."""

    id: str
    url: str
    ts: str
    title: str = ""
    text: str = ""
    seed: bool = False


class _Candidate(Struct, frozen=True):
    """A record that may be listed as its page."""

    at: float
    line: bytes
    source: SelectedRecord
    is_html: bool | None
    """None for revisits: it depends on the original."""
    is_unmodified: bool
    """A 304 response; replay software prefers others."""


class PageLists:
    """The pages of the copied records."""

    def __init__(self, source: OpenArchive, copied: ExportedRecords, choice: PackagePages) -> None:
        self._archive = source
        self._choice = choice
        self._seeds = choice.seeds or ()
        self._candidates: dict[str, list[_Candidate]] = {}
        for line, selected in zip(copied.lines, copied.sources, strict=True):
            entry = cdxj.parse(line)
            if entry and self._may_be_page(entry):
                is_html = None if entry.revisit else entry.mime in _PAGE_TYPES
                at = cdxj.at_of(entry.timestamp)
                found = _Candidate(at, line, selected, is_html, entry.status == "304")
                self._candidates.setdefault(entry.url, []).append(found)

    def _may_be_page(self, entry: cdxj.CdxjEntry) -> bool:
        """Seeds are listed whatever they are; other pages, if they are HTML."""
        if cdxj.at_of(entry.timestamp) < int(self._choice.since):
            return False
        if entry.url in self._seeds:
            return entry.status[:1] in ("2", "3")
        is_captured = self._choice.pages is None or entry.url in self._choice.pages
        return is_captured and (entry.revisit or (entry.status == "200" and entry.mime in _PAGE_TYPES))

    def main_page(self) -> ListedPage | None:
        """The first seed."""
        return self._page(self._seeds[0]) if self._seeds else None

    def seeds(self) -> Iterator[bytes]:
        """The lines of `pages.jsonl`: the seeds or, without any, all pages."""
        if self._choice.seeds is None:
            return self._lines("pages", "All Pages", sorted(self._candidates, key=self._key))
        return self._lines("pages", "Seed Pages", self._seeds)

    def others(self) -> Iterator[bytes]:
        """The lines of `extraPages.jsonl`; none if there are no other pages."""
        if self._choice.seeds is None:
            return iter(())
        urls = sorted(self._candidates.keys() - set(self._seeds), key=self._key)
        return self._lines("extra-pages", "Other Pages", urls) if urls else iter(())

    def _key(self, url: str) -> bytes:
        return cdxj.sort_key(self._candidates[url][0].line)

    def _lines(self, name: str, title: str, urls: Sequence[str]) -> Iterator[bytes]:
        yield _encoded({"format": "json-pages-1.0", "id": name, "title": title, "hasText": True})
        for url in urls:
            if (page := self._page(url)) is not None:
                yield _encoded({field: value for field, value in asdict(page).items() if value})

    def _page(self, url: str) -> ListedPage | None:
        """The page with its nearest capture."""
        is_seed = url in self._seeds
        instant = self._choice.nearest_to
        candidates = self._candidates.get(url, [])

        def order(one: _Candidate) -> tuple[bool, float, float]:
            return one.is_unmodified, 0.0 if instant is None else abs(one.at - instant), one.at

        for one in sorted(candidates, key=order):
            title, text, is_html = self._described(one)
            if is_html or is_seed:
                name = hashlib.sha256(one.line).hexdigest()[:16]
                return ListedPage(id=name, url=url, ts=iso(one.at), title=title, text=text, seed=is_seed)
        return None

    def _described(self, one: _Candidate) -> tuple[str, str, bool]:
        """(title, text, whether it is HTML)."""
        if one.is_html is False:
            return "", "", False
        try:
            capture = self._archive.reader.read_at(one.source.file, one.source.offset)
        except ArchiveError:  # a revisit without its original: it is there, and readers see why
            return "", "", False
        content_type = _header(capture, "content-type")
        if content_type.partition(";")[0].strip().lower() not in _PAGE_TYPES:
            return "", "", False
        if capture.large is not None:  # a page of this size is listed without its text
            return "", "", True
        body = decode(capture.body, _header(capture, "content-encoding") or None, max_bytes=_MAX_BODY_BYTES).body
        return (*self._choice.describe(body[:_MAX_BODY_BYTES], content_type), True)


def _header(capture: WarcCapture, name: str) -> str:
    return next((value for field, value in capture.headers if field.lower() == name), "")


def _encoded(fields: dict[str, object]) -> bytes:
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
