"""Sitemaps, sitemap indexes, and feeds and lists of URLs used as sitemaps: their entries, and the digest of these.

The parser accepts any media type, missing namespaces, white space before the XML declaration and truncated files; the
entries before an error are included. For safety a file that declares entities is refused, external entities are not
loaded, and the size and the number of entries are limited. Entries may be on any site (`http` or `https`); the caller
checks which are in scope. The digest covers the pairs of URL and `lastmod`, not their order, priorities or layout.
"""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import Literal
from xml.parsers import expat

from msgspec import Struct
from msgspec.structs import replace

from webstrata.clock import parse_instant
from webstrata.coding import decode
from webstrata.errors import UsageError
from webstrata.observe.data.digest import DataDigest, digest_of, refused
from webstrata.observe.data.xml import without_leading_space
from webstrata.observe.html import charset
from webstrata.urls import join

MAX_ENTRIES = 50_000
"""The limit in the sitemap protocol; further entries are left out."""
MAX_BYTES = 52_428_800
"""The limit in the sitemap protocol (50 MB, uncompressed)."""
_MAX_RATIO = 500.0
_MAX_TEXT_LENGTH = 10_000
_MAX_SHOWN = 80

Kind = Literal["urlset", "index", "feed", "text", "unknown"]


class SitemapEntry(Struct, frozen=True, kw_only=True, gc=False):
    url: str
    lastmod: float | None = None
    """The time in the file, which may be wrong or in the future."""
    changefreq: str | None = None
    """How often the page changes (`daily`, …), in lower case."""


class Sitemap(Struct, frozen=True, kw_only=True):
    """The entries of a sitemap. The entries of an index are sitemaps, not pages."""

    kind: Kind
    entries: tuple[SitemapEntry, ...] = ()
    problem: str | None = None
    """Why the file was not parsed to its end."""
    note: str | None = None
    """What was left out although the file was parsed to its end."""


def sitemap_digest(body: bytes, charset: str | None, url: str) -> DataDigest:
    """The digest of a sitemap or index. A file that is not parsed to its end has none. Never raises."""
    sitemap = parse_sitemap(body, url)
    if sitemap.problem is not None:
        return refused("sitemap", sitemap.problem)
    if not sitemap.entries:
        return refused("sitemap", "no entries")
    lines = sorted(f"{entry.url} {entry.lastmod}".encode() for entry in sitemap.entries)
    return DataDigest(kind="sitemap", digest=digest_of(sitemap.kind, lines), size=len(lines), note=sitemap.note)


def parse_sitemap(body: bytes, url: str) -> Sitemap:
    """Parse the sitemap at `url`, gzipped or not. Never raises."""
    if body.startswith(b"\x1f\x8b"):
        decoded = decode(body, "gzip", max_bytes=MAX_BYTES, max_ratio=_MAX_RATIO)
        body, problem = decoded.body, decoded.problem
    else:
        problem = None
    if len(body) > MAX_BYTES:
        body, problem = body[:MAX_BYTES], f"longer than {MAX_BYTES} bytes"
    start = body[:1024].removeprefix(b"\xef\xbb\xbf").lstrip()
    is_utf16 = start.startswith((b"\xfe\xff<", b"\xff\xfe<", b"\xfe\xff\0<", b"\xff\xfe<\0"))
    sitemap = _parse_xml(body, url) if start.startswith(b"<") or is_utf16 else _parse_lines(body, url)
    return sitemap if problem is None else replace(sitemap, problem=problem)


def _parse_lines(body: bytes, url: str) -> Sitemap:
    text, _ = charset.decode(body, "utf-8")
    collected = _SitemapEntries(url)
    problem: str | None = None
    left_out, note = 0, ""
    try:
        for number, line in enumerate(text.splitlines(), start=1):
            if not line.strip():
                continue
            # A line without a scheme could be a relative link or a host name: the protocol requires whole URLs.
            is_url = line.lstrip().lower().startswith(("http://", "https://"))
            if not is_url or not collected.add(line.strip(), None):
                left_out += 1
                note = note or f"the first is line {number}: {line.strip()[:_MAX_SHOWN]!r}"
    except _SitemapLimitError:
        problem = f"more than {MAX_ENTRIES} entries"
    entries = collected.entries()
    if not entries:
        return Sitemap(kind="unknown", problem="neither XML nor a list of URLs")
    whole_note = f"lines that are not http or https URLs: {left_out}; {note}" if left_out else None
    return Sitemap(kind="text", entries=entries, problem=problem, note=whole_note)


