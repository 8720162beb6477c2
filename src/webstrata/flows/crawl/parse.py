"""How each page is looked at: by its own wish, else by its tags'.

Reading what came: decode, fingerprint, links, traces. Pure and picklable, so that it can run in another process.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from webstrata.coding import decode
from webstrata.detect.response_class import MAX_SPACES
from webstrata.detect.response_class import error_page
from webstrata.observe.listings import ListedItems, listed_items
from webstrata.observe.media import header_charset
from webstrata.observe.page import ObservedContent, observe
from webstrata.observe.page import ObservationFields
from webstrata.observe.page import observation_fields
from webstrata.records import Failure, Fingerprint, Page, PageRules, Signal


def with_tag_rules(pages: Sequence[Page], by_tag: Mapping[str, PageRules]) -> list[Page]:
    """Pages with the wish that holds for them; of several tags that have one, the first in order."""
    if not by_tag:
        return list(pages)
    return [page if page.page_rules is not None else replace(page, page_rules=_of_tags(page, by_tag)) for page in pages]


def _of_tags(page: Page, by_tag: Mapping[str, PageRules]) -> PageRules | None:
    return next((by_tag[tag] for tag in sorted(page.tags) if tag in by_tag), None)


_NO_TRACE = ObservationFields(lines=b"", link_hashes=b"", excerpts={})


class ParseJob(Struct, frozen=True, kw_only=True):
    """One content to read."""

    url: str
    body: bytes
    content_type: str | None = None
    content_encoding: str | None = None
    status: int = 200
    headers: dict[str, str] = {}
    """Those that say something about the content."""
    handler: str = "http"
    """Which handler got it: feeds, sitemaps and RDF list other pages."""
    page_rules: PageRules | None = None
    before: Fingerprint | None = None
    """The page's last content: what is as it was needs no closer look."""
    lines: bytes = b""
    """The runs of that content, as detection remembers them."""
    want_lines: bool = False
    """Read the runs of this content though it is the page's first."""
    failures: int = 0
    want_links: bool = False
    want_requisites: bool = False
    max_decoded: int
    max_ratio: float


class ParsedContent(Struct, frozen=True, kw_only=True):
    """What was seen in it."""

    payload: str
    """`sha1:` of the bytes as sent."""
    fingerprint: Fingerprint
    links: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    """Pages that a feed, a sitemap or an RDF document lists, where the page's watcher wants them."""
    sitemaps: tuple[str, ...] = ()
    """Further sitemaps that a sitemap index lists."""
    signals: tuple[Signal, ...] = ()
    requisites: tuple[str, ...] = ()
    lines: bytes = b""
    past_lines: bytes = b""
    """The runs of the last version, where nothing remembered them."""
    link_hashes: bytes = b""
    excerpts: dict[int, str] = {}
    error_page: Failure | None = None
    """Set: this is not the page, but something in its place."""
    problem: str | None = None
    """Why the content could not be decoded as its header says."""
    torn: bool = False
    """Only the beginning of the content could be decoded."""


def payload_digest(body: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()


def parse_content(jobs: Sequence[ParseJob]) -> list[ParsedContent]:
    """Read a batch of contents."""
    return [_look(job) for job in jobs]


def parse_bytes(job: ParseJob) -> ParsedContent:
    """For a content that cannot be read any deeper. Its coding is taken off as ever, within the same limits: the bytes
    must be those that are compared when it can be read again."""
    decoded = decode(job.body, job.content_encoding, max_bytes=job.max_decoded, max_ratio=job.max_ratio)
    mark = Fingerprint(raw=hashlib.sha256(decoded.body).hexdigest(), size=len(decoded.body))
    problem = decoded.problem or "could not be read safely"
    return ParsedContent(payload=payload_digest(job.body), fingerprint=mark, problem=problem, torn=decoded.torn)


def _look(job: ParseJob) -> ParsedContent:
    decoded = decode(job.body, job.content_encoding, max_bytes=job.max_decoded, max_ratio=job.max_ratio)
    seen = observe(decoded.body, job.content_type, job.url, job.page_rules)
    mark = seen.fingerprint
    traced, problem = _NO_TRACE, None
    if job.before is None or job.before.raw != mark.raw:
        # The runs of a first version are read when a second one differs from it: most never do.
        traced = observation_fields(seen, job.lines, with_lines=job.before is not None or job.want_lines)
        problem = _disguise(job, seen)
    lists = _lists(job, decoded.body, mark)
    follow = job.want_links and not seen.nofollow and "nofollow" not in job.headers.get("x-robots-tag", "").lower()
    return ParsedContent(
        payload=payload_digest(job.body),
        fingerprint=mark,
        links=lists.urls if job.handler == "sitemap" else seen.links if follow else (),
        entries=lists.urls if job.page_rules is not None and job.page_rules.entries else (),
        sitemaps=lists.sitemaps,
        signals=lists.signals,
        requisites=seen.requisites if job.want_requisites else (),
        lines=traced.lines,
        link_hashes=traced.link_hashes,
        excerpts=traced.excerpts,
        error_page=problem,
        problem=decoded.problem,
        torn=decoded.torn,
    )


def _disguise(job: ParseJob, seen: ObservedContent) -> Failure | None:
    """Only a short text can be one, so long ones are not read for it."""
    mark = seen.fingerprint
    is_short = mark.size < _LARGEST_NOTICE and seen.spaces < MAX_SPACES
    text = (seen.text or "") if is_short else " " * MAX_SPACES
    found = error_page(job.status, job.headers, text, seen.title, job.before, mark, failures=job.failures)
    return None if found is None else Failure(kind=found.kind, detail=found.reason)


_LARGEST_NOTICE = 200_000
"""Bytes beyond which a page is no notice in place of another, whatever its markup."""


def _lists(job: ParseJob, body: bytes, mark: Fingerprint) -> ListedItems:
    wanted = (
        job.handler == "sitemap" or job.handler == "feed" or (job.page_rules is not None and job.page_rules.entries)
    )
    if not wanted:
        return ListedItems()
    return listed_items(body, mark.media_type, header_charset(job.content_type), job.url, job.handler)
