"""Feeds (all versions of RSS, Atom, RDF; JSON Feed): their entries, and the digest of the set of entries.

The digest of an entry covers its id, address, title, time and content. It does not depend on the order of entries, on
the feed's own title and build date, or on other elements of an entry (number of comments, styles). A feed that is not
well-formed XML is repaired if the intended form is clear.
"""

from __future__ import annotations

import hashlib
import re
from html import unescape
from urllib.parse import urljoin
from xml.parsers import expat

from webstrata.observe.data import xml
from webstrata.observe.data.data_field import DataField, entry_fields
from webstrata.observe.data.digest import DataDigest, digest_of, refused
from webstrata.observe.data.feed_entry import (
    MAX_ALL_CONTENTS,
    MAX_CONTENT_LENGTH,
    MAX_ENTRIES,
    Feed,
    FeedEntry,
    feed_time,
    plain_content,
)
from webstrata.observe.data.json_feed import is_json_feed, parse_json_feed
from webstrata.observe.data.xml import MAX_DEPTH, XmlRefusedError, repair_xml
from webstrata.urls import join

_MAX_FIELD_LENGTH = 65_536
_MAX_TITLE_LENGTH = 1_000

_ATOM = ("http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#")
_CORE = frozenset(
    {
        "",
        *_ATOM,
        "http://purl.org/rss/1.0/",
        "http://my.netscape.com/rdf/simple/0.9/",
        "http://channel.netscape.com/rdf/simple/0.9/",
        "http://my.netscape.com/publish/formats/rss-0.91.dtd",
        "http://purl.org/net/rss1.1#",
        "http://backend.userland.com/rss",
        "http://backend.userland.com/rss2",
        "http://blogs.law.harvard.edu/tech/rss",
        "http://purl.org/rss/1.0/modules/rss091#",
        "http://purl.org/atom/ns",
    }
)
"""Namespaces whose `title`, `link`, … are the feed's own."""
_KNOWN_PREFIXES = {
    "atom": _ATOM[0],
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "xhtml": "http://www.w3.org/1999/xhtml",
    "xml": "http://www.w3.org/XML/1998/namespace",
}
"""Prefixes that feeds use without declaring them, or bind to several namespaces; feed readers go by the prefix."""

_TEXTS = {"title": "title", "dc:title": "title", "guid": "id", "id": "id", "link": "link"}
_CONTENTS = frozenset({"description", "summary", "content", "encoded", "fullitem", "body", "content:encoded"})
_UPDATED = ("updated", "modified", "dcterms:modified", "dc:date", "pubdate", "published", "issued", "dcterms:issued",
            "created", "dcterms:created")  # fmt: skip
"""In order of preference: from the last change to the creation."""
_TAG = re.compile(r"<[^<>]*>")


class FeedLimitError(Exception):
    """The feed has more entries than are parsed."""


def feed_digest(body: bytes, charset: str | None, url: str) -> DataDigest:
    """The digest of a feed. Never raises."""
    feed = parse_feed(body, charset, url)
    if feed.problem is not None:
        return refused("feed", feed.problem)
    if not feed.entries:
        return refused("feed", "no entries")
    digests = sorted(entry.digest.encode() for entry in feed.entries)
    return DataDigest(
        kind="feed",
        digest=digest_of("feed", digests),
        note=feed.note,
        size=len(digests),
        read_fields=lambda: _fields(feed),
    )


def _fields(feed: Feed) -> list[DataField]:
    """One field per entry, the latest first; entries without a time in the order of the feed, after the others."""
    entries = sorted(feed.entries, key=lambda entry: -(entry.updated_at or 0.0))
    return entry_fields(
        (
            entry.id or entry.url or entry.title or entry.digest,
            entry.digest.encode(),
            entry.title or entry.url or entry.id,
        )
        for entry in entries
    )


def parse_feed(body: bytes, charset: str | None, url: str, *, with_content: bool = False) -> Feed:
    """The entries of a feed, in XML or JSON; `with_content`: with the text of their contents. Never raises."""
    max_contents = MAX_ALL_CONTENTS if with_content else 0
    if is_json_feed(body):
        return parse_json_feed(body, charset, url, max_contents=max_contents)
    feed = _parse(body, url, max_contents)
    if feed.problem is None or not feed.problem.startswith(xml.ILL_FORMED):
        return feed
    repaired = _parse(repair_xml(body, charset), url, max_contents)
    if repaired.problem is None:
        return Feed(entries=repaired.entries, note=f"repaired: {feed.problem}")
    return repaired if len(repaired.entries) > len(feed.entries) else feed


def _parse(body: bytes, url: str, max_contents: int) -> Feed:
    collector = FeedEntryCollector(url, max_contents)
    try:
        problem = xml.parse_safely(body, collector.parser)
    except FeedLimitError as full:
        problem = str(full)
    if problem is None and not collector.is_feed:
        problem = "not a feed"
    return Feed(entries=tuple(collector.entries.values()), problem=problem)


