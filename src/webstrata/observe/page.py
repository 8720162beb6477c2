"""Computes what the crawler knows about one body: fingerprint, title, links, text, and the fields of an observation.

`observe` takes the Content-Type header of the response, `observe_typed` a media type and charset that are known.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from functools import partial
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from webstrata.observe.attribute_runs import runs_of_attributes, runs_of_links
from webstrata.observe.data.data_field import DataField
from webstrata.observe.data.dispatch import data_digest
from webstrata.observe.data.fields import data_fields
from webstrata.observe.documents.formats import TEXT_FORMATS, document_format
from webstrata.observe.documents.image import picture_signature
from webstrata.observe.documents.text import DocumentText, document_text, parsed_text
from webstrata.observe.html import charset as encoding
from webstrata.observe.html.head import PageMetadata, page_metadata
from webstrata.observe.html.links import PageLinks
from webstrata.observe.html.outline import PageParts, clean, outline
from webstrata.observe.html.tree import (
    indented_lines,
    joined_lines,
    parse,
    plain_lines,
    scan_metadata,
    without_invisible,
)
from webstrata.observe.kernel.choice import KERNEL
from webstrata.observe.media import HTML, header_charset, media_type
from webstrata.observe.requisites.page import PageRequisites, page_requisites
from webstrata.observe.rules.select import SelectedContent, has_rules, select
from webstrata.observe.sketch import hash64
from webstrata.observe.text_runs import excerpts_of, excerpts_of_data, runs_of, runs_of_data, simhash, split_runs
from webstrata.records import DEFAULT_ATTRIBUTES, Fingerprint, Observation, PageAttribute, PageRules, observed_by

VERSION = 3
"""Version of the rules that define the layers. Digests of different versions are never compared."""

_YAML = ("text/yaml", "text/x-yaml", "application/yaml", "application/x-yaml")
_PLAIN = frozenset({"text/plain", "text/markdown", "text/x-rst", "text/x-python", "text/x-diff", *_YAML})
_MAX_TITLE_LENGTH = 1000
MAX_TEXT_BYTES = 20_000_000
"""Larger pages and plain texts are compared by their bytes: their text would take gigabytes, and a minute of a
processor."""


class PartTexts(NamedTuple):
    """The useful text of each part of a page, in lines."""

    title: str
    header: str
    body: str
    side: str
    footer: str


class ObservedContent(Struct, frozen=True, kw_only=True, gc=False):
    """The result of observing one body.

    What few callers need is computed at each access (`links`, `link_rows`, `text`, `part_texts`, `attributes`,
    `requisites`).
    """

    fingerprint: Fingerprint
    title: str | None = None
    linked: PageLinks = PageLinks()
    main_linked: PageLinks = PageLinks()
    """The links in the main content (body and side)."""
    feeds: tuple[str, ...] = ()
    spaces: int = 0
    """A lower bound on the number of spaces inside the lines of the text."""
    canonical: str | None = None
    """The URL in the page's `link rel=canonical`."""
    nofollow: bool = False
    noindex: bool = False
    selected: SelectedContent | None = None
    """The content that the page's own rules select; None without rules."""
    read_text: Callable[[], str] | None = None
    read_parts: Callable[[], PartTexts] | None = None
    read_requisites: Callable[[], PageRequisites] | None = None
    read_fields: Callable[[], list[DataField]] | None = None
    """Computes the fields of data; detection learns which of them are noise."""
    read_attributes: Callable[[], list[PageAttribute]] | None = None
    """Computes the attributes that count by the page's rules; None if the content is no page, or too large."""

    @property
    def links(self) -> tuple[str, ...]:
        """Canonical absolute URLs of other pages, in order of appearance, without duplicates."""
        return self.linked.urls

    @property
    def link_rows(self) -> NDArray[np.void]:
        """Rows of `LINK_PLACE` for the different links and contacts; see `PageLinks.rows`."""
        return self.linked.rows(self.main_linked)

    @property
    def text(self) -> str | None:
        """The useful text in lines; None if the media type has no text layer."""
        return None if self.read_text is None else self.read_text()

    @property
    def part_texts(self) -> PartTexts | None:
        """The useful text by part; None if the content has no parts."""
        return None if self.read_parts is None else self.read_parts()

    @property
    def attributes(self) -> list[PageAttribute]:
        """The attributes that count by the page's rules: title, canonical URL, robots and products by default."""
        return [] if self.read_attributes is None else self.read_attributes()

    @property
    def requisites(self) -> PageRequisites:
        """The files that a browser loads to show the page: images, style sheets, scripts, frames and others."""
        return PageRequisites() if self.read_requisites is None else self.read_requisites()


