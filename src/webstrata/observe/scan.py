"""HTML text -> the same facts without a tree, in one pass: for pages whose tree could cost too much.

Comes close to the tree's reading for honest giant pages. Every expression here is linear: none can look further than
the next `<`, or else runs to the end of the page once.
"""

from __future__ import annotations

import re
from html import unescape

from webstrata.observe.head import Pointers
from webstrata.observe.links import MOST_LINKS, Resolver
from webstrata.observe.outline import LINE_ENDS, SILENT, clean
from webstrata.observe.text import plain_lines

_SILENT = re.compile(
    rf"<!--.*?(?:-->|\Z)|<({'|'.join(SILENT)})(?=[\s/>]).*?(?:</\1(?=[\s/>])[^<>]*>?|\Z)", re.IGNORECASE | re.DOTALL
)
_TAG = re.compile(r"<(/?)([a-z][^\s/<>]*)[^<>]*>?|<[!?/][^<>]*>?", re.IGNORECASE)
_TAGS = re.compile(r"(?:</?[a-z][^<>]*>?|<[!?/][^<>]*>?)+", re.IGNORECASE)
_VOID = frozenset({"area", "embed", "img", "input", "source", "track", "wbr"})
_TITLE = re.compile(r"<title[^<>]*>([^<]*)", re.IGNORECASE)
_LINK = re.compile(r"<(?:a|area)\s[^<>]*?\bhref\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)'|([^\s\"'<>]+))", re.IGNORECASE)


def scan_pointers(html: str, url: str) -> Pointers:
    """Title and links."""
    heard = _SILENT.sub(" ", html)
    hrefs: dict[str, None] = {}
    for match in _LINK.finditer(heard):
        hrefs[unescape(match[1] or match[2] or match[3] or "")] = None
        if len(hrefs) >= MOST_LINKS:
            break
    title = _TITLE.search(heard)
    words = clean(unescape(title[1])) if title else []
    return Pointers(title=tuple(words), links=Resolver(url).all(hrefs))


def scan_text(html: str) -> str:
    """Useful text in lines."""
    marked = _TAGS.sub(_between, _SILENT.sub(_nothing_or_space, html).replace("\n", " "))
    return plain_lines(unescape(marked))


def _nothing_or_space(silent: re.Match[str]) -> str:
    return " " if silent[1] else ""


def _between(tags: re.Match[str]) -> str:
    """What tags without text between them put there: a line's end, a space, or nothing (as `outline.py` has it)."""
    started = ended = False
    for slash, name in _TAG.findall(tags[0]):
        if (lower := name.lower()) in LINE_ENDS:
            return "\n"
        started |= not slash and bool(name)
        ended |= bool(slash) or lower in _VOID
    return " " if started and ended else ""
