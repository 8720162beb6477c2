"""HTML text -> tree, once per page, shared by all that is read from it; no tree where it could cost too much.

Building a tree as the standard says is not linear. Deep nesting and many attributes in one tag are quadratic, and
20 KB of unclosed formatting elements (`<p><b id=1><p><b id=2>…`) make a million nodes. So the tree is built only where
the worst case, counted without trusting anything the page closes, stays below about a second and half a gigabyte.
Other pages are read without a tree (`scan.py`).

The useful text of a content for people: the very words that its digests are taken of, in lines.

Of HTML, the title and then the lines of the body (`outline.py` has the rules). Plain text counts as it stands, in its
own lines, white space collapsed in each.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser

from webstrata.observe.html.head import title_words
from webstrata.observe.html.outline import outline
from webstrata.observe.kernel.reserialise import INVISIBLE
from webstrata.observe.kernel.results import composed

_MOST_TAGS = 20_000
"""`<` in a page: half of them nested is a tenth of a second, all of them nested three quarters of one."""
_FEW_TAGS = 2_000
"""Below, no formatting elements can do harm."""
_MOST_REOPENED = 4_000_000
"""Formatting elements that could be reopened, times the places where they could be."""
_PLAIN_REOPENED = 36
"""Formatting elements without attributes are reopened at most three times a name."""
_SHORT = 131_072
"""Characters below which attributes cannot do harm."""

# Both cases spelled out: ignoring case would cost the fast search for `<`.
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
    """The tree that a browser with scripting on would build; None where building it could cost too much."""
    return LexborHTMLParser(html, scripting=True) if _affordable(html) else None


def _affordable(html: str) -> bool:
    tags = html.count("<")
    if tags > _MOST_TAGS:
        return False
    if tags > _FEW_TAGS:
        reopened = _PLAIN_REOPENED + len(_FORMATTING.findall(html))
        if reopened * tags > _MOST_REOPENED:
            return False
    return len(html) < _SHORT or _MANY_ATTRIBUTES.search(html) is None


def remove_invisible(tree: LexborHTMLParser) -> None:
    """Take out of the tree what is not for readers. What else is wanted from there must be read before."""
    tree.strip_tags(list(INVISIBLE))


def text_lines(tree: LexborHTMLParser) -> str:
    """The words of a tree."""
    return joined_lines([b" ".join(title_words(tree)), outline(tree.body).lined()])


def joined_lines(lines: list[bytes]) -> str:
    """Lines as a text for people, without the empty ones."""
    return b"\n".join(filter(None, lines)).decode("utf-8")


def plain_lines(text: str) -> str:
    """Plain text in its own lines, white space collapsed in each, empty lines left out."""
    return joined_lines([b" ".join(line.split()) for line in composed(text).split(b"\n")])