def observe(body: bytes, content_type: str | None, url: str, page_rules: PageRules | None = None) -> ObservedContent:
    """Observe a body (content coding removed) that was the response for `url`, with its Content-Type header.

    `page_rules` are the page's own rules. Never raises.
    """
    return observe_typed(body, media_type(body, content_type), header_charset(content_type), url, page_rules)


def observe_typed(
    body: bytes, kind: str, charset: str | None, url: str, page_rules: PageRules | None = None
) -> ObservedContent:
    """Observe a body whose media type and charset label are known. Never raises."""
    base = Fingerprint(
        raw=hashlib.sha256(body).hexdigest(),
        size=len(body),
        media_type=kind,
        charset=charset,
        version=VERSION,
        rules=observed_by(page_rules),
    )
    content: str | None = None
    if len(body) > MAX_TEXT_BYTES and (kind in HTML or kind in _PLAIN):
        return ObservedContent(fingerprint=replace(base, data_note=f"longer than {MAX_TEXT_BYTES} bytes"))
    if kind in HTML:
        default = encoding.DEFAULT if kind == "text/html" else "utf-8"
        content, name = encoding.decode(body, charset, html=True, default=default)
        attributes = page_rules.counted_attributes if page_rules is not None else DEFAULT_ATTRIBUTES
        observed = _html(content, replace(base, charset=name), url, attributes)
    else:
        observed = _document(body, base, url, page_rules)
        content = observed.text if page_rules is not None and has_rules(page_rules) else None
    if page_rules is None or not has_rules(page_rules):
        return observed
    if content is None and len(body) > MAX_TEXT_BYTES:
        return observed
    selected = select(content if content is not None else encoding.decode_plain(body, charset)[0], kind, page_rules)
    return replace(observed, selected=selected, fingerprint=replace(observed.fingerprint, selected=selected.digest))


def _document(body: bytes, base: Fingerprint, url: str, page_rules: PageRules | None) -> ObservedContent:
    """Observe a body that is no HTML: a document with text, an image, data, plain text or other bytes."""
    kind, charset = base.media_type, base.charset
    name = document_format(body, kind, url)
    if name in TEXT_FORMATS:
        return _text_document(parsed_text(body, name), base)
    if name == "image":
        found = picture_signature(body)
        return ObservedContent(fingerprint=replace(base, picture=found.picture, data_note=found.note))
    data = data_digest(body, kind, charset, url, page_rules)
    if data is not None:
        base = replace(base, data=data.digest, data_kind=data.kind, data_note=data.note, noise=data.noise)
    if kind in _PLAIN:
        text, encoding_name = encoding.decode_plain(body, charset)
        is_indented = page_rules is not None and page_rules.indentation
        observed = _plain(text, replace(base, charset=encoding_name), is_indented=is_indented)
    elif name:
        observed = ObservedContent(fingerprint=base, read_text=lambda: document_text(body, kind, url) or "")
    else:
        observed = ObservedContent(fingerprint=base)
    if data is not None and data.digest is not None:
        observed = replace(observed, read_fields=partial(data_fields, data, body, kind, charset, url))
    return observed


def _text_document(parsed: DocumentText, base: Fingerprint) -> ObservedContent:
    """A document with text; without text, the rendered pages of a PDF, or only the bytes."""
    base = replace(base, data_note=parsed.note)
    if parsed.rendered is not None:
        base = replace(base, data=parsed.rendered, data_kind="pages")
    words = b" ".join(clean(parsed.text))
    fingerprinted = replace(base, text=_text_digest(words), simhash=simhash(words))
    return ObservedContent(fingerprint=fingerprinted, read_text=lambda: parsed.text)


def _plain(text: str, base: Fingerprint, *, is_indented: bool) -> ObservedContent:
    words = b" ".join(clean(text))
    digest = _text_digest(indented_lines(text).encode() if is_indented else words)
    fingerprinted = replace(base, text=digest, simhash=simhash(words))
    return ObservedContent(
        fingerprint=fingerprinted, read_text=partial(indented_lines if is_indented else plain_lines, text)
    )


def _html(html: str, base: Fingerprint, url: str, attributes: Collection[str]) -> ObservedContent:
    tree, read_requisites = parse(html), partial(page_requisites, html, url)
    if tree is None:
        visible = without_invisible(html)
        scanned = KERNEL.scan_text(visible)
        text = b" ".join(clean(scanned))
        read_lines = partial(plain_lines, scanned)
        return _observed(base, scan_metadata(visible, url), text, None, read_lines, read_requisites)
    body = outline(tree.body)
    parts = PageParts(body)
    metadata = page_metadata(tree, url, body, parts, attributes)
    title = b" ".join(metadata.title)
    base = replace(base, parts=parts.digests(title), main_links=metadata.main_links.digest)
    text = b" ".join(filter(None, (title, body.text)))
    observed = _observed(
        base,
        metadata,
        text,
        read_parts=lambda: PartTexts(title.decode(), parts.header, parts.body, parts.side, parts.footer),
        read_text=lambda: joined_lines([title, body.lined()]),
        read_requisites=read_requisites,
    )
    return replace(observed, spaces=text.count(b" ") - len(body.line_ends))


