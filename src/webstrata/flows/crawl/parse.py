"""`parse_content`: decode a content, compute its fingerprint, and extract links, listed pages and signals.

Pure functions of records, so that they can run in a parser process. A content that expands to many times its size is
not parsed: its decoded bytes are hashed piece by piece, and it is compared by them only.
"""

from __future__ import annotations

import base64
import hashlib
from functools import partial

from msgspec import Struct

from webstrata.coding import Decoded, decode, decoded_digest
from webstrata.detect.error_pages.evidence import MAX_SPACES, PageEvidence
from webstrata.detect.error_pages.recognise import error_page
from webstrata.flows.crawl.content_layers import ContentLayers, content_layers
from webstrata.observe.copy_links import copy_links
from webstrata.observe.listings import ListedItems, listed_items
from webstrata.observe.media import header_charset
from webstrata.observe.page import (
    VERSION,
    ObservationFields,
    ObservedContent,
    observation_fields,
    observe,
    template_values,
)
from webstrata.observe.requisites.page import PageRequisites
from webstrata.observe.static_features import static_features
from webstrata.records import UNPARSED, Failure, Fingerprint, PageRules, Position, Signal

_NO_FIELDS = ObservationFields(lines=b"", link_hashes=b"", excerpts={}, products={})
_LISTS = ("sitemap", "feed")
"""Handlers, and kinds of data, of lists that announce changes of other pages."""
_MAX_ERROR_PAGE_BYTES = 200_000
"""A larger page is not checked for being an error page."""
_MAX_NOTE = 200
"""Characters."""
PARSED_BYTES = 20_000_000
PARSED_RATIO = 100
"""A content whose decoded size exceeds both `PARSED_BYTES` and this multiple of its size as sent is not parsed. Text
compresses to a tenth, logs and tables of equal lines to a fiftieth."""


class ParseJob(Struct, frozen=True, kw_only=True, tag="parse"):
    """One content to parse."""

    url: str
    body: bytes
    content_type: str | None = None
    content_encoding: str | None = None
    status: int = 200
    requested: str = ""
    """The page's URL, if not `url`."""
    address: str = ""
    """The address of the response, if not `url`."""
    headers: dict[str, str] = {}
    """Those that matter for parsing."""
    handler: str = "http"
    """The handler that got it: feeds, sitemaps and RDF documents list other pages."""
    page_rules: PageRules | None = None
    before: Fingerprint | None = None
    """Of the page's last version: an unchanged content is not parsed any further."""
    lines: bytes = b""
    """The text runs of the last version, as detection remembers them."""
    want_lines: bool = False
    """Extract text runs even if this is the page's first version."""
    want_template: bool = False
    """If this is the first version of an HTML page, it teaches the template of its site."""
    failures: int = 0
    want_links: bool = False
    want_requisites: bool = False
    want_layers: bool = False
    """Compute the layers by which captures compare contents."""
    max_decoded: int


class PastVersion(Struct, frozen=True, kw_only=True):
    """The last version of a page, read from the archive and observed under the page's present rules."""

    fingerprint: Fingerprint
    lines: bytes = b""
    products: dict[str, str] = {}


class ParsedContent(Struct, frozen=True, kw_only=True):
    """The result of parsing one content."""

    payload: str
    """`sha1:` of the bytes as sent."""
    fingerprint: Fingerprint
    links: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    """Pages that a feed, a sitemap or an RDF document lists, if the page's rules ask for them."""
    sitemaps: tuple[str, ...] = ()
    """Further sitemaps that a sitemap index lists."""
    signals: tuple[Signal, ...] = ()
    requisites: PageRequisites = PageRequisites()
    """The files of a page, if they were asked for."""
    lines: bytes = b""
    past: PastVersion | None = None
    """The last version, if detection does not remember its runs, or remembers those of other rules."""
    link_hashes: bytes = b""
    excerpts: dict[int, str] = {}
    products: dict[str, str] = {}
    """What the page states of products to programs."""
    template_values: bytes = b""
    """Hashes of the lines and links of a first version that teaches the template of its site."""
    error_page: Failure | None = None
    """Set if this is an error page, not the page."""
    features: dict[str, float] = {}
    """The static features of a first or a changed version."""
    seen_links: bytes | None = None
    """The links of a first or a changed version, as packed rows of `COPY_LINK`; None if it has no layer of links."""
    layers: ContentLayers = ContentLayers()
    """If they were asked for, and the content was decoded and parsed."""
    problem: str | None = None
    """Why the content could not be decoded as its header says."""
    torn: bool = False
    """Only the beginning of the content could be decoded."""
    position: Position | None = None
    """Of the record of a body that is not in memory, which is archived before its batch."""