def _parse_xml(body: bytes, url: str) -> Sitemap:
    handlers = _SitemapHandlers(url)
    problem: str | None = None
    try:
        handlers.parser.Parse(without_leading_space(body), True)
    except _SitemapRefusedError as refusal:
        return Sitemap(kind="unknown", problem=str(refusal))
    except _SitemapLimitError:
        problem = f"more than {MAX_ENTRIES} entries"
    except expat.ExpatError as error:
        problem = f"not well-formed XML: {error}"
        # If the file is truncated inside a tag, the text before that tag is complete.
        handlers.end_early(text_is_complete=body.rfind(b"<") > body.rfind(b">"))
    except (ValueError, LookupError) as error:  # an encoding without a codec
        problem = f"cannot be decoded: {error}"
    return Sitemap(kind=handlers.kind, entries=handlers.entries.entries(), problem=problem)


class _SitemapRefusedError(Exception):
    """The file uses something that is refused for safety."""


class _SitemapLimitError(Exception):
    """The file has more entries than are parsed."""


class _SitemapEntries:
    """The entries so far, without duplicate URLs."""

    def __init__(self, url: str) -> None:
        self._base = url
        self._by_url: dict[str, SitemapEntry] = {}

    def add(self, loc: str, lastmod: str | None, changefreq: str | None = None) -> bool:
        """Add an entry; False if its address is not an http or https URL."""
        url = join(self._base, loc)
        if url is None:
            return False
        if len(self._by_url) >= MAX_ENTRIES:
            raise _SitemapLimitError
        self._by_url.setdefault(url, SitemapEntry(url=url, lastmod=_instant(lastmod), changefreq=changefreq))
        return True

    def entries(self) -> tuple[SitemapEntry, ...]:
        return tuple(self._by_url.values())


# The kind of file by its entry element, and the elements that contain the address and the time of an entry.
_ENTRY_OF: dict[str, Kind] = {"url": "urlset", "sitemap": "index", "item": "feed", "entry": "feed"}
_LOCS = ("loc", "link", "guid", "id")
_TIMES = ("lastmod", "updated", "pubdate", "published", "date")
_CHANGEFREQ = "changefreq"
_FIELDS = frozenset((*_LOCS, *_TIMES, _CHANGEFREQ))


class _SitemapHandlers:
    """Expat handlers that collect the address and time of each entry element."""

    def __init__(self, url: str) -> None:
        self.entries = _SitemapEntries(url)
        self.kind: Kind = "unknown"
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.EntityDeclHandler = self._refuse
        self._depth = 0
        self._entry_depth = 0  # 0: not inside an entry
        self._field: str | None = None
        self._words: list[str] = []
        self._length = 0
        self._fields: dict[str, str] = {}

    def end_early(self, *, text_is_complete: bool) -> None:
        """Store the last entry of a truncated file if its address is complete."""
        if self._entry_depth:
            if text_is_complete:
                self._store_field()
            try:
                self._store_entry()
            except _SitemapLimitError:
                return

    def _refuse(self, *_: object) -> None:
        raise _SitemapRefusedError("declares entities")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        local = name.rpartition(" ")[2].lower()
        if not self._entry_depth:
            if local in _ENTRY_OF:
                self.kind = _ENTRY_OF[local]
                self._entry_depth, self._fields = self._depth, {}
        elif self._depth == self._entry_depth + 1 and local in _FIELDS:
            self._field, self._words, self._length = local, [], 0
            if local == "link" and attributes.get("rel", "alternate") == "alternate" and "href" in attributes:
                self._fields.setdefault("link", attributes["href"])

    def _text(self, text: str) -> None:
        if self._field is not None and self._length < _MAX_TEXT_LENGTH:
            self._words.append(text)
            self._length += len(text)

    def _end(self, name: str) -> None:
        if self._entry_depth:
            if self._depth == self._entry_depth + 1:
                self._store_field()
            elif self._depth == self._entry_depth:
                self._store_entry()
        self._depth -= 1

    def _store_field(self) -> None:
        text = "".join(self._words).strip() if self._field is not None else ""
        if self._field is not None and text:
            self._fields.setdefault(self._field, text)
        self._field = None

    def _store_entry(self) -> None:
        self._entry_depth = 0
        fields = self._fields
        loc = fields.get("loc") if self.kind in ("urlset", "index") else _feed_link(fields)
        if loc:
            changefreq = fields[_CHANGEFREQ].lower() if _CHANGEFREQ in fields else None
            self.entries.add(loc, next((fields[name] for name in _TIMES if name in fields), None), changefreq)


def _feed_link(fields: dict[str, str]) -> str | None:
    for name in ("link", "guid", "id"):
        if fields.get(name, "").startswith(("http://", "https://")):
            return fields[name]
    return fields.get("link")


def _instant(text: str | None) -> float | None:
    if not text:
        return None
    text = text[:64]
    try:
        return parse_instant(text + "-01" if len(text) == 7 else text)
    except UsageError:
        pass
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError, IndexError, TypeError):
        return None
