"""XML: safe parsing, the digest of a document, and the repair of common mistakes.

The digest covers element names with their namespaces, attributes without order, and text. It follows Canonical XML with
some differences (docs/reference/data-layers.md): it does not depend on prefixes, on comments, or on white space between
elements if an element contains no other text (indentation). Documents that could exhaust a parser are refused: entities
that refer to other entities or to files, expansion beyond `MAX_EXPANDED_BYTES`, nesting beyond `MAX_DEPTH`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from html.entities import html5
from typing import NamedTuple
from xml.parsers import expat

from webstrata.observe.data.digest import DataDigest, digest_of, refused
from webstrata.observe.html.charset import decode

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 1000
MAX_EXPANDED_BYTES = 8 * 1024 * 1024
"""Bytes that entity references may add."""
ILL_FORMED = "not well-formed XML"
"""The beginning of the message if only the syntax is wrong, so that a repair may help."""
_SPACE = " \t\r\n"


class XmlRefusedError(ValueError):
    """The document uses something that is refused for safety; the message names it."""


class _RootFoundError(Exception):
    """Ends parsing at the root element."""


class IgnoredMarkup(NamedTuple):
    """What a digest leaves out. Names have the form `NAMESPACE LOCALNAME`."""

    element: Callable[[str], bool]
    """Whether the element of this name is left out with its content."""
    attribute: Callable[[str], bool]
    instructions: bool
    """Whether processing instructions are left out."""


NOTHING_IGNORED = IgnoredMarkup(element=lambda name: False, attribute=lambda name: False, instructions=False)


def xml_digest(
    body: bytes, charset: str | None, url: str, *, kind: str = "xml", ignored: IgnoredMarkup = NOTHING_IGNORED
) -> DataDigest:
    """The digest of one XML document. Never raises."""
    handlers = _DigestHandlers(ignored)
    problem = parse_safely(body, handlers.parser)
    if problem is not None:
        return refused(kind, problem)
    return DataDigest(kind=kind, digest=digest_of(kind, handlers.top), size=handlers.elements)


def root_element(body: bytes) -> tuple[str, str] | None:
    """(namespace, local name) of the root element; None if there is none or it cannot be parsed."""
    root = _root(body)
    if root is None:
        return None
    namespace, _, local = root[0].rpartition(" ")
    return namespace, local


def root_attributes(body: bytes) -> dict[str, str]:
    """The attributes of the root element; none if there is none or it cannot be parsed."""
    root = _root(body)
    return {} if root is None else root[1]


def _root(body: bytes) -> tuple[str, dict[str, str]] | None:
    root: list[tuple[str, dict[str, str]]] = []
    parser = expat.ParserCreate(namespace_separator=" ")

    def start(name: str, attributes: dict[str, str]) -> None:
        root.append((name, attributes))
        raise _RootFoundError

    parser.StartElementHandler = start
    try:
        parser.Parse(without_leading_space(body)[:65_536], False)
    except _RootFoundError:
        return root[0]
    except (expat.ExpatError, ValueError, LookupError):
        return None
    return None


def safety_problem(body: bytes) -> str | None:
    """Why an XML document must not be given to a parser without limits; None if it may."""
    parser = expat.ParserCreate()
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise XmlRefusedError(f"nested deeper than {MAX_DEPTH}")

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1

    parser.StartElementHandler, parser.EndElementHandler = start, end
    return parse_safely(body, parser)


def parse_safely(body: bytes, parser: expat.XMLParserType) -> str | None:
    """Run a parser over a body, refusing dangerous entities. Returns what is wrong, or None."""
    if len(body) > MAX_BYTES:
        return f"longer than {MAX_BYTES} bytes"
    added = 0

    def declare(
        name: str, is_parameter: bool, value: str | None, base: str | None, system: str | None, *_: str | None
    ) -> None:
        nonlocal added
        if is_parameter or value is None or system is not None:
            raise XmlRefusedError("declares an external or parameter entity")
        if "&" in value or "%" in value or "<" in value:
            raise XmlRefusedError("declares an entity that contains entities or markup")
        added += len(value) * body.count(b"&" + name.encode() + b";")
        if added > MAX_EXPANDED_BYTES:
            raise XmlRefusedError(f"its entities expand to more than {MAX_EXPANDED_BYTES} bytes")

    parser.EntityDeclHandler = declare
    try:
        parser.Parse(without_leading_space(body), True)
    except XmlRefusedError as refusal:
        return str(refusal)
    except (expat.ExpatError, ValueError, LookupError) as error:  # the last two: an encoding without a codec
        return f"{ILL_FORMED}: {error}"
    return None


def without_leading_space(body: bytes) -> bytes:
    """The body without white space before the XML declaration, which is not allowed but common."""
    bare = body.removeprefix(b"\xef\xbb\xbf").lstrip()
    return bare if bare.startswith(b"<?xml") else body


class _XmlElement:
    """An element that has not ended: the digest of its start tag, and its content so far."""

    __slots__ = ("children", "has_elements", "has_words", "keeps_space", "start", "text")

    def __init__(self, start: bytes, keeps_space: bool) -> None:
        self.start = start
        self.keeps_space = keeps_space
        self.children: list[tuple[bytes, bytes]] = []
        self.text: list[str] = []
        self.has_elements = False
        self.has_words = False


class _DigestHandlers:
    """Expat handlers that compute the digest of every element from the digests of its children."""

    def __init__(self, ignored: IgnoredMarkup) -> None:
        self.top: list[bytes] = []
        self.elements = 0
        self._ignored = ignored
        self._ignored_depth = 0
        """The number of open elements from the outermost ignored one on."""
        self._open: list[_XmlElement] = []
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.ordered_attributes = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.ProcessingInstructionHandler = self._instruct
        self.parser.SkippedEntityHandler = self._skip

    def _start(self, name: str, attributes: list[str]) -> None:
        if len(self._open) + self._ignored_depth >= MAX_DEPTH:
            raise XmlRefusedError(f"nested deeper than {MAX_DEPTH}")
        if self._ignored_depth or self._ignored.element(name):
            self._ignored_depth += 1
            return
        pairs = {
            key: value
            for key, value in zip(attributes[::2], attributes[1::2], strict=True)
            if not self._ignored.attribute(key)
        }
        self.elements += 1
        keeps = self._open[-1].keeps_space if self._open else False
        space = pairs.get(_XML_SPACE)
        parts = [name, *(part for pair in sorted(pairs.items()) for part in pair)]
        start = digest_of("start", [part.encode("utf-8", "replace") for part in parts]).encode()
        if self._open:
            self._close_text(self._open[-1])
            self._open[-1].has_elements = True
        self._open.append(_XmlElement(start, keeps if space is None else space == "preserve"))

    def _end(self, name: str) -> None:
        if self._ignored_depth:
            self._ignored_depth -= 1
            return
        element = self._open.pop()
        self._close_text(element)
        state = hashlib.sha256(element.start)
        drops_space = element.has_elements and not element.has_words and not element.keeps_space
        for kind, part in element.children:
            if kind != b"_" or not drops_space:
                state.update(b"%s%d:" % (kind.replace(b"_", b"t"), len(part)))
                state.update(part)
        self._add(b"e", state.digest())

    def _text(self, text: str) -> None:
        if not self._ignored_depth:
            self._open[-1].text.append(text)

    def _close_text(self, element: _XmlElement) -> None:
        """Text is complete only where an element starts or ends: parsers and CDATA sections divide it."""
        if element.text:
            text = "".join(element.text)
            element.text = []
            is_space = not text.strip(_SPACE)
            element.has_words |= not is_space
            element.children.append((b"_" if is_space else b"t", text.encode("utf-8", "replace")))

    def _instruct(self, target: str, data: str) -> None:
        if self._ignored.instructions or self._ignored_depth:
            return
        if self._open:
            self._close_text(self._open[-1])
        self._add(b"i", f"{target} {data}".encode("utf-8", "replace"))

    def _skip(self, name: str, is_parameter: bool) -> None:
        if self._open:
            self._text(f"&{name};")

    def _add(self, kind: bytes, part: bytes) -> None:
        if self._open:
            self._open[-1].children.append((kind, part))
        else:
            self.top.append(kind + part)


_XML_SPACE = "http://www.w3.org/XML/1998/namespace space"


_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
_ENCODING = re.compile(rb"\s*<\?xml[^>]*?\sencoding\s*=\s*[\"']([^\"']{1,40})[\"']")
_AMPERSAND = re.compile(
    r"<!\[CDATA\[.*?\]\]>|&(?:(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)?", re.DOTALL
)
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})


def repair_xml(body: bytes, charset: str | None) -> bytes:
    """The document in UTF-8, with stray ampersands escaped and HTML entities and control characters replaced."""
    declared = _ENCODING.match(body[:1024])
    label = charset or (declared[1].decode("latin-1") if declared else None)
    text, _ = decode(body, label, default="utf-8")
    text = _DECLARATION.sub("", text, count=1).lstrip()
    return _AMPERSAND.sub(_repaired_reference, _FORBIDDEN.sub("\ufffd", text)).encode("utf-8", "replace")


def _repaired_reference(match: re.Match[str]) -> str:
    written, name = match[0], match[1]
    if written.startswith("<") or name in _XML_ENTITIES:
        return written
    if name is None:
        return "&amp;"
    if name.startswith("#"):
        return written if _is_allowed(name[1:]) else "\ufffd"
    character = html5.get(name + ";")
    return "&amp;" + written[1:] if character is None else "".join(f"&#{ord(each)};" for each in character)


def _is_allowed(number: str) -> bool:
    code = int(number[1:], 16) if number[0] in "xX" else int(number)
    return code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF
