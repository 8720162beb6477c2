"""Parses HTML into a tree if the cost is bounded, scans it otherwise, and formats useful text as lines.

Parsing HTML as the standard says does not take linear time. Deep nesting and many attributes in one tag are quadratic,
and 20 KB of unclosed formatting elements (`<p><b id=1><p><b id=2>…`) become a million nodes. Therefore a tree is built
only if the worst case, computed as if no element were closed, stays below about one second and half a gigabyte. Other
pages are scanned in one pass: title, links and text are nearly the same for large pages without tricks. Every regular
expression for this is linear: it stops at the next `<`, or runs to the end of the page only once.

The lines contain the same words from which the digests are computed. For HTML they are the title and the lines of the
body (rules in `outline.py`); plain text keeps its own lines, with white space collapsed in each.
"""

from __future__ import annotations

import re
from html import unescape

from selectolax.lexbor import LexborHTMLParser

from webstrata.observe.html.head import PageMetadata, title_words
from webstrata.observe.html.links import LinkResolver
from webstrata.observe.html.outline import clean, outline
from webstrata.observe.kernel.choice import KERNEL
from webstrata.observe.kernel.reserialise import INVISIBLE
from webstrata.observe.kernel.results import MAX_LINKS, composed

_MAX_TAGS = 20_000
"""Characters `<` in a page. Parsing takes 0.1 s if half of the tags are nested and 0.75 s if all are."""
_FEW_TAGS = 2_000
"""Up to this number of tags, formatting elements are cheap in any case."""
_MAX_REOPENED = 4_000_000
"""Formatting elements that could be reopened, times the tags at which they could be."""
_PLAIN_REOPENED = 36
"""Reopened formatting elements without attributes: at most three for each element name."""
_SHORT = 131_072
"""Characters; in shorter pages attributes are cheap in any case."""

# Both cases are listed because IGNORECASE would disable the fast search for `<`.
_FORMATTING = re.compile(
    "<(?:[bisuBISU]|[tT][tT]|[eE][mM]|[bB][iI][gG]|[cC][oO][dD][eE]|[fF][oO][nN][tT]|[sS][mM][aA][lL][lL]"
    "|[sS][tT][rR][iI][kK][eE]|[sS][tT][rR][oO][nN][gG])[\t\n\f\r /]"
)
_ATTRIBUTE = (
    r"[\t\n\f\r /]*+(?:=?[^\t\n\f\r />=]++|=)"
    r"(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"[^\"]*+\"?|'[^']*+'?|[^\t\n\f\r >]*+))?+"
)
_MANY_ATTRIBUTES = re.compile(rf"<[A-Za-z][^\t\n\f\r />]*+(?:{_ATTRIBUTE}){{2000}}")


def parse(html: str) -> LexborHTMLParser | None:
    """The tree that a browser with scripting enabled builds; None if building it could cost too much."""
    return LexborHTMLParser(html, scripting=True) if _affordable(html) else None


def _affordable(html: str) -> bool:
    tags = html.count("<")
    if tags > _MAX_TAGS:
        return False
    if tags > _FEW_TAGS:
        reopened = _PLAIN_REOPENED + len(_FORMATTING.findall(html))
        if reopened * tags > _MAX_REOPENED:
            return False
    return len(html) < _SHORT or _MANY_ATTRIBUTES.search(html) is None


def remove_invisible(tree: LexborHTMLParser) -> None:
    """Remove the elements whose content is not shown to readers. This changes the tree."""
    tree.strip_tags(list(INVISIBLE))


def text_lines(tree: LexborHTMLParser) -> str:
    """The useful text of a tree: the title and the lines of the body."""
    return joined_lines([b" ".join(title_words(tree)), outline(tree.body).lined()])


def joined_lines(lines: list[bytes]) -> str:
    """The lines that are not empty as one text."""
    return b"\n".join(filter(None, lines)).decode("utf-8")


def plain_lines(text: str) -> str:
    """The lines of plain text that are not empty, with white space collapsed."""
    return joined_lines([b" ".join(line.split()) for line in composed(text).split(b"\n")])


def indented_lines(text: str) -> str:
    """The lines of plain text that are not empty, with the white space at their beginning."""
    lines = (line.rstrip() for line in composed(text).decode().replace("\r", "\n").split("\n"))
    return "\n".join(line for line in lines if line)


_INVISIBLE_MARKUP = re.compile(
    r"<(?=[!sntiSNTI])"  # excludes most tags at once
    rf"(?:!--.*?(?:-->|\Z)|({'|'.join(INVISIBLE)})(?=[\s/>]).*?(?:</\1(?=[\s/>])[^<>]*>?|\Z))",
    re.IGNORECASE | re.DOTALL,
)
_TITLE = re.compile(r"<title[^<>]*>([^<]*)", re.IGNORECASE)
_LINK = re.compile(r"<(?:a|area)\s[^<>]*?\bhref\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)'|([^\s\"'<>]+))", re.IGNORECASE)


def without_invisible(html: str) -> str:
    """The markup without comments and invisible elements: the input for scanning text and metadata."""
    if html.isascii() and not KERNEL.may_hide(html):  # IGNORECASE also matches some letters outside ASCII
        return html
    return _INVISIBLE_MARKUP.sub(lambda match: " " if match[1] else "", html)


def scan_metadata(markup: str, url: str) -> PageMetadata:
    """Title and links of markup without invisible elements."""
    hrefs: dict[str, None] = {}
    for match in _LINK.finditer(markup):
        href = match[match.lastindex or 0]  # one of the three groups has matched
        hrefs[unescape(href) if "&" in href else href] = None
        if len(hrefs) >= MAX_LINKS:
            break
    title = _TITLE.search(markup)
    words = clean(unescape(title[1])) if title else []
    written = "".join([href.replace("\0", "\ufffd") + "\0" for href in hrefs]).encode("utf-8", "replace")
    return PageMetadata(title=tuple(words), links=LinkResolver(url).links(written, url))
