"""Copies of pages in other archives, and how far an import of them has come."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

SkipReason = Literal[
    "malformed",
    "invalid-url",
    "invalid-date",
    "future",
    "duplicate",
    "out-of-order",
    "bad-checksum",
    "not-a-page",
    "error-status",
    "outside",
    "too-deep",
]
"""Why a row of an import is left out. `malformed`: it cannot be parsed. `duplicate`: the home has a copy of the page at
that time. `out-of-order`: it is earlier than the row before it, in a source that must be sorted. `not-a-page`: not an
http(s) response. `error-status`: the archive kept an error or a redirect. `outside`, `too-deep`: not one of the wanted
pages."""


class ArchivedCopy(Struct, frozen=True, kw_only=True, gc=False):
    """A fact: a page had this content at this time, as an archive recorded it."""

    url: str
    """Canonical URL."""
    at: float
    archive: str
    """Name of the archive, for example `web.archive.org`."""
    digest: str = ""
    """Digest of the payload as `algorithm:value`, for example `sha1:…` in Base32 as in `Page.payload`. Empty: the
    archive gives none, so nothing is known about changes between this copy and its neighbours."""
    status: int = 0
    """HTTP status; 0: not known."""
    text: str = ""
    """Digest of the useful text; empty if the content was not read."""
    links: bytes | None = None
    """The page's links, as sorted rows of `columns.COPY_LINK`; None if the content was not read."""


class SkippedRow(Struct, frozen=True, kw_only=True, gc=False):
    """A row of an import that is left out."""

    reason: SkipReason
    where: str
    """The place in the source: `FILE:LINE`, or a URL."""
    detail: str = ""


class ContentFeatures(Struct, frozen=True, kw_only=True, gc=False):
    """The static features of an imported content."""

    url: str
    at: float
    features: dict[str, float]


class ReadBatch(Struct, frozen=True, kw_only=True):
    """What was read of a source since the last batch."""

    copies: list[ArchivedCopy] = []
    places: list[str] = []
    """The place in the source of each copy; empty if the source has no places that a user could look up."""
    features: list[ContentFeatures] = []
    """Of contents that were read."""
    skipped: list[SkippedRow] = []
    """At most the first 1,000 rows of a batch that were left out; `skipped_counts` has all."""
    skipped_counts: dict[str, int] = {}
    read: int = 0
    """Rows of this batch, kept or not."""
    position: str = ""
    """Where to continue after this batch."""
    done: float | None = None
    """Share of the source that was read so far, from 0 to 1; None if its size is not known."""


class CapturedContent(Struct, frozen=True, kw_only=True):
    """A capture record of a WARC, ARC or WACZ file, as an import reads it; or a place that cannot be read."""

    where: str
    """`FILE:OFFSET`."""
    position: str
    """Where reading continues after this record; empty if the next record cannot be read without this one."""
    done: float
    """Share of the file that was read."""
    problem: str = ""
    """Why it is not a record of a content; empty if it is one."""
    is_malformed: bool = False
    """The problem is damage, not another kind of record."""
    kind: str = ""
    """`response`, `revisit` or `resource`."""
    url: str = ""
    """As it is written."""
    at: float | None = None
    date: str = ""
    archive: str = ""
    """The archive that the file names; empty if it names none."""
    record_id: str = ""
    refers_to: str = ""
    """Of a revisit: the identifier of its original."""
    status: int = 0
    """0: not known, also of a response 304."""
    digest: str = ""
    """Of the payload as sent, without its transfer coding; of a payload that is not read, as declared."""
    declared: str = ""
    """The digest that the record declares, if it is another one."""
    is_wrong: bool = False
    """The payload has another digest than the record declares."""
    is_cut: bool = False
    """The record holds only a part of the content."""
    body: bytes | None = None
    """None if it is too large, or the record has none."""
    headers: dict[str, str] = {}
    """Names in lower case."""


class ImportProgress(Struct, frozen=True, kw_only=True):
    """How far an import has read its source. It is stored together with the copies that were read up to there."""

    key: str
    """What is imported: kind and source."""
    position: str = ""
    """Where to continue, as the reader of the source understands it: a byte offset, a resume key. Empty: the start."""
    read: int = 0
    """Rows read so far, kept or not."""
    kept: int = 0
    skipped: dict[str, int] = {}
    """Number of skipped rows by reason."""
    at: float = 0.0
    """When this was stored."""
    is_finished: bool = False


class CopyRow(Struct, frozen=True, kw_only=True, gc=False):
    """A stored copy."""

    page_id: int
    at: float
    archive: str
    digest: str
    text: str
    status: int
    has_links: bool


class Importance(Struct, frozen=True, kw_only=True, gc=False):
    """How central a page is in the link graph of the home."""

    page_id: int
    rank: float
    """PageRank, multiplied by the number of pages: 1 is the mean."""
    in_links: int
    """Number of other pages of the home that link to it."""
    link_depth: int | None = None
    """Links from the start page of its host; None if no chain of links leads to it."""