def payload_digest(body: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()


def parse_content(job: ParseJob) -> ParsedContent:
    """Parse a content."""
    limit = min(job.max_decoded, max(PARSED_BYTES, PARSED_RATIO * len(job.body)))
    decoded = decode(job.body, job.content_encoding, max_bytes=limit)
    if decoded.cut and limit < job.max_decoded:
        return parse_bytes(
            job.body,
            job.content_encoding,
            max_decoded=job.max_decoded,
            problem=f"expands to more than {PARSED_RATIO} times its size",
        )
    observed = observe(decoded.body, job.content_type, job.url, job.page_rules)
    fingerprint = observed.fingerprint
    fields, error = _NO_FIELDS, None
    features: dict[str, float] = {}
    seen_links: bytes | None = None
    if job.before is None or job.before.raw != fingerprint.raw:
        # The text runs of a first version are extracted when a second one differs: most pages never change.
        fields = observation_fields(observed, job.lines, with_lines=job.before is not None or job.want_lines)
        error = _error_page(job, observed, decoded.body)
        features = static_features(observed, decoded.body, job.url, job.headers)
        seen_links = copy_links(observed.linked, job.url) if fingerprint.links is not None else None
    kind = _list_kind(job, fingerprint)
    listed = _listed(job, kind, decoded.body, fingerprint)
    follow = job.want_links and not observed.nofollow and "nofollow" not in job.headers.get("x-robots-tag", "").lower()
    return ParsedContent(
        payload=payload_digest(job.body),
        fingerprint=fingerprint,
        links=listed.urls if kind == "sitemap" else observed.links if follow else (),
        entries=listed.urls if job.page_rules is not None and job.page_rules.entries else (),
        sitemaps=listed.sitemaps,
        signals=listed.signals,
        requisites=observed.requisites if job.want_requisites else PageRequisites(),
        lines=fields.lines,
        link_hashes=fields.link_hashes,
        excerpts=fields.excerpts,
        products=fields.products,
        template_values=template_values(observed) if job.want_template else b"",
        error_page=error,
        features=features,
        seen_links=seen_links,
        layers=_layers(job, decoded, fingerprint),
        problem=decoded.problem,
        torn=decoded.torn,
    )


def _layers(job: ParseJob, decoded: Decoded, fingerprint: Fingerprint) -> ContentLayers:
    if not job.want_layers or decoded.problem is not None:
        return ContentLayers()
    return content_layers(decoded.body, job.content_type, fingerprint)


def parse_bytes(body: bytes, content_encoding: str | None, *, max_decoded: int, problem: str) -> ParsedContent:
    """For a content that cannot be parsed: a fingerprint of its decoded bytes only; `problem` is the reason.

    It is decoded within the usual limits, so that the digest equals that of a later visit that can be parsed.
    """
    decoded = decoded_digest(body, content_encoding, max_bytes=max_decoded)
    return ParsedContent(
        payload=payload_digest(body),
        fingerprint=unparsed_fingerprint(decoded.sha256, decoded.size, problem),
        problem=f"{problem}; {decoded.problem}" if decoded.problem is not None else problem,
        torn=decoded.torn,
    )


def unparsed_fingerprint(raw: str, size: int, problem: str) -> Fingerprint:
    """The fingerprint of a content that was not parsed."""
    return Fingerprint(raw=raw, size=size, version=VERSION, data_kind=UNPARSED, data_note=problem[:_MAX_NOTE])


def _error_page(job: ParseJob, observed: ObservedContent, body: bytes) -> Failure | None:
    """The failure if the content is an error page."""
    fingerprint = observed.fingerprint
    evidence = PageEvidence(
        requested=job.requested or job.url,
        address=job.address or job.url,
        headers=job.headers,
        body=body,
        title=observed.title,
        read_text=lambda: observed.text or "",
        read_main=partial(_main_text, observed),
        now=fingerprint,
        is_short=fingerprint.size < _MAX_ERROR_PAGE_BYTES and observed.spaces < MAX_SPACES,
        before=job.before,
        failures=job.failures,
        selects=_selects(job, observed),
    )
    error = error_page(job.status, evidence)
    return None if error is None else Failure(kind=error.kind, detail=error.reason)


def _selects(job: ParseJob, observed: ObservedContent) -> bool:
    """Whether the page's rules select a part that is in this content."""
    includes = job.page_rules is not None and bool(job.page_rules.include)
    return includes and observed.selected is not None and bool(observed.selected.text)


def _main_text(observed: ObservedContent) -> str:
    parts = observed.part_texts
    return (observed.text or "") if parts is None else "\n".join(filter(None, (parts.body, parts.side)))


def _list_kind(job: ParseJob, fingerprint: Fingerprint) -> str:
    """The handler of a list: that of the page, else by its content, as the URL of a list may have any form."""
    found = fingerprint.data_kind or ""
    return found if job.handler == "http" and found in _LISTS else job.handler


def _listed(job: ParseJob, kind: str, body: bytes, fingerprint: Fingerprint) -> ListedItems:
    if kind not in _LISTS and not (job.page_rules is not None and job.page_rules.entries):
        return ListedItems()
    return listed_items(body, fingerprint.media_type, header_charset(job.content_type), job.url, kind)
