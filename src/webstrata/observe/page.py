"""Body, header and URL -> everything one look at a content gives.

Bytes + media type + URL -> Fingerprint.

Seen -> what detection remembers of a version: its runs, its links, and how the new runs begin.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from webstrata.observe.data.digest import DataDigest
from webstrata.observe.data.dispatch import data_of
from webstrata.observe.data.fields import DataField, data_fields
from webstrata.observe.html import charset as encoding
from webstrata.observe.html.head import Pointers, pointers
from webstrata.observe.html.links import PageLinks
from webstrata.observe.html.outline import HtmlOutline, PageParts, clean, outline
from webstrata.observe.html.scan import scan_pointers, without_invisible
from webstrata.observe.html.tree import joined_lines, parse, plain_lines
from webstrata.observe.kernel.choice import KERNEL
from webstrata.observe.media import HTML, header_charset, media_type
from webstrata.observe.rules.select import SelectedContent, has_rules, select
from webstrata.observe.text_runs import excerpts_of, excerpts_of_data, runs_of, runs_of_data, simhash
from webstrata.records import Fingerprint, PageRules

VERSION = 2
"""Of the rules by which the layers are made. Digests of different versions are never compared."""

_PLAIN = frozenset({"text/plain", "text/markdown"})
_LONGEST_TITLE = 1000


class PartTexts(NamedTuple):
    """The useful text of a page, part by part, in lines."""

    title: str
    header: str
    body: str
    footer: str


class ObservedContent(Struct, frozen=True, kw_only=True, gc=False):
    """What one content is and where it points."""

    fingerprint: Fingerprint
    title: str | None = None
    linked: PageLinks = PageLinks()
    main_linked: PageLinks = PageLinks()
    """Of the body part."""
    feeds: tuple[str, ...] = ()
    spaces: int = 0
    """Inside the lines of its text, as far as it is cheap to tell: at least so many."""
    canonical: str | None = None
    """What the page says its own address is."""
    nofollow: bool = False
    noindex: bool = False
    selected: SelectedContent | None = None
    """What the page's own rules leave; none without rules."""
    read_text: Callable[[], str] | None = None
    read_parts: Callable[[], PartTexts] | None = None
    read_requisites: Callable[[], tuple[str, ...]] | None = None
    read_places: Callable[[], list[DataField]] | None = None
    """The places of data, where detection may learn which of them are noise."""

    @property
    def links(self) -> tuple[str, ...]:
        """Canonical absolute URLs of other pages, in order of appearance, each once. Made at each call: few want it."""
        return self.linked.urls

    @property
    def text(self) -> str | None:
        """Useful text in lines; none where the media type has no text layer. Made at each call, too."""
        return None if self.read_text is None else self.read_text()

    @property
    def part_texts(self) -> PartTexts | None:
        """The same text, divided; none where there are no parts."""
        return None if self.read_parts is None else self.read_parts()

    @property
    def requisites(self) -> tuple[str, ...]:
        """Canonical URLs of images, style sheets, icons and scripts. Read at each call, for the same reason."""
        return () if self.read_requisites is None else self.read_requisites()


def observe(body: bytes, content_type: str | None, url: str, page_rules: PageRules | None = None) -> ObservedContent:
    """Look at a body (content coding removed) as the answer to a request for `url`, with its Content-Type header.

    `page_rules` has the page's own rules. Never raises.
    """
    return observe_typed(body, media_type(body, content_type), header_charset(content_type), url, page_rules)


def observe_typed(
    body: bytes, kind: str, charset: str | None, url: str, page_rules: PageRules | None = None
) -> ObservedContent:
    """The same for a known media type and charset label."""
    mark = Fingerprint(
        raw=hashlib.sha256(body).hexdigest(), size=len(body), media_type=kind, charset=charset, version=VERSION
    )
    content: str | None = None
    if kind in HTML:
        default = encoding.DEFAULT if kind == "text/html" else "utf-8"
        content, name = encoding.decode(body, charset, html=True, default=default)
        seen = _html(content, replace(mark, charset=name), url)
    else:
        data = data_of(body, kind, charset, url, page_rules)
        if data is not None:
            mark = replace(mark, data=data.digest, data_kind=data.kind, data_note=data.note, noise=data.noise)
        if kind in _PLAIN:
            content, name = encoding.decode_plain(body, charset)
            seen = _plain(content, replace(mark, charset=name))
        else:
            seen = ObservedContent(fingerprint=mark)
        if data is not None and data.digest is not None and not (page_rules is not None and page_rules.unordered):
            keyed = page_rules is None or not page_rules.ordered
            seen = replace(seen, read_places=partial(_places, body, data, kind, charset, url, keyed))
    if page_rules is None or not has_rules(page_rules):
        return seen
    selected = select(content if content is not None else encoding.decode_plain(body, charset)[0], kind, page_rules)
    return replace(seen, selected=selected, fingerprint=replace(seen.fingerprint, selected=selected.digest))


