"""XML -> digest: of names with their namespaces, attributes without order, and text.

In the sense of Canonical XML, and a little further (docs/reference/data-layers.md): prefixes do not count, comments
do not, and neither does white space between elements where an element holds no other text (a pretty-printer's). Files
that could do harm are refused: entities that name others or files, expansion beyond bounds, nesting beyond `MAX_DEPTH`.

Ill-formed XML -> XML that says what was plainly meant: stray ampersands, HTML's entities, control characters.
"""

from __future__ import annotations

import hashlib
import re
from html.entities import html5
from xml.parsers import expat

from webstrata.observe.data.digest import DataDigest, digest_of, refused
from webstrata.observe.html.charset import decode

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 1000
MAX_EXPANDED_BYTES = 8 * 1024 * 1024
"""Bytes that entities may add."""
ILL_FORMED = "not well-formed XML"
"""How a problem begins that lies in the syntax alone."""
_SPACE = " \t\r\n"


class XmlRefusedError(ValueError):
    """The file tries something that no data need."""


class _RootFoundError(Exception):
    """Ends a parse that has seen enough."""


def xml_digest(body: bytes, charset: str | None, url: str) -> DataDigest:
    """One XML document. Never raises."""
    reader = _Canonical()
    problem = parse_safely(body, reader.parser)
    if problem is not None:
        return refused("xml", problem)
    return DataDigest(kind="xml", digest=digest_of("xml", reader.top), size=reader.elements)


def root_element(body: bytes) -> tuple[str, str] | None:
    """(namespace, local name) of the root element; None if the document does not come as far as that."""
    root: list[str] = []
    parser = expat.ParserCreate(namespace_separator=" ")

    def start(name: str, attributes: dict[str, str]) -> None:
        root.append(name)
        raise _RootFoundError

    parser.StartElementHandler = start
    try:
        parser.Parse(without_leading_space(body)[:65_536], False)
    except _RootFoundError:
        namespace, _, local = root[0].rpartition(" ")
        return namespace, local
    except (expat.ExpatError, ValueError, LookupError):
        return None
    return None


def safety_problem(body: bytes) -> str | None:
    """Why an XML document is not to be given to a parser that knows no limits; None: it may be."""
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
    """Run a parser over a body, without entities that do harm; what went wrong."""
    if len(body) > MAX_BYTES:
        return f"longer than {MAX_BYTES} bytes"
    added = 0

    def declare(
        name: str, is_parameter: bool, value: str | None, base: str | None, system: str | None, *_: str | None
    ) -> None:
        nonlocal added
        if is_parameter or value is None or system is not None:
            raise XmlRefusedError("declares an entity from outside")
        if "&" in value or "%" in value or "<" in value:
            raise XmlRefusedError("declares an entity of entities")
        added += len(value) * body.count(b"&" + name.encode() + b";")
        if added > MAX_EXPANDED_BYTES:
            raise XmlRefusedError("its entities expand beyond bounds")

    parser.EntityDeclHandler = declare
    try:
        parser.Parse(without_leading_space(body), True)
    except XmlRefusedError as refusal:
        return str(refusal)
    except expat.ExpatError as error:
        return f"{ILL_FORMED}: {error}"
    except (ValueError, LookupError) as error:  # an encoding that no codec reads
        return f"{ILL_FORMED}: {error}"
    return None


def without_leading_space(body: bytes) -> bytes:
    """Without the white space that must not, but does, precede an XML declaration."""
    bare = body.removeprefix(b"\xef\xbb\xbf").lstrip()
    return bare if bare.startswith(b"<?xml") else body


class _XmlElement:
    """An element under way: its own digest, and what it holds so far."""

    __slots__ = ("children", "has_elements", "has_words", "keeps_space", "start", "text")

    def __init__(self, start: bytes, keeps_space: bool) -> None:
        self.start = start
        self.keeps_space = keeps_space
        self.children: list[tuple[bytes, bytes]] = []
        self.text: list[str] = []
        self.has_elements = False
        self.has_words = False


class _Canonical:
    """Expat handlers: a digest for every element, made of those of its children."""

    def __init__(self) -> None:
        self.top: list[bytes] = []
        self.elements = 0
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
        self.elements += 1
        if len(self._open) >= MAX_DEPTH:
            raise XmlRefusedError(f"nested deeper than {MAX_DEPTH}")
        pairs = dict(zip(attributes[::2], attributes[1::2], strict=True))
        keeps = self._open[-1].keeps_space if self._open else False
        space = pairs.get(_XML_SPACE)
        parts = [name, *(part for pair in sorted(pairs.items()) for part in pair)]
        start = digest_of("start", [part.encode("utf-8", "replace") for part in parts]).encode()
        if self._open:
            self._close_text(self._open[-1])
            self._open[-1].has_elements = True
        self._open.append(_XmlElement(start, keeps if space is None else space == "preserve"))

    def _end(self, name: str) -> None:
        element = self._open.pop()
        self._close_text(element)
        made = hashlib.sha256(element.start)
        drops_space = element.has_elements and not element.has_words and not element.keeps_space
        for mark, part in element.children:
            if mark != b"_" or not drops_space:
                made.update(b"%s%d:" % (mark.replace(b"_", b"t"), len(part)))
                made.update(part)
        self._add(b"e", made.digest())

    def _text(self, text: str) -> None:
        self._open[-1].text.append(text)

    def _close_text(self, element: _XmlElement) -> None:
        """Text is whole only where an element starts or ends: parsers and CDATA cut it up."""
        if element.text:
            text = "".join(element.text)
            element.text = []
            is_space = not text.strip(_SPACE)
            element.has_words |= not is_space
            element.children.append((b"_" if is_space else b"t", text.encode("utf-8", "replace")))

    def _instruct(self, target: str, data: str) -> None:
        if self._open:
            self._close_text(self._open[-1])
        self._add(b"i", f"{target} {data}".encode("utf-8", "replace"))

    def _skip(self, name: str, is_parameter: bool) -> None:
        if self._open:
            self._text(f"&{name};")

    def _add(self, mark: bytes, part: bytes) -> None:
        if self._open:
            self._open[-1].children.append((mark, part))
        else:
            self.top.append(mark + part)


_XML_SPACE = "http://www.w3.org/XML/1998/namespace space"


_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
_ENCODING = re.compile(rb"\s*<\?xml[^>]*?\sencoding\s*=\s*[\"']([^\"']{1,40})[\"']")
_AMPERSAND = re.compile(
    r"<!\[CDATA\[.*?\]\]>|&(?:(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)?", re.DOTALL
)
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})


def repair_xml(body: bytes, charset: str | None) -> bytes:
    """The same document in UTF-8, without what no XML parser takes."""
    declared = _ENCODING.match(body[:1024])
    label = charset or (declared[1].decode("latin-1") if declared else None)
    text, _ = decode(body, label, default="utf-8")
    text = _DECLARATION.sub("", text, count=1).lstrip()
    return _AMPERSAND.sub(_meant, _FORBIDDEN.sub("\ufffd", text)).encode("utf-8", "replace")


def _meant(match: re.Match[str]) -> str:
    found, name = match[0], match[1]
    if found.startswith("<") or name in _XML_ENTITIES:
        return found
    if name is None:
        return "&amp;"
    if name.startswith("#"):
        return found if _is_allowed(name[1:]) else "\ufffd"
    character = html5.get(name + ";")
    return "&amp;" + found[1:] if character is None else "".join(f"&#{ord(each)};" for each in character)


def _is_allowed(number: str) -> bool:
    code = int(number[1:], 16) if number[0] in "xX" else int(number)
    return code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF
