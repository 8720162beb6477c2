"""Sitemaps, sitemap indexes and, as search engines do, feeds and plain lists of URLs: body -> entries.

Lenient where the intent is clear (no namespace, white space before the declaration, a file cut off in the middle, any
media type): what was read before the fault counts. Strict where a file may do harm: entity declarations are refused
and nothing of such a file counts, external entities do not exist, size and number of entries are limited. Entries may
lie anywhere on the web (`http` or `https`); which of them are wanted is the caller's to say, by the site's scope.

Sitemaps -> digest of url -> lastmod: order, priorities and layout do not count.
"""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import Literal
from xml.parsers import expat

from msgspec import Struct

from webstrata.clock import parse_instant
from webstrata.coding import decode
from webstrata.errors import UsageError
from webstrata.observe.data.digest import DataDigest, digest_of, refused
from webstrata.observe.html import charset
from webstrata.urls import join

MAX_ENTRIES = 50_000
"""As the protocol says; further ones are left out."""
MAX_BYTES = 52_428_800
"""As the protocol says (50 MB, uncompressed)."""
_LARGEST_RATIO = 500.0
_LONGEST_TEXT = 10_000

Kind = Literal["urlset", "index", "feed", "text", "unknown"]


class SitemapEntry(Struct, frozen=True, kw_only=True, gc=False):
    url: str
    lastmod: float | None = None
    """What the file says; neither future nor nonsense has been judged."""
    changefreq: str | None = None
    """How often the page changes, in the file's word for it, in lower case."""


class Sitemap(Struct, frozen=True, kw_only=True):
    """What a sitemap lists. Of an index the entries are sitemaps, not pages."""

    kind: Kind
    entries: tuple[SitemapEntry, ...] = ()
    problem: str | None = None
    """Why the file was not read to its end."""


def read_sitemap(body: bytes, url: str) -> Sitemap:
    """Read a sitemap found at `url`, gzipped or not. Never raises."""
    if body.startswith(b"\x1f\x8b"):
        decoded = decode(body, "gzip", max_bytes=MAX_BYTES, max_ratio=_LARGEST_RATIO)
        body, problem = decoded.body, decoded.problem
    else:
        problem = None
    if len(body) > MAX_BYTES:
        body, problem = body[:MAX_BYTES], f"longer than {MAX_BYTES} bytes"
    start = body[:1024].removeprefix(b"\xef\xbb\xbf").lstrip()
    wide = start.startswith((b"\xfe\xff<", b"\xff\xfe<", b"\xfe\xff\0<", b"\xff\xfe<\0"))
    read = _read_xml(body, url) if start.startswith(b"<") or wide else _read_lines(body, url)
    return read if problem is None else Sitemap(kind=read.kind, entries=read.entries, problem=problem)


def _read_lines(body: bytes, url: str) -> Sitemap:
    text, _ = charset.decode(body, "utf-8")
    reader = _SitemapEntries(url)
    for line in text.splitlines():
        if line.lstrip().lower().startswith(("http://", "https://")):
            reader.add(line.strip(), None)
    kind: Kind = "text" if reader.found else "unknown"
    return Sitemap(
        kind=kind, entries=reader.entries(), problem=None if reader.found else "neither XML nor a list of URLs"
    )


def _read_xml(body: bytes, url: str) -> Sitemap:
    reader = _XmlReader(url)
    problem: str | None = None
    try:
        reader.parser.Parse(_from_first_mark(body), True)
    except _SitemapRefused as refusal:
        return Sitemap(kind="unknown", problem=str(refusal))
    except _SitemapFull:
        problem = f"more than {MAX_ENTRIES} entries"
    except expat.ExpatError as error:
        problem = f"not well-formed XML: {error}"
        # Cut off inside a tag: the text before that tag is whole. Cut off inside a text: it is not.
        reader.end_early(text_is_whole=body.rfind(b"<") > body.rfind(b">"))
    except (ValueError, LookupError) as error:  # an encoding that no codec reads
        problem = f"cannot be decoded: {error}"
    return Sitemap(kind=reader.kind, entries=reader.entries.entries(), problem=problem)


