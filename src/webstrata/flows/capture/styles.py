"""Files that style sheets refer to by `url(…)` and `@import`, in separate sheets and inside pages.

The sheets are split into tokens (comments, strings, URLs) and not parsed by a grammar. Every URL that a browser might
fetch is found, and sometimes one that it would not (a font for another language, a rule for printing).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from webstrata import urls
from webstrata.coding import EncodedBody, decode

MAX_FILES = 500
"""Files per sheet or page."""
_MAX_BYTES = 4_000_000
_MAX_RATIO = 200.0
_STRING = r'"((?:[^"\\\n]|\\.){0,4000})"' + "|" + r"'((?:[^'\\\n]|\\.){0,4000})'"
_TOKENS = re.compile(
    r"/\*(?:.*?\*/|.*)"
    rf"|url\(\s{{0,99}}(?:{_STRING}|((?>[^\"'()\\\s]|\\[0-9a-f]{{1,6}}\s?|\\.){{0,4000}}))\s{{0,99}}\)"
    rf"|@import\s{{1,99}}(?:{_STRING})"
    rf"|(?:{_STRING.replace('((?:', '(?:(?:')})",
    re.DOTALL | re.IGNORECASE,
)
_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|(.))", re.DOTALL | re.IGNORECASE)
_BLOCK = re.compile(r"<style\b[^>]{0,999}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""\sstyle\s?=\s?(?:"([^"<>]{1,9999})"|'([^'<>]{1,9999})')""", re.IGNORECASE)


def has_styles(content_type: str | None) -> bool:
    """Whether contents of this type are style sheets, or pages that may contain styles."""
    return _media_type(content_type) in ("text/css", "text/html", "application/xhtml+xml")


def _media_type(content_type: str | None) -> str:
    return (content_type or "").partition(";")[0].strip().lower()


def style_files(response: EncodedBody) -> tuple[str, ...]:
    """The http and https URLs to which a style sheet, or the styles of a page, refer; each once."""
    if not has_styles(response.content_type):
        return ()
    media_type = _media_type(response.content_type)
    coding = response.content_encoding
    body = decode(response.body, coding, max_bytes=_MAX_BYTES, max_ratio=_MAX_RATIO).body[:_MAX_BYTES]
    text = body.decode("utf-8", "replace")
    sheets = [text] if media_type == "text/css" else list(_sheets_in(text))
    files: dict[str, None] = {}
    for sheet in sheets:
        for reference in _references(sheet):
            target = urls.join(response.url, reference) if reference and not reference.startswith("#") else None
            if target is not None:
                files[target] = None
            if len(files) >= MAX_FILES:
                return tuple(files)
    return tuple(files)


def _references(sheet: str) -> Iterator[str]:
    """The references of a sheet, with escapes replaced."""
    for token in _TOKENS.finditer(sheet):
        written = next((group for group in token.groups() if group is not None), "")
        yield _ESCAPE.sub(_unescaped, written).strip()


def _unescaped(escape: re.Match[str]) -> str:
    code = int(escape[1], 16) if escape[1] else -1
    if code >= 0:
        return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    return "" if escape[2] == "\n" else escape[2]


def _sheets_in(page: str) -> Iterator[str]:
    """The `style` elements and `style` attributes of a page."""
    start = 0
    while (block := _BLOCK.search(page, start)) is not None:
        end = page.find("</style", block.end())
        start = len(page) if end < 0 else end
        yield page[block.end() : start]
    for attribute in _ATTRIBUTE.finditer(page):
        yield unescape(attribute[1] or attribute[2])
