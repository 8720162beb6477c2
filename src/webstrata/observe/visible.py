"""What a reader of an HTML page sees, as digests that any program can compute: its visible text and its links.

Certificates of captures compare pages by these digests, and independent verifiers compute them again. So they are
defined on bytes, without a charset and without a parse tree (docs/reference/visible-content.md has the definition).
Where the bytes are ambiguous, the rest of the page is text: a page may then be called changed although no reader sees
a difference, but a text that a browser shows is never left out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from msgspec import Struct

SHELL_BYTES = 100
"""A page with scripts and less text than this is a script shell: scripts load what its readers see."""

_DROPPED = frozenset({b"script", b"style", b"noscript"})
_KEPT = frozenset({b"textarea", b"title", b"xmp", b"iframe", b"noembed", b"noframes"})
_FOREIGN = frozenset({b"svg", b"math"})
_INTEGRATION = frozenset(b"desc foreignobject annotation-xml mi mo mn ms mtext".split())
_TEXT_ATTRIBUTES = frozenset({b"alt", b"label", b"placeholder", b"title"})
_VALUED = frozenset({b"button", b"input", b"meter", b"progress"})
_LINK_ATTRIBUTES = frozenset(
    b"href src srcset poster data action formaction background cite longdesc xlink:href data-src data-srcset".split()
)
_NO_LINKS = frozenset({b"script", b"link"})

_ATTRIBUTE = re.compile(
    rb"""(=?[^\t\n\f\r />=]++|=)(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+("[^"]*+"|'[^']*+'|(?!["'])[^\t\n\f\r >]*+))?+"""
)
_TAG = re.compile(rb"<(/?)([A-Za-z][^\t\n\f\r />]*+)((?:[\t\n\f\r /]++|" + _ATTRIBUTE.pattern + rb")*+)>")
_COMMENT = re.compile(rb"<!--(?:-?>|.*?--!?>)", re.DOTALL)
_DECLARATION = re.compile(rb"<[!?/][^>]*+>")
_MARKUP = re.compile(rb"<[A-Za-z!/?]")
_NESTED_SCRIPT = re.compile(rb"<!--.*?<script", re.DOTALL | re.IGNORECASE)
_SPACES = re.compile(rb"[\t-\r ]+")
_NO_ASCII = re.compile(rb"\A(?:\xfe\xff|\xff\xfe)|[\0\x1b]")
_END_TAGS = {
    name: re.compile(rb"</" + name + rb"(?=[\t\n\f\r />])", re.IGNORECASE) for name in sorted(_DROPPED | _KEPT)
}


class VisibleContent(Struct, frozen=True, kw_only=True):
    """The digests (SHA-256, hex) of a page's visible text and links, and whether scripts load its content."""

    text: str
    links: str
    is_script_shell: bool


class _Token(Struct, frozen=True, gc=False):
    """A start tag with its attributes, or a text (`name` is empty); `inside` names the raw text element that has it."""

    name: bytes = b""
    attributes: bytes = b""
    text: bytes = b""
    inside: bytes = b""


def is_html(content_type: str) -> bool:
    """Whether a Content-Type header declares HTML."""
    return content_type.partition(";")[0].strip().lower() in ("text/html", "application/xhtml+xml")


def visible_content(body: bytes) -> VisibleContent:
    """Scan the body (content coding removed) of an HTML page. Takes time linear in its size."""
    texts: list[bytes] = []
    links: list[bytes] = []
    shown = 0
    has_script = False
    for token in _tokens(body):
        if not token.name:
            text = _clean(token.text)
            if text:
                texts.append(text)
                shown += 0 if token.inside == b"title" else len(text)
            continue
        has_script = has_script or token.name == b"script"
        _add_attributes(token, texts, links)
    return VisibleContent(text=_digest(texts), links=_digest(links), is_script_shell=has_script and shown < SHELL_BYTES)


