"""The useful text of a content for people: the very words that its digests are taken of, in lines.

Of HTML, the title and then the lines of the body (`outline.py` has the rules). Plain text counts as it stands, in its
own lines, white space collapsed in each.
"""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

from webstrata.observe.html.head import title_text
from webstrata.observe.html.outline import composed, outline
from webstrata.observe.rules.reserialise import SILENT


def silence(tree: LexborHTMLParser) -> None:
    """Take out of the tree what is not for readers. What else is wanted from there must be read before."""
    tree.strip_tags(list(SILENT))


def lined_text(tree: LexborHTMLParser) -> str:
    """The words of a tree."""
    return joined_lines([b" ".join(title_text(tree)), outline(tree.body).lined()])


def joined_lines(lines: list[bytes]) -> str:
    """Lines as a text for people, without the empty ones."""
    return b"\n".join(filter(None, lines)).decode("utf-8")


def plain_lines(text: str) -> str:
    """Plain text in its own lines, white space collapsed in each, empty lines left out."""
    return joined_lines([b" ".join(line.split()) for line in composed(text).split(b"\n")])