def _places(body: bytes, data: DataDigest, kind: str, charset: str | None, url: str, keyed: bool) -> list[DataField]:
    """Without those that are left out of the digest anyway."""
    found = data_fields(body, data.kind, kind, charset, url, keyed=keyed)
    return [place for place in found if place.name not in data.noise]


def _plain(text: str, mark: Fingerprint) -> ObservedContent:
    words = b" ".join(clean(text))
    marked = replace(mark, text=_text_digest(words), simhash=simhash(words))
    return ObservedContent(fingerprint=marked, read_text=partial(plain_lines, text))


def _html(html: str, mark: Fingerprint, url: str) -> ObservedContent:
    tree = parse(html)
    if tree is None:
        heard = without_invisible(html)
        marked = KERNEL.scan_text(heard)
        text = b" ".join(clean(marked))
        return _seen(mark, scan_pointers(heard, url), text, None, partial(plain_lines, marked))
    walked = outline(tree.body)
    parts = PageParts(walked)
    points = pointers(tree, url, walked, parts)
    title = b" ".join(points.title)
    mark = replace(mark, parts=parts.digests(title), main_links=points.main_links.digest)
    text = b" ".join(filter(None, (title, walked.text)))
    seen = _seen(mark, points, text, partial(_part_texts, title, parts), partial(_all_lines, title, walked))
    return replace(seen, spaces=text.count(b" ") - len(walked.line_ends))


def _all_lines(title: bytes, body: HtmlOutline) -> str:
    return joined_lines([title, body.lined()])


def _part_texts(title: bytes, parts: PageParts) -> PartTexts:
    return PartTexts(title.decode(), parts.header, parts.body, parts.footer)


def _seen(
    mark: Fingerprint,
    points: Pointers,
    text: bytes,
    read_parts: Callable[[], PartTexts] | None,
    read_text: Callable[[], str],
) -> ObservedContent:
    title = b" ".join(points.title).decode()[:_LONGEST_TITLE] or None
    marked = replace(
        mark,
        title=title,
        text=_text_digest(text),
        simhash=simhash(text),
        links=points.links.digest,
        link_count=points.links.count,
        internal_links=points.links.internal,
        external_links=points.links.external,
        document_links=points.links.documents,
    )
    return ObservedContent(
        fingerprint=marked,
        title=title,
        linked=points.links,
        main_linked=points.main_links,
        feeds=points.feeds,
        canonical=points.canonical,
        nofollow=points.nofollow,
        noindex=points.noindex,
        read_text=read_text,
        read_parts=read_parts,
        read_requisites=points.read_requisites,
    )


def _text_digest(text: bytes) -> str | None:
    """None for no text at all: contents that say nothing (a picture, an empty shell) are compared by their bytes."""
    return hashlib.sha256(text).hexdigest() if text else None


def fingerprint(body: bytes, media_type: str, charset: str | None, url: str) -> Fingerprint:
    """Fingerprint of a body whose media type and charset label (or None) are known; `url` is its canonical URL."""
    return observe_typed(body, media_type, charset, url).fingerprint


class ObservationFields(NamedTuple):
    """For `Observation`, field by field."""

    lines: bytes
    link_hashes: bytes
    excerpts: dict[int, str]


def observation_fields(one: ObservedContent, previous: bytes = b"", *, with_lines: bool = True) -> ObservationFields:
    """Read it where the bytes differ from the last version's; `previous` are the lines of that version."""
    if not with_lines:
        return ObservationFields(lines=b"", link_hashes=one.linked.hashes, excerpts={})
    if one.read_places is not None and (one.selected is None or one.selected.text is None):
        places = one.read_places()
        if places:
            return ObservationFields(runs_of_data(places), one.linked.hashes, excerpts_of_data(places, previous))
    title, header, body, footer = _texts(one)
    return ObservationFields(
        lines=runs_of(title, body, header, footer),
        link_hashes=one.linked.hashes,
        excerpts=excerpts_of((title, body, header, footer), previous),
    )


def _texts(one: ObservedContent) -> tuple[str, str, str, str]:
    """What is compared, part by part: what the page's rules leave, else its parts, else its text."""
    if one.selected is not None and one.selected.text is not None:
        return "", "", one.selected.text, ""
    return one.part_texts or ("", "", one.text or "", "")
