"""HTML text -> tree, once per page, shared by all that is read from it."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser


def parse(html: str) -> LexborHTMLParser:
    """The tree that a browser with scripting on would build."""
    return LexborHTMLParser(html, scripting=True)
