"""The layers of a content, computed from its bytes again: what a verifier compares with a certificate."""

from __future__ import annotations

import hashlib

import msgspec
from msgspec import Struct

from webstrata.coding import decode
from webstrata.flows.crawl.content_layers import content_layers
from webstrata.observe.html.page_text import page_text
from webstrata.observe.media import HTML
from webstrata.observe.page import observe
from webstrata.observe.visible import is_html
from webstrata.records import Fingerprint, PageRules

MAX_DECODED_BYTES = 512 * 10**6
"""A content that is larger without its content coding cannot be verified."""
_DESCRIBED_BYTES = 4 * 1024**2
"""Titles and texts in lists of pages are those of the first bytes of longer pages."""


class ContentJob(Struct, frozen=True, kw_only=True):
    """A content as sent."""

    url: str
    body: bytes
    content_type: str = ""
    content_encoding: str | None = None
    rules: PageRules | None = None
    is_described: bool = False
    """Compute only the title and the text, as lists of pages have them."""
    is_parsed: bool = True
    """Compute the layers and parts that need a parser."""


class RecomputedContent(Struct, frozen=True, kw_only=True):
    """The layers of a content, and what else a certificate says about it."""

    layers: dict[str, str] = {}
    script_shell: bool = False
    is_parsed: bool = False
    """The layers that need a parser are among the layers, if the content has them."""
    parts: tuple[str, ...] = ()
    """The files that an HTML page loads."""
    title: str = ""
    text: str = ""
    problem: str = ""
    """Why there are no layers: the content is incomplete, or larger than the limit."""


def recomputed_content(job: ContentJob) -> RecomputedContent:
    """Compute the layers of a content; those that any program can compute, and those that need our parsers."""
    if job.is_described:
        start = decode(job.body, job.content_encoding, max_bytes=_DESCRIBED_BYTES).body[:_DESCRIBED_BYTES]
        title, text = page_text(start, job.content_type) if is_html(job.content_type) else ("", "")
        return RecomputedContent(title=title, text=text)
    decoded = decode(job.body, job.content_encoding, max_bytes=MAX_DECODED_BYTES)
    if decoded.problem is not None:
        return RecomputedContent(problem=decoded.problem)
    if not job.is_parsed:
        fingerprint = Fingerprint(raw=hashlib.sha256(decoded.body).hexdigest(), size=len(decoded.body))
        found = content_layers(decoded.body, job.content_type, fingerprint)
        return RecomputedContent(layers=found.digests, script_shell=found.script_shell)
    observed = observe(decoded.body, job.content_type or None, job.url, job.rules)
    found = content_layers(decoded.body, job.content_type, observed.fingerprint)
    is_page = observed.fingerprint.media_type in HTML
    return RecomputedContent(
        layers=found.digests,
        script_shell=found.script_shell,
        is_parsed=True,
        parts=observed.requisites.files if is_page else (),
    )


def stated_rules(plain: dict[str, object] | None) -> PageRules | None:
    """The rules of a page as a certificate states them. Raises ValueError."""
    if plain is None:
        return None
    try:
        return msgspec.convert(plain, PageRules, strict=True)
    except msgspec.ValidationError as problem:
        raise ValueError(f"its rules cannot be parsed: {problem}") from None
