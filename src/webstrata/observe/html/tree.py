"""HTML text -> tree, once per page, shared by all that is read from it; no tree where it could cost too much.

Building a tree as the standard says is not linear. Deep nesting and many attributes in one tag are quadratic, and
20 KB of unclosed formatting elements (`<p><b id=1><p><b id=2>…`) make a million nodes. So the tree is built only where
the worst case, counted without trusting anything the page closes, stays below about a second and half a gigabyte.
Other pages are read without a tree (`scan.py`).
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser

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
