"""Body, header and URL -> everything one look at a content gives."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import partial

from msgspec import Struct

from webstrata.observe import charset as encoding
from webstrata.observe.head import Pointers, pointers
from webstrata.observe.media import HTML, header_charset, media_type
from webstrata.observe.scan import scan_pointers, scan_text
from webstrata.observe.text import flat_text, lined_text, plain_lines, silence, words
from webstrata.observe.tree import parse
from webstrata.records import Fingerprint


class Seen(Struct, frozen=True, kw_only=True, gc=False):
    """What one content is and where it points."""

    fingerprint: Fingerprint
    title: str | None = None
    links: tuple[str, ...] = ()
    """Canonical absolute URLs of other pages, in order of appearance, each once."""
    feeds: tuple[str, ...] = ()
    canonical: str | None = None
    """What the page says its own address is."""
    nofollow: bool = False
    noindex: bool = False
    read_text: Callable[[], str] | None = None
    read_requisites: Callable[[], tuple[str, ...]] | None = None

    @property
    def text(self) -> str | None:
        """Useful text in lines; none where the media type has no text layer.

        Made anew at each call, because few want it and it takes longer than all digests together.
        """
        return None if self.read_text is None else self.read_text()

    @property
    def requisites(self) -> tuple[str, ...]:
        """Canonical URLs of images, style sheets, icons and scripts. Read at each call, for the same reason."""
        return () if self.read_requisites is None else self.read_requisites()


def observe(body: bytes, content_type: str | None, url: str) -> Seen:
    """Look at a body (content coding removed) as the answer to a request for `url`, with its Content-Type header."""
    return look(body, media_type(body, content_type), header_charset(content_type), url)


def look(body: bytes, kind: str, charset: str | None, url: str) -> Seen:
    """The same for a known media type and charset label."""
    raw = hashlib.sha256(body).hexdigest()
    if kind in HTML:
        return _html(body, raw, kind, charset, url)
    if kind == "text/plain":
        text, name = encoding.decode_plain(body, charset)
        mark = Fingerprint(
            raw=raw, size=len(body), media_type=kind, charset=name, text=_text_digest(b" ".join(words(text)))
        )
        return Seen(fingerprint=mark, read_text=partial(plain_lines, text))
    return Seen(fingerprint=Fingerprint(raw=raw, size=len(body), media_type=kind, charset=charset))


def _html(body: bytes, raw: str, kind: str, charset: str | None, url: str) -> Seen:
    default = encoding.DEFAULT if kind == "text/html" else "utf-8"
    html, name = encoding.decode(body, charset, html=True, default=default)
    tree = parse(html)
    if tree is None:
        lines = scan_text(html)
        return _seen(body, raw, kind, name, scan_pointers(html, url), b" ".join(words(lines)), lambda: lines)
    points = pointers(tree, url)
    silence(tree)
    return _seen(body, raw, kind, name, points, flat_text(tree), partial(lined_text, tree))


def _seen(
    body: bytes, raw: str, kind: str, charset: str, points: Pointers, text: bytes, read_text: Callable[[], str]
) -> Seen:
    mark = Fingerprint(
        raw=raw,
        size=len(body),
        media_type=kind,
        charset=charset,
        title=points.title,
        text=_text_digest(text),
        links=_set_digest(points.links),
        link_count=len(points.links),
    )
    return Seen(
        fingerprint=mark,
        title=points.title,
        links=points.links,
        feeds=points.feeds,
        canonical=points.canonical,
        nofollow=points.nofollow,
        noindex=points.noindex,
        read_text=read_text,
        read_requisites=points.read_requisites,
    )


def _text_digest(text: bytes) -> str | None:
    """None for no text at all: contents that say nothing (a picture, an empty shell) are compared by their bytes."""
    return hashlib.sha256(text).hexdigest() if text else None


def _set_digest(urls: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(urls)).encode()).hexdigest()
