"""Feeds (RSS in all its versions, Atom, RDF) -> their entries, and a digest of the set of these.

The order of entries, the feed's own title and build date, and all that an entry does not say itself (its counts of
comments, its styling) do not count; an entry's identity, address, title, time and content do. Feeds that are no
well-formed XML are repaired where it is plain what was meant.
"""

from __future__ import annotations

from msgspec import Struct

from webstrata.observe.data import xml
from webstrata.observe.data.data import DataDigest, digest_of, refused
from webstrata.observe.data.entries import EntryReader, FeedEntry, FeedFull
from webstrata.observe.data.repair import repaired


class Feed(Struct, frozen=True, kw_only=True):
    """What a feed lists."""

    entries: tuple[FeedEntry, ...] = ()
    """In the order of the feed, each once."""
    problem: str | None = None
    """Why it was not read to its end; the entries before count."""
    note: str | None = None
    """What had to be repaired."""


def read(body: bytes, charset: str | None, url: str) -> DataDigest:
    """One feed as data. Never raises."""
    feed = read_feed(body, charset, url)
    if feed.problem is not None:
        return refused("feed", feed.problem)
    if not feed.entries:
        return refused("feed", "no entries")
    digests = sorted(entry.digest.encode() for entry in feed.entries)
    return DataDigest(kind="feed", digest=digest_of("feed", digests), note=feed.note, size=len(digests))


def read_feed(body: bytes, charset: str | None, url: str) -> Feed:
    """The entries of a feed. Never raises."""
    feed = _read(body, url)
    if feed.problem is None or not feed.problem.startswith(xml.ILL_FORMED):
        return feed
    again = _read(repaired(body, charset), url)
    if again.problem is None:
        return Feed(entries=again.entries, note=f"repaired: {feed.problem}")
    return again if len(again.entries) > len(feed.entries) else feed


def _read(body: bytes, url: str) -> Feed:
    reader = EntryReader(url)
    try:
        problem = xml.parse(body, reader.parser)
    except FeedFull as full:
        problem = str(full)
    if problem is None and not reader.is_feed:
        problem = "not a feed"
    return Feed(entries=tuple(reader.found.values()), problem=problem)
