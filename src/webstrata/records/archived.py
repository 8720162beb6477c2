"""Records of the archive: captures to write, their positions in WARC files, and records read back as evidence."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from webstrata.records.exchange import Exchange, Failure, Resource
from webstrata.records.pages import PageRole


class Original(Struct, frozen=True, kw_only=True, gc=False):
    """The record that first held a payload; revisit records refer to it."""

    payload: str
    """Payload digest: `sha1:` and the base32 SHA-1 of the payload before content decoding, as in WARC and CDX."""
    record_id: str
    at: float
    url: str
    file: str
    """Name of the WARC file, as in `Position`."""
    offset: int


class VisitPart(Struct, frozen=True, kw_only=True, gc=False):
    """What a record says about the visit that it belongs to, where its URL and date do not say it."""

    page: str
    """URL of the visited page."""
    at: float
    """Time of the visit."""
    part: Literal["hop", "answer", "content", "extra"]
    """`answer`: the page's response; `content`: what a handler made of it; `hop`: another exchange of the visit."""
    role: PageRole = PageRole.PAGE
    captured: bool = False
    """The page is only known from a site capture."""
    failure: Failure | None = None
    """Why the visit failed, although there are responses."""


class Capture(Struct, frozen=True, kw_only=True, gc=False):
    """An exchange to be written to the archive."""

    exchange: Exchange
    payload: str
    """Payload digest; for a 304, the digest of the original."""
    original: Original | None = None
    """If set, a revisit record that refers to it is written."""
    visit: VisitPart | None = None


class ResourceCapture(Struct, frozen=True, kw_only=True, gc=False):
    """Derived content to be written to the archive."""

    resource: Resource
    payload: str
    original: Original | None = None
    """If set, a revisit record that refers to it is written."""
    visit: VisitPart | None = None


class Position(Struct, frozen=True, kw_only=True, gc=False):
    """The position of a capture's response, revisit or resource record."""

    file: str
    """Name of the WARC file below the archive folder, without `.open`."""
    offset: int
    length: int
    record_id: str
    kind: Literal["response", "revisit", "resource"] = "response"


CACHE_HEADERS = ("x-cache", "x-cache-status", "cf-cache-status", "x-varnish-cache", "x-proxy-cache", "cache-status")
"""Headers in which caches say whether they answered from a copy."""
KEPT_HEADERS = frozenset(
    {"content-type", "content-encoding", "location", "age", "last-modified", "transfer-encoding", *CACHE_HEADERS}
)


class KeptRecord(Struct, frozen=True, kw_only=True):
    """A record of an archive without its payload: all that a certificate states about it can be checked with it."""

    record: str
    """WARC-Record-ID."""
    sha256: str
    """SHA-256 (hex) of all bytes of the uncompressed record."""
    kind: str
    url: str
    date: str = ""
    """WARC-Date, as written."""
    payload: str = ""
    """The payload digest in the record's header. If the payload has another digest, `faults` says so."""
    content_type: str = ""
    """Of the block."""
    is_unmodified: bool = False
    """A revisit record of a 304 response."""
    refers_to: str = ""
    """For a revisit record, the id of the record that holds its payload."""
    refers_to_url: str = ""
    refers_to_date: str = ""
    concurrent_to: str = ""
    """For a request record, the id of the record of the response."""
    truncated: str = ""
    """Why the payload is incomplete."""
    status: int = 0
    """Of the HTTP response; 0 without one."""
    headers: tuple[tuple[str, str], ...] = ()
    """Those headers of the HTTP response that are in `KEPT_HEADERS`."""
    file: str = ""
    """The path of the WARC file in the package."""
    offset: int = 0
    body_bytes: int = 0
    """The size of the payload."""
    index_line: bytes = b""
    """The line that an index must have for this record; empty if it must have none."""
    faults: tuple[str, ...] = ()
    """What is wrong with the record, one sentence each."""

    def header(self, name: str) -> str | None:
        """The first value of a header; `name` is in lower case."""
        return next((value for key, value in self.headers if key == name), None)


class ArchivedExchange(Struct, frozen=True, kw_only=True):
    """An exchange as the archive holds it."""

    exchange: Exchange
    position: Position


class ArchivedResource(Struct, frozen=True, kw_only=True):
    """Derived content as the archive holds it."""

    resource: Resource
    position: Position


class ArchivedVisit(Struct, frozen=True, kw_only=True):
    """The records of one visit, read back from the archive."""

    page: str
    """URL of the visited page; empty for a robots.txt request, which belongs to no page."""
    at: float
    role: PageRole = PageRole.PAGE
    captured: bool = False
    failure: Failure | None = None
    exchanges: tuple[ArchivedExchange, ...] = ()
    main: int = -1
    """Index of the exchange with the page's response; the number of exchanges if that brought no response."""
    content: ArchivedResource | None = None
    extras: tuple[ArchivedResource, ...] = ()

    @property
    def body_bytes(self) -> int:
        resources = (*self.extras, *(() if self.content is None else (self.content,)))
        exchanged = sum(len(one.exchange.body) for one in self.exchanges)
        return exchanged + sum(len(one.resource.body) for one in resources)
