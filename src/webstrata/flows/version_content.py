"""The content of a version in the forms that can be compared, and the difference of two versions.

Documents that native code parses (PDF, pictures, containers) are parsed in a process with limits, because everybody can
send a document that takes all memory.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from webstrata.clock import iso
from webstrata.detect.diff.binary import BinaryContent, BinaryDifference
from webstrata.detect.diff.difference import Difference, ParsedVersion, difference
from webstrata.detect.diff.feed import EntryVersion, FieldChange
from webstrata.detect.diff.noise_filter import divided
from webstrata.detect.layers import candidate_layers, layer_differences
from webstrata.detect.memory import redirect_target
from webstrata.detect.noisy_place import NoisyPlace
from webstrata.flows.limited_process import ProcessLimitError, run_limited
from webstrata.flows.version_noise import attribute_name, noise_filter
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
from webstrata.records import ATTRIBUTE_KINDS, PageRules


def version_difference(
    before: Version,
    after: Version,
    page_rules: PageRules | None,
    *,
    raw: bool,
    before_name: str,
    after_name: str,
    noise: tuple[NoisyPlace, ...] = (),
) -> Difference:
    """The difference of two versions, without the parts that the rules ignore; `raw` compares the source only.

    What differs in the places of `noise` is in `Difference.noise`.
    """
    if before.large is not None or after.large is not None:
        return _by_digest(before, after, before_name, after_name)
    arguments = (before, after, page_rules, raw, before_name, after_name, noise)
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
    before: Version,
    after: Version,
    page_rules: PageRules | None,
    raw: bool,
    before_name: str,
    after_name: str,
    noise: tuple[NoisyPlace, ...],
) -> Difference:
    """The difference of two versions; pictures are compared by their pixels."""
    move = _move(before, after)
    if raw:
        return _difference(_source(before), _source(after), before_name, after_name, move)
    old, new = (observe(one.body, one.header("content-type"), one.base, page_rules) for one in (before, after))
    layers = layer_differences(old.fingerprint, new.fingerprint)
    layer = next(name for name in candidate_layers(page_rules) if name in layers)
    parsed = (_parsed(before, old, page_rules), _parsed(after, new, page_rules))
    found = _difference(*parsed, before_name, after_name, move)
    noisy = noise_filter(old, new, noise, apart_s=after.visit.at - before.visit.at, layer=layer)
    if noisy is not None:
        found = divided(found, noisy)
    differs = layers[layer] and found.noise is None
    found = found.with_text_of_data(differs=differs)
    if differs and replace(found, move=None).empty:
        # The layer that decides differs in something that no form shows: the source shows it.
        return _difference(_source(before), _source(after), before_name, after_name, move)
    return found


def _difference(
    old: ParsedVersion, new: ParsedVersion, before_name: str, after_name: str, move: FieldChange | None
) -> Difference:
    pixels = None
    if old.binary is not None and new.binary is not None:
        pixels = pixel_difference(old.binary.body, new.binary.body)
    found = difference(old, new, before_name=before_name, after_name=after_name, pixels=pixels)
    return replace(found, move=move)


def _move(before: Version, after: Version) -> FieldChange | None:
    """The final URLs of both versions, if they differ as in a change of the kind `moved`."""
    url = after.visit.url
    if redirect_target(url, before.address) == redirect_target(url, after.address):
        return None
    return FieldChange(name="address", before=before.base, after=after.base)


def _is_document(version: Version) -> bool:
    return bool(document_format(version.body, _kind(version), version.base))


def _kind(version: Version) -> str:
    return media_type(version.body, version.header("content-type"))


def source_text(version: Version) -> str:
    """The source of a version as text."""
    return decode_plain(version.body, header_charset(version.header("content-type")))[0]


def _source(version: Version) -> ParsedVersion:
    """A version by its source; one that is not text by its bytes."""
    if b"\0" in version.body[:_SNIFFED_BYTES]:
        return ParsedVersion(binary=_binary(version.body, _kind(version)))
    return ParsedVersion(text=source_text(version))


def _parsed(version: Version, observed: ObservedContent, page_rules: PageRules | None) -> ParsedVersion:
    """A version in the forms that can be compared."""
    charset, kind = header_charset(version.header("content-type")), _kind(version)
    if observed.selected is not None and observed.selected.text is not None:
        counted = page_rules.attributes if page_rules is not None else ()
        return ParsedVersion(text=observed.selected.text, attributes=_attributes(observed, counted))
    if kind in HTML:
        return _page(observed, version.body, kind, charset)
    data = readable(version.body, kind, charset, version.base)
    if data.sheets is not None:
        return ParsedVersion(sheets=data.sheets)
    document = _document(version.body, kind, version.base)
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
        return ParsedVersion(text=with_rows(observed.text or "", rows), links=_links(observed))
    parts = observed.part_texts._asdict()
    main = "\n".join(parts[name] for name in _MAIN_PARTS if parts.get(name))
    outside = "\n".join(text for name, text in parts.items() if text and name not in _MAIN_PARTS)
    return ParsedVersion(
        text=with_rows(main, rows),
        outside=with_rows(outside, rows),
        attributes=_attributes(observed, ATTRIBUTE_KINDS),
        links=_links(observed),
    )


def _links(observed: ObservedContent) -> tuple[str, ...]:
    """The URLs, e-mail addresses and telephone numbers to which a page links."""
    return (*observed.links, *observed.linked.contacts)


def _attributes(observed: ObservedContent, kinds: Collection[str]) -> dict[str, str]:
    """The attributes of these kinds by name; the values of a name that occurs several times in one text."""
    found: dict[str, str] = {}
    for attribute in observed.attributes:
        if attribute.kind in kinds and attribute.kind != "title":  # the title is the first line of the text
            values = found.get(name := attribute_name(attribute))
            found[name] = attribute.value if values is None else f"{values}, {attribute.value}"
    return found


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
