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
_NO_READING = _DROPPED | {b"title"}
_FOREIGN = frozenset({b"svg", b"math"})
_INTEGRATION = frozenset(b"desc foreignobject annotation-xml mi mo mn ms mtext".split())
_SHAPES = frozenset(b"path circle rect line polyline polygon ellipse use stop".split())
_VOID = frozenset(b"area base br col embed hr img input link meta source track wbr".split())
_TEXT_ATTRIBUTES = frozenset({b"alt", b"label", b"placeholder", b"srcdoc", b"start", b"title"})
_VALUED = frozenset({b"button", b"input", b"li", b"meter", b"progress"})
_LINK_ATTRIBUTES = frozenset(
    b"href src srcset poster data action formaction background cite longdesc xlink:href data-src data-srcset".split()
)
_NO_LINKS = frozenset({b"script", b"link"})

_ATTRIBUTE = re.compile(
    rb"""(=?[^\t\n\f\r />=]++|=)"""
    rb"""(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+("[^"]*+"|'[^']*+'|(?!["'])[^\t\n\f\r >]*+)|(?![\t\n\f\r ]*+=))"""
)
_TAG = re.compile(rb"<(/?)([A-Za-z][^\t\n\f\r />]*+)((?:[\t\n\f\r /]++|" + _ATTRIBUTE.pattern + rb")*+)>")
_COMMENT = re.compile(rb"<!--(?:-?>|.*?--!?>)", re.DOTALL)
_DECLARATION = re.compile(rb"<[!?/][^>]*+>")
_TAG_START = re.compile(rb"</?[A-Za-z]")
_MARKUP = re.compile(rb"<[A-Za-z!/?]")
_SCRIPT = re.compile(rb"<script", re.IGNORECASE)
_SPACES = re.compile(rb"[\t-\r ]+")
_NO_ASCII = re.compile(rb"\A(?:\xfe\xff|\xff\xfe)|[\0\x1b]")
_END_TAGS = {
    name: re.compile(rb"</" + name + rb"(?=[\t\n\f\r />])", re.IGNORECASE) for name in sorted(_DROPPED | _KEPT)
}


class _Nesting:
    """Whether a browser may read raw text elements as other elements here: it does so in svg, math and select."""

    def __init__(self) -> None:
        self._open: list[bytes] = []
        self._integrations = 0
        self._in_select = self._has_template = self._is_lost = False

    @property
    def is_uncertain(self) -> bool:
        """In svg, math or select, or after tags of which it is not certain that they end these."""
        return self._is_lost or self._in_select or bool(self._open)

    def start(self, name: bytes, *, is_self_closing: bool) -> None:
        """Take note of a start tag."""
        if (name == b"template" and self._in_select) or (name == b"col" and self._has_template):
            self._is_lost = True  # in both places, browsers ignore tags of raw text elements
        self._has_template = self._has_template or name == b"template"
        self._in_select = self._in_select or name == b"select"
        if self._is_passed_over(name):
            return
        if not is_self_closing:
            self._open.append(name)
            self._integrations += name in _INTEGRATION
        elif self._integrations:  # HTML, in which `/` has no meaning, or svg and math
            self._is_lost = True

    def end(self, name: bytes) -> None:
        """Take note of an end tag."""
        if name == b"select":
            self._in_select = False
        if not self._open or self._is_passed_over(name):
            return
        if self._open.pop() == name:
            self._integrations -= name in _INTEGRATION
        else:
            self._is_lost = True

    def _is_passed_over(self, name: bytes) -> bool:
        if not self._open:
            return name not in _FOREIGN
        return name in _VOID or (not self._integrations and name in _SHAPES)


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
    return content_type.partition(";")[0].strip().lower() == "text/html"


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
                shown += 0 if token.inside in _NO_READING else len(text)
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
    nesting = _Nesting()
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
        name = tag[2].lower()
        if tag[1]:
            nesting.end(name)
            continue
        nesting.start(name, is_self_closing=_is_self_closing(tag[3]))
        yield _Token(name=name, attributes=tag[3])
        if name not in _END_TAGS and name != b"plaintext":
            continue
        raw_end = _raw_end(body, at, name, nesting.is_uncertain)
        if raw_end is None:
            yield _Token(text=body[at:])
            return
        if name in _KEPT or nesting.is_uncertain:
            yield _Token(text=body[at:raw_end], inside=name)
        at = raw_end


def _raw_end(body: bytes, at: int, name: bytes, is_uncertain: bool) -> int | None:
    """Where the content of a raw text element ends; None if it may end elsewhere for a browser."""
    found = _END_TAGS[name].search(body, at) if name in _END_TAGS else None
    if found is None or (is_uncertain and _MARKUP.search(body, at, found.start())):
        return None
    if name == b"script":
        comment = body.find(b"<!--", at, found.start())
        if comment >= 0 and _SCRIPT.search(body, comment, found.start()):
            return None
    return found.start()


def _is_self_closing(attributes: bytes) -> bool:
    """Whether a tag ends with a `/` that is not of an attribute's value."""
    if not attributes.endswith(b"/"):
        return False
    end = 0
    for attribute in _ATTRIBUTE.finditer(attributes):
        end = attribute.end()
    return end < len(attributes)


def _position(found: int, end: int) -> int:
    return end if found < 0 else found


def _markup_end(body: bytes, at: int) -> int | None:
    """The end of the comment or declaration at a `<`; `at` if there is none; None if it has no end, or may be text."""
    if body.startswith(b"<![CDATA[", at):
        return None
    following = body[at + 1 : at + 2]
    if body.startswith(b"<!--", at):
        found = _COMMENT.match(body, at)
    elif _TAG_START.match(body, at):  # a tag without an end
        return None
    elif following in (b"!", b"?", b"/"):
        found = _DECLARATION.match(body, at)
    else:
        return at
    return found.end() if found else None


def _add_attributes(token: _Token, texts: list[bytes], links: list[bytes]) -> None:
    """Append the visible values and the links of a start tag."""
    if not token.attributes:
        return
    values: dict[bytes, bytes] = {}
    for name, value in _ATTRIBUTE.findall(token.attributes):
        values.setdefault(name.lower(), value[1:-1] if value[:1] in (b'"', b"'") else value)
    is_hidden = token.name == b"input" and values.get(b"type", b"").lower() == b"hidden"
    kind = values.get(b"http-equiv", b"").lower()
    is_refresh = token.name == b"meta" and (kind == b"refresh" or b"&" in kind)
    for name, plain in values.items():
        value = _clean(plain)
        if value and (name in _TEXT_ATTRIBUTES or (name == b"value" and token.name in _VALUED and not is_hidden)):
            texts.append(value)
        is_link = name in _LINK_ATTRIBUTES and token.name not in _NO_LINKS
        if is_link or (is_refresh and name == b"content"):
            links.append(name + b"=" + value)


def _clean(text: bytes) -> bytes:
    return _SPACES.sub(b" ", text).strip(b" ")


def _digest(lines: list[bytes]) -> str:
    return hashlib.sha256(b"\n".join(lines)).hexdigest()
