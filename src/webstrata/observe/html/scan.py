"""HTML text -> the same facts without a tree, in one pass: for pages whose tree could cost too much.

Comes close to the tree's reading for honest giant pages. Every expression here is linear: none can look further than
the next `<`, or else runs to the end of the page once.
"""

from __future__ import annotations

import re
from html import unescape

from webstrata.observe.html.head import PageMetadata
from webstrata.observe.html.links import LinkResolver
from webstrata.observe.html.outline import clean
from webstrata.observe.kernel.reserialise import INVISIBLE
from webstrata.observe.kernel.results import MAX_LINKS

_SILENT = re.compile(
    r"<(?=[!sntiSNTI])"  # most tags are none of these, and seen to be so at once
    rf"(?:!--.*?(?:-->|\Z)|({'|'.join(INVISIBLE)})(?=[\s/>]).*?(?:</\1(?=[\s/>])[^<>]*>?|\Z))",
    re.IGNORECASE | re.DOTALL,
)
_SILENT_STARTS = ("<!--", *(f"<{name}" for name in INVISIBLE))
_TITLE = re.compile(r"<title[^<>]*>([^<]*)", re.IGNORECASE)
_LINK = re.compile(r"<(?:a|area)\s[^<>]*?\bhref\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)'|([^\s\"'<>]+))", re.IGNORECASE)


def without_invisible(html: str) -> str:
    """Without comments and elements that are not for readers; the start for the two readings below."""
    return _SILENT.sub(_nothing_or_space, html) if _may_be_silent(html) else html


def _may_be_silent(html: str) -> bool:
    """Whether it pays to look closer. (Other alphabets have letters that count as forms of these.)"""
    if not html.isascii() or any(start in html for start in _SILENT_STARTS):
        return True
    lower = html.lower()
    return any(start in lower for start in _SILENT_STARTS)


def scan_metadata(heard: str, url: str) -> PageMetadata:
    """Title and links."""
    hrefs: dict[str, None] = {}
    for match in _LINK.finditer(heard):
        href = match[match.lastindex or 0]  # of the three ways to write it, one has matched
        hrefs[unescape(href) if "&" in href else href] = None
        if len(hrefs) >= MAX_LINKS:
            break
    title = _TITLE.search(heard)
    words = clean(unescape(title[1])) if title else []
    written = "".join([href.replace("\0", "\ufffd") + "\0" for href in hrefs]).encode("utf-8", "replace")
    return PageMetadata(title=tuple(words), links=LinkResolver(url).links(written, url))


def _nothing_or_space(silent: re.Match[str]) -> str:
    return " " if silent[1] else ""