def visible_lines(body: bytes) -> list[bytes]:
    """The visible text, for people and for search: the texts without the values of attributes."""
    return [text for token in _tokens(body) if not token.name and (text := _clean(token.text))]


def _tokens(body: bytes) -> Iterator[_Token]:
    """The texts and start tags of a page in order; comments, declarations, end tags and scripts are left out."""
    if _NO_ASCII.search(body):  # UTF-16 and ISO-2022: bytes that look like tags may be characters
        yield _Token(text=body)
        return
    at, end = 0, len(body)
    foreign, has_integration, in_select = 0, False, False
    while at < end:
        if body[at] != 60:
            start, at = at, _position(body.find(b"<", at), end)
            yield _Token(text=body[start:at])
            continue
        tag = _TAG.match(body, at)
        if tag is None:
            markup = _markup_end(body, at)
            if markup is None:
                yield _Token(text=body[at:])
                return
            if markup == at:  # a `<` that starts nothing
                following = _position(body.find(b"<", at + 1), end)
                yield _Token(text=body[at:following])
                at = following
            else:
                at = markup
            continue
        at = tag.end()
        closing, name, attributes = tag[1], tag[2].lower(), tag[3]
        if name in _FOREIGN:
            foreign = max(0, foreign - 1) if closing else foreign + (not attributes.endswith(b"/"))
        elif name == b"select":
            in_select = not closing
        has_integration = has_integration or (foreign > 0 and name in _INTEGRATION)
        if closing:
            continue
        yield _Token(name=name, attributes=attributes)
        if name == b"plaintext":
            yield _Token(text=body[at:])
            return
        if name not in _END_TAGS:
            continue
        raw_end = _END_TAGS[name].search(body, at)
        raw = body[at : raw_end.start()] if raw_end else b""
        is_odd = foreign > 0 or has_integration or in_select
        if (
            raw_end is None
            or (in_select and name in _DROPPED)
            or (is_odd and _MARKUP.search(raw))
            or (name == b"script" and _NESTED_SCRIPT.search(raw))
        ):
            yield _Token(text=body[at:])
            return
        if name in _KEPT:
            yield _Token(text=raw, inside=name)
        at = raw_end.start()


def _position(found: int, end: int) -> int:
    return end if found < 0 else found


def _markup_end(body: bytes, at: int) -> int | None:
    """The end of the comment or declaration at a `<`; `at` if there is none; None if it has no end, or may be text."""
    if body.startswith(b"<![CDATA[", at):
        return None
    following = body[at + 1 : at + 2]
    if body.startswith(b"<!--", at):
        found = _COMMENT.match(body, at)
    elif following in (b"!", b"?", b"/"):
        found = _DECLARATION.match(body, at)
    else:
        return None if following.isalpha() and following.isascii() else at
    return found.end() if found else None


def _add_attributes(token: _Token, texts: list[bytes], links: list[bytes]) -> None:
    """Append the visible values and the links of a start tag."""
    if not token.attributes:
        return
    values: dict[bytes, bytes] = {}
    for name, value in _ATTRIBUTE.findall(token.attributes):
        plain = value[1:-1] if value[:1] in (b'"', b"'") else value
        values.setdefault(name.lower(), _clean(plain))
    is_hidden = token.name == b"input" and values.get(b"type", b"").lower() == b"hidden"
    is_refresh = token.name == b"meta" and values.get(b"http-equiv", b"").lower() == b"refresh"
    for name, value in values.items():
        if value and (name in _TEXT_ATTRIBUTES or (name == b"value" and token.name in _VALUED and not is_hidden)):
            texts.append(value)
        is_link = name in _LINK_ATTRIBUTES and token.name not in _NO_LINKS
        if is_link or (is_refresh and name == b"content"):
            links.append(name + b"=" + value)


def _clean(text: bytes) -> bytes:
    return _SPACES.sub(b" ", text).strip(b" ")


def _digest(lines: list[bytes]) -> str:
    return hashlib.sha256(b"\n".join(lines)).hexdigest()