class FeedEntryCollector:
    """Expat handlers that collect the entries of a feed: run `parser` over the document, then use `entries`."""

    def __init__(self, url: str, max_contents: int = 0) -> None:
        """`max_contents`: characters of the contents of all entries that are kept as text."""
        self._contents_left = max_contents
        self.entries: dict[str, FeedEntry] = {}
        self.is_feed = False
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.SkippedEntityHandler = lambda name, is_parameter: self._text(unescape(f"&{name};"))
        self._bases = [url]
        self._spaces: list[dict[str, str]] = [{}]
        self._entry_depth = 0
        self._clear()

    def _clear(self) -> None:
        self._fields: dict[str, str] = {}
        self._content = hashlib.sha256()
        self._content_text: list[str] = []
        self._content_length = 0
        self._field: str | None = None
        self._words: list[str] = []
        self._length = 0
        self._in_content = False

    @property
    def _depth(self) -> int:
        return len(self._bases) - 1

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._depth >= MAX_DEPTH:
            raise XmlRefusedError(f"nested deeper than {MAX_DEPTH}")
        self._open(attributes)
        name = self._name(tag)
        if self._depth == 1:
            self.is_feed = name in ("rss", "feed", "rdf:rdf", "channel")
        if not self._entry_depth:
            if name in ("item", "entry"):
                self._entry_depth = self._depth
                about = attributes.get("rdf:about")
                if about:
                    self._fields["about"] = about
        elif self._depth == self._entry_depth + 1:
            self._start_field(name, attributes)
        elif self._in_content:
            self._content.update(f"<{name} {sorted(attributes.items())}>".encode("utf-8", "replace"))
            self._keep_content(" ")

    def _open(self, attributes: dict[str, str]) -> None:
        base = attributes.get("xml:base")
        self._bases.append(_join(self._bases[-1], base) if base else self._bases[-1])
        spaces = {key[6:]: value for key, value in attributes.items() if key == "xmlns" or key.startswith("xmlns:")}
        self._spaces.append({**self._spaces[-1], **spaces} if spaces else self._spaces[-1])

    def _name(self, tag: str) -> str:
        """The local name of a feed element; with the usual prefix for known modules, with the prefix `?` for others."""
        prefix, _, local = tag.rpartition(":")
        space = self._spaces[-1].get(prefix, _KNOWN_PREFIXES.get(prefix, prefix and f"?{prefix}"))
        if space in _CORE:
            return local.lower()
        usual = next((known for known, name in _KNOWN_PREFIXES.items() if name == space), "?")
        return f"{usual}:{local.lower()}"

    def _start_field(self, name: str, attributes: dict[str, str]) -> None:
        if name in ("link", "atom:link") and "href" in attributes:
            if attributes.get("rel", "alternate") == "alternate":
                self._fields.setdefault("link", _join(self._bases[-1], attributes["href"]))
        elif name == "enclosure":
            self._content.update(attributes.get("url", "").encode("utf-8", "replace"))
        elif name in _CONTENTS:
            self._in_content = True
            self._keep_content("\n")
            self._content.update(f"[{name} {attributes.get('src', '')}]".encode("utf-8", "replace"))
        elif name in _TEXTS or name in _UPDATED:
            self._field, self._words, self._length = name, [], 0
            if name == "guid":
                self._fields["permalink"] = attributes.get("ispermalink", attributes.get("isPermaLink", "true")).lower()
            if name == "title" and attributes.get("type", "").lower() in ("html", "text/html"):
                self._fields["html"] = "title"

    def _text(self, text: str) -> None:
        if self._in_content:
            self._content.update(text.encode("utf-8", "replace"))
            self._keep_content(text)
        elif self._field is not None and self._length < _MAX_FIELD_LENGTH:
            self._words.append(text)
            self._length += len(text)

    def _keep_content(self, text: str) -> None:
        left = min(MAX_CONTENT_LENGTH - self._content_length, self._contents_left)
        if left > 0:
            self._content_text.append(text[:left])
            self._content_length += len(text[:left])
            self._contents_left -= len(text[:left])

    def _end(self, tag: str) -> None:
        if self._entry_depth and self._depth == self._entry_depth + 1:
            self._store_field()
        elif self._entry_depth and self._depth == self._entry_depth:
            self._store_entry()
        self._bases.pop()
        self._spaces.pop()

    def _store_field(self) -> None:
        self._in_content = False
        if self._field is None:
            return
        text = "".join(self._words).strip()
        name = _TEXTS.get(self._field, self._field)
        if name == "link" and text:
            text = _join(self._bases[-1], text)
        if text:
            self._fields.setdefault(name, text)
        self._field = None

    def _store_entry(self) -> None:
        fields, base = self._fields, self._bases[-1]
        content, content_text = self._content.digest(), "".join(self._content_text)
        self._entry_depth = 0
        self._clear()
        name = fields.get("id") or fields.get("about") or ""
        address = fields.get("link") or (name if fields.get("permalink", "true") == "true" else "")
        title = fields.get("title", "")
        title = unescape(_TAG.sub("", title)) if "html" in fields else title
        updated = next((at for field in _UPDATED if (at := feed_time(fields.get(field, ""))) is not None), None)
        parts = [name, fields.get("link", ""), " ".join(title.split()), str(updated)]
        digest = digest_of("entry", [*(part.encode("utf-8", "replace") for part in parts), content])
        if len(self.entries) >= MAX_ENTRIES:
            raise FeedLimitError(f"more than {MAX_ENTRIES} entries")
        self.entries[digest] = FeedEntry(
            url=join(base, address) if address else None,
            id=name[:_MAX_TITLE_LENGTH],
            title=" ".join(title.split())[:_MAX_TITLE_LENGTH],
            updated_at=updated,
            digest=digest,
            content=plain_content(content_text),
        )


def _join(base: str, address: str) -> str:
    try:
        return urljoin(base, address.strip())
    except ValueError:
        return address
