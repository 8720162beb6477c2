"""Ill-formed XML -> XML that says what was plainly meant: stray ampersands, HTML's entities, control characters."""

from __future__ import annotations

import re
from html.entities import html5

from webstrata.observe.html.charset import decode

_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
_ENCODING = re.compile(rb"\s*<\?xml[^>]*?\sencoding\s*=\s*[\"']([^\"']{1,40})[\"']")
_AMPERSAND = re.compile(
    r"<!\[CDATA\[.*?\]\]>|&(?:(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)?", re.DOTALL
)
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})


def repaired(body: bytes, charset: str | None) -> bytes:
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
