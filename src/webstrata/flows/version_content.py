"""The content of a version in the forms that can be compared, and the difference of two versions.

Documents that native code parses (PDF, pictures, containers) are parsed in a process with limits, because everybody can
send a document that takes all memory.
"""

from __future__ import annotations

from webstrata.clock import iso
from webstrata.detect.diff.binary import BinaryContent, BinaryDifference
from webstrata.detect.diff.difference import Difference, ParsedVersion, difference
from webstrata.detect.diff.feed import EntryVersion
from webstrata.flows.limited_process import ProcessLimitError, run_limited
from webstrata.flows.versions import Version
from webstrata.observe.data.feed_entry import FeedEntry
from webstrata.observe.data.readable import readable
from webstrata.observe.documents.formats import document_format
from webstrata.observe.documents.image import pixel_difference
from webstrata.observe.documents.summary import describe, readable_size
from webstrata.observe.documents.text import document_text
from webstrata.observe.html.charset import DEFAULT, decode_plain
from webstrata.observe.html.charset import decode as decode_html
from webstrata.observe.html.table_rows import table_rows, with_rows
from webstrata.observe.media import HTML, header_charset, media_type
from webstrata.observe.page import ObservedContent, observe
from webstrata.records import PageAttribute, PageRules


def version_difference(
    before: Version, after: Version, page_rules: PageRules | None, *, raw: bool, before_name: str, after_name: str
) -> Difference:
    """The difference of two versions, without the parts that the rules ignore; `raw` compares the source only."""
    if before.large is not None or after.large is not None:
        return _by_digest(before, after, before_name, after_name)
    arguments = (before, after, page_rules, raw, before_name, after_name)
    if not any(map(_is_document, (before, after))):
        return _compare(*arguments)
    try:
        return run_limited(_compare, *arguments)
    except ProcessLimitError:
        described = [f"{_kind(version)}, {readable_size(len(version.body))}" for version in (before, after)]
        binary = BinaryDifference(before=described[0], after=f"{described[1]}; too costly to be parsed")
        return Difference(before_name=before_name, after_name=after_name, binary=binary)


def _by_digest(before: Version, after: Version, before_name: str, after_name: str) -> Difference:
    """The difference of two versions of which one is too large for memory: sizes and digests."""
    old, new = (
        f"{version.header('content-type') or 'content of unknown type'}, {readable_size(version.size)}, "
        f"SHA-256 {version.visit.raw}"
        for version in (before, after)
    )
    binary = BinaryDifference(before=old, after=new) if before.visit.raw != after.visit.raw else None
    return Difference(before_name=before_name, after_name=after_name, binary=binary)


def _compare(
    before: Version, after: Version, page_rules: PageRules | None, raw: bool, before_name: str, after_name: str
) -> Difference:
    """The difference of two versions; pictures are compared by their pixels."""
    old, new = (content_of(version, page_rules, raw=raw) for version in (before, after))
    pixels = None
    if old.binary is not None and new.binary is not None:
        pixels = pixel_difference(old.binary.body, new.binary.body)
    return difference(old, new, before_name=before_name, after_name=after_name, pixels=pixels)


def _is_document(version: Version) -> bool:
    return bool(document_format(version.body, _kind(version), version.visit.url))


def _kind(version: Version) -> str:
    return media_type(version.body, version.header("content-type"))


def content_of(version: Version, page_rules: PageRules | None, *, raw: bool) -> ParsedVersion:
    """A version in the forms that can be compared."""
    header = version.header("content-type")
    charset, kind = header_charset(header), _kind(version)
    if raw and b"\0" in version.body[:_SNIFFED_BYTES]:
        return ParsedVersion(binary=_binary(version.body, kind))
    if raw:
        return ParsedVersion(text=decode_plain(version.body, charset)[0])
    observed = observe(version.body, header, version.visit.url, page_rules)
    if observed.selected is not None and observed.selected.text is not None:
        return ParsedVersion(text=observed.selected.text)
    if kind in HTML:
        return _page(observed, version.body, kind, charset)
    data = readable(version.body, kind, charset, version.visit.url)
    if data.sheets is not None:
        return ParsedVersion(sheets=data.sheets)
    document = _document(version.body, kind, version.visit.url)
    if document is not None:
        return document
    text = observed.text if observed.text is not None else decode_plain(version.body, charset)[0]
    return ParsedVersion(
        text=text,
        triples=data.triples,
        table=data.table,
        document=data.document,
        entries=None if data.entries is None else tuple(map(_entry, data.entries)),
    )


_BINARY_TYPES = ("image/", "audio/", "video/", "font/")
_SNIFFED_BYTES = 8_000


def _document(body: bytes, kind: str, url: str) -> ParsedVersion | None:
    """A document that is not a page: its text or a description; None if it is plain text or data."""
    name = document_format(body, kind, url)
    text = document_text(body, kind) if name else None
    if text is not None:
        return ParsedVersion(text=text, binary=_binary(body, "image/svg+xml") if name == "svg" else None)
    if not name and not kind.startswith(_BINARY_TYPES) and b"\0" not in body[:_SNIFFED_BYTES]:
        return None
    return ParsedVersion(binary=_binary(body, kind))


def _binary(body: bytes, kind: str) -> BinaryContent:
    return BinaryContent(description=describe(body, kind), media_type=kind, body=body)


_MAIN_PARTS = ("title", "body", "side")


def _page(observed: ObservedContent, body: bytes, kind: str, charset: str | None) -> ParsedVersion:
    """The main content of a page, and what surrounds it; the cells of a table row stand in one line."""
    rows = table_rows(decode_html(body, charset, html=True, default=DEFAULT if kind == "text/html" else "utf-8")[0])
    if observed.part_texts is None:
        return ParsedVersion(text=with_rows(observed.text or "", rows), links=observed.links)
    attributes: dict[str, str] = {}
    for attribute in observed.attributes:
        if attribute.kind != "title":  # it is the first line of the text
            values = attributes.get(name := _attribute_name(attribute))
            attributes[name] = attribute.value if values is None else f"{values}, {attribute.value}"
    parts = observed.part_texts._asdict()
    main = "\n".join(parts[name] for name in _MAIN_PARTS if parts.get(name))
    outside = "\n".join(text for name, text in parts.items() if text and name not in _MAIN_PARTS)
    return ParsedVersion(
        text=with_rows(main, rows),
        outside=with_rows(outside, rows),
        attributes=attributes,
        links=observed.links,
    )


def _attribute_name(attribute: PageAttribute) -> str:
    return attribute.name if attribute.name.startswith(attribute.kind) else f"{attribute.kind} {attribute.name}".strip()


def _entry(entry: FeedEntry) -> EntryVersion:
    return EntryVersion(
        id=entry.id,
        title=entry.title,
        link=entry.url or "",
        updated="" if entry.updated_at is None else _time(entry.updated_at),
        content=entry.content,
    )


def _time(at: float) -> str:
    """The time that a feed states; it may be out of the range of dates."""
    try:
        return iso(at)
    except (ValueError, OverflowError, OSError):
        return ""