def _observed(
    base: Fingerprint,
    metadata: PageMetadata,
    text: bytes,
    read_parts: Callable[[], PartTexts] | None,
    read_text: Callable[[], str],
    read_requisites: Callable[[], PageRequisites],
) -> ObservedContent:
    title = b" ".join(metadata.title).decode()[:_MAX_TITLE_LENGTH] or None
    fingerprinted = replace(
        base,
        title=title,
        text=_text_digest(text),
        simhash=simhash(text),
        links=metadata.links.digest,
        link_count=metadata.links.count,
        internal_links=metadata.links.internal,
        external_links=metadata.links.external,
        document_links=metadata.links.documents,
    )
    return ObservedContent(
        fingerprint=fingerprinted,
        title=title,
        linked=metadata.links,
        main_linked=metadata.main_links,
        feeds=metadata.feeds,
        canonical=metadata.canonical,
        nofollow=metadata.nofollow,
        noindex=metadata.noindex,
        read_text=read_text,
        read_parts=read_parts,
        read_requisites=read_requisites,
        read_attributes=metadata.read_attributes,
    )


def _text_digest(text: bytes) -> str | None:
    """None if there is no text (an image, a page that scripts fill): these contents are compared by their bytes."""
    return hashlib.sha256(text).hexdigest() if text else None


def fingerprint(body: bytes, media_type: str, charset: str | None, url: str) -> Fingerprint:
    """Fingerprint of a body whose media type and charset label (or None) are known; `url` is its canonical URL."""
    return observe_typed(body, media_type, charset, url).fingerprint


def template_values(content: ObservedContent) -> bytes:
    """The hashes of the lines and links of an HTML page: uint64, as those of its runs. Empty for other contents.

    This is all that the template of a site needs of a page, and much cheaper than its runs.
    """
    if content.fingerprint.parts is None:
        return b""
    runs = {run for text in _texts(content) for run in split_runs(text)}
    return np.fromiter(map(hash64, runs), dtype="<u8", count=len(runs)).tobytes() + content.linked.hashes


class ObservationFields(NamedTuple):
    """The fields of an `Observation` that are computed from the content."""

    lines: bytes
    link_hashes: bytes
    excerpts: dict[int, str]
    products: dict[str, str]


def observation_fields(
    content: ObservedContent, previous: bytes = b"", *, with_lines: bool = True
) -> ObservationFields:
    """Compute them for a content whose bytes differ from those of the previous version.

    `previous` are the lines of that version. Lines and excerpts are empty unless `with_lines`.
    """
    if not with_lines:
        return ObservationFields(lines=b"", link_hashes=content.linked.hashes, excerpts={}, products={})
    if content.read_fields is not None and (content.selected is None or content.selected.text is None):
        fields = content.read_fields()
        if fields:
            excerpts = excerpts_of_data(fields, previous)
            return ObservationFields(runs_of_data(fields), content.linked.hashes, excerpts, products={})
    title, header, body, side, footer = _texts(content)
    attributes = content.attributes
    links = runs_of_links(content.link_rows) if content.fingerprint.parts is not None else b""
    return ObservationFields(
        lines=runs_of(title, body, header, footer, side) + links + runs_of_attributes(attributes),
        link_hashes=content.linked.hashes,
        excerpts=excerpts_of((title, body, side, header, footer), previous),
        products={attribute.name: attribute.value for attribute in attributes if attribute.kind == "product"},
    )


def observation_of(content: ObservedContent, url: str, at: float, previous: bytes = b"") -> Observation:
    """A content as the result of a successful visit; `previous` are the lines of the version before."""
    fields = observation_fields(content, previous)
    return Observation(
        url=url,
        at=at,
        status=200,
        fingerprint=content.fingerprint,
        lines=fields.lines,
        link_hashes=fields.link_hashes,
        excerpts=fields.excerpts,
        products=fields.products,
    )


def _texts(content: ObservedContent) -> PartTexts:
    """The parts to compare: the selected content as a body part, else the parts, else the whole text."""
    if content.selected is not None and content.selected.text is not None:
        return PartTexts("", "", content.selected.text, "", "")
    return content.part_texts or PartTexts("", "", content.text or "", "", "")
