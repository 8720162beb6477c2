"""Files that style sheets name: `url(…)` and `@import`, in sheets of their own and inside pages.

Read by its tokens (comments, strings, addresses), not as a grammar: every address that a browser might fetch is found,
and now and then one that it would not (a font for another language, a rule for printing).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from webstrata import urls
from webstrata.coding import decode
from webstrata.records import Exchange

MOST_FILES = 500
"""Of one sheet or page."""
_LARGEST = 4_000_000
_LARGEST_RATIO = 200.0
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


def files_of(answer: Exchange) -> tuple[str, ...]:
    """Addresses that a style sheet, or the styles of a page, name; each once, of the web only."""
    kind = (answer.header("content-type") or "").partition(";")[0].strip().lower()
    if kind not in ("text/css", "text/html", "application/xhtml+xml"):
        return ()
    coding = answer.header("content-encoding")
    body = decode(answer.body, coding, max_bytes=_LARGEST, max_ratio=_LARGEST_RATIO).body[:_LARGEST]
    text = body.decode("utf-8", "replace")
    sheets = [text] if kind == "text/css" else list(_styles(text))
    found: dict[str, None] = {}
    for sheet in sheets:
        for name in _named(sheet):
            target = urls.join(answer.url, name) if name and not name.startswith("#") else None
            if target is not None:
                found[target] = None
            if len(found) >= MOST_FILES:
                return tuple(found)
    return tuple(found)


def _named(sheet: str) -> Iterator[str]:
    """Addresses as they are meant: escapes undone."""
    for token in _TOKENS.finditer(sheet):
        written = next((group for group in token.groups() if group is not None), "")
        yield _ESCAPE.sub(_unescaped, written).strip()


def _unescaped(escape: re.Match[str]) -> str:
    code = int(escape[1], 16) if escape[1] else -1
    if code >= 0:
        return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    return "" if escape[2] == "\n" else escape[2]


def _styles(page: str) -> Iterator[str]:
    """The sheets inside a page, and its `style` attributes."""
    place = 0
    while (block := _BLOCK.search(page, place)) is not None:
        end = page.find("</style", block.end())
        place = len(page) if end < 0 else end
        yield page[block.end() : place]
    for attribute in _ATTRIBUTE.finditer(page):
        yield unescape(attribute[1] or attribute[2])
