"""HTML text -> the same facts without a tree, in one pass: for pages whose tree could cost too much.

Comes close to the tree's reading for honest giant pages. Every expression here is linear: none can look further than
the next `<`, or else runs to the end of the page once.
"""

from __future__ import annotations

import re
from html import unescape

from webstrata.observe.head import Pointers
from webstrata.observe.links import MOST_LINKS, Resolver
from webstrata.observe.text import BLOCKS, SILENT, plain_lines

_SILENT = re.compile(
    rf"<!--.*?(?:-->|\Z)|<({'|'.join(SILENT)})(?=[\s/>]).*?(?:</\1(?=[\s/>])[^<>]*>?|\Z)", re.IGNORECASE | re.DOTALL
)
_TAG = re.compile(r"</?([a-z][^\s/<>]*)[^<>]*>?|<[!?/][^<>]*>?", re.IGNORECASE)
_TITLE = re.compile(r"<title[^<>]*>([^<]*)", re.IGNORECASE)
_LINK = re.compile(r"<(?:a|area)\s[^<>]*?\bhref\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)'|([^\s\"'<>]+))", re.IGNORECASE)
_LONGEST_TITLE = 1000


def scan_pointers(html: str, url: str) -> Pointers:
    """Title and links."""
    heard = _SILENT.sub(" ", html)
    hrefs: dict[str, None] = {}
    for match in _LINK.finditer(heard):
        hrefs[unescape(match[1] or match[2] or match[3] or "")] = None
        if len(hrefs) >= MOST_LINKS:
            break
    title = _TITLE.search(heard)
    words = " ".join(unescape(title[1]).split()) if title else ""
    return Pointers(title=words[:_LONGEST_TITLE] or None, links=Resolver(url).all(hrefs))


def scan_text(html: str) -> str:
    """Useful text in lines."""
    marked = _TAG.sub(_space_or_break, _SILENT.sub(" ", html).replace("\n", " "))
    return plain_lines(unescape(marked))


def _space_or_break(tag: re.Match[str]) -> str:
    return "\n" if (tag[1] or "").lower() in BLOCKS else " "