def _from_first_mark(body: bytes) -> bytes:
    """Without the white space that must not, but does, precede an XML declaration."""
    bare = body.removeprefix(b"\xef\xbb\xbf").lstrip()
    return bare if bare.startswith(b"<?xml") else body


class _SitemapRefused(Exception):  # noqa: N818 - a signal, not an error
    """The file tries something that no sitemap needs."""


class _SitemapFull(Exception):  # noqa: N818
    """As many entries as are read of one file."""


class _SitemapEntries:
    """Entries so far, each URL once."""

    def __init__(self, url: str) -> None:
        self._base = url
        self.found: dict[str, SitemapEntry] = {}

    def add(self, loc: str, lastmod: str | None, changefreq: str | None = None) -> None:
        url = join(self._base, loc)
        if url is None:
            return
        if len(self.found) >= MAX_ENTRIES:
            raise _SitemapFull
        self.found.setdefault(url, SitemapEntry(url=url, lastmod=_instant(lastmod), changefreq=changefreq))

    def entries(self) -> tuple[SitemapEntry, ...]:
        return tuple(self.found.values())


# Element -> which file it is the entry of; and where entries keep their address and time.
_ENTRY_OF: dict[str, Kind] = {"url": "urlset", "sitemap": "index", "item": "feed", "entry": "feed"}
_LOCS = ("loc", "link", "guid", "id")
_TIMES = ("lastmod", "updated", "pubdate", "published", "date")
_OFTEN = "changefreq"
_FIELDS = frozenset((*_LOCS, *_TIMES, _OFTEN))


class _XmlReader:
    """Expat handlers: collects the address and time of each entry element."""

    def __init__(self, url: str) -> None:
        self.entries = _SitemapEntries(url)
        self.kind: Kind = "unknown"
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.EntityDeclHandler = self._refuse
        self._depth = 0
        self._entry_depth = 0  # 0: outside
        self._field: str | None = None
        self._words: list[str] = []
        self._length = 0
        self._fields: dict[str, str] = {}

    def end_early(self, *, text_is_whole: bool) -> None:
        """The file broke off: take the entry under way if its address is complete."""
        if self._entry_depth:
            if text_is_whole:
                self._keep_field()
            try:
                self._keep_entry()
            except _SitemapFull:
                return

    def _refuse(self, *_: object) -> None:
        raise _SitemapRefused("declares entities")

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
        if self._field is not None and self._length < _LONGEST_TEXT:
            self._words.append(text)
            self._length += len(text)

    def _end(self, name: str) -> None:
        if self._entry_depth:
            if self._depth == self._entry_depth + 1:
                self._keep_field()
            elif self._depth == self._entry_depth:
                self._keep_entry()
        self._depth -= 1

    def _keep_field(self) -> None:
        text = "".join(self._words).strip() if self._field is not None else ""
        if self._field is not None and text:
            self._fields.setdefault(self._field, text)
        self._field = None

    def _keep_entry(self) -> None:
        self._entry_depth = 0
        fields = self._fields
        loc = fields.get("loc") if self.kind in ("urlset", "index") else _feed_link(fields)
        if loc:
            often = fields[_OFTEN].lower() if _OFTEN in fields else None
            self.entries.add(loc, next((fields[name] for name in _TIMES if name in fields), None), often)


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


def sitemap_digest(body: bytes, charset: str | None, url: str) -> DataDigest:
    """One sitemap or sitemap index. A file that is not read to its end is compared by its bytes. Never raises."""
    found = read_sitemap(body, url)
    if found.problem is not None:
        return refused("sitemap", found.problem)
    if not found.entries:
        return refused("sitemap", "no entries")
    lines = sorted(f"{entry.url} {entry.lastmod}".encode() for entry in found.entries)
    return DataDigest(kind="sitemap", digest=digest_of(found.kind, lines), size=len(lines))
