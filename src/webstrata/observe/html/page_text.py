"""The title and the text of an HTML page, as lists of pages in packages have them for readers and for search."""

from __future__ import annotations

import html
import re

from webstrata.observe.html.charset import decode
from webstrata.observe.media import header_charset
from webstrata.observe.visible import visible_lines

MAX_TITLE_CHARS = 500
MAX_TEXT_CHARS = 100_000
_SPACES = re.compile(r"\s+")
_ELEMENT = re.compile(rb"<(!--|script|style|title)", re.IGNORECASE)
_ENDS = {b"!--": re.compile(rb"-->")} | {
    name: re.compile(rb"</" + name + rb"(?=[\t\n\f\r />])", re.IGNORECASE) for name in (b"script", b"style", b"title")
}


def page_text(body: bytes, content_type: str) -> tuple[str, str]:
    """(Title, visible text) of a page; both are empty if it has none, and long ones are cut. Takes linear time.

    `body`: without content coding. `content_type`: the header.
    """
    text, _ = decode(body, header_charset(content_type), html=True)
    page = text.encode("utf-8", "replace")
    lines: list[str] = []
    left = MAX_TEXT_CHARS
    for line in visible_lines(page):
        clean = _clean(line)[:left]
        lines.append(clean)
        left -= len(clean) + 1
        if left <= 0:
            break
    return _clean(_title(page))[:MAX_TITLE_CHARS].rstrip(), "\n".join(filter(None, lines))


def _title(page: bytes) -> bytes:
    """The content of the first `title` element outside comments, scripts and style sheets."""
    at = 0
    while start := _ELEMENT.search(page, at):
        name = start[1].lower()
        end = _ENDS[name].search(page, start.end())
        if end is None:
            return b""
        if name == b"title":
            return page[start.end() : end.start()].partition(b">")[2]
        at = end.end()
    return b""


def _clean(raw: bytes) -> str:
    """The text with its character references resolved, on one line, without characters that JSON cannot carry."""
    return _SPACES.sub(" ", html.unescape(raw.decode("utf-8", "replace"))).strip()
