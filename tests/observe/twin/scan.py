"""The text of markup without a tree, once more by regular expressions."""

from __future__ import annotations

import re
from html import unescape

from tests.observe.twin.outline import LINE_ENDS

_TAG = re.compile(r"<(/?+[A-Za-z!?][^\s/<>]*+|/)[^<>]*+>?")
_VOID = frozenset({"area", "embed", "img", "input", "source", "track", "wbr"})
_STARTED, _ENDED = "\1", "\2"


def scan_text(heard: str) -> str:
    """Useful text with its line ends; white space is not collapsed yet (`plain_lines`)."""
    pieces = _TAG.split(heard.replace("\n", " "))
    pieces[1::2] = map(_Marks().__getitem__, pieces[1::2])
    marked = "".join(pieces).replace(_ENDED + _STARTED, " ").replace(_STARTED + _ENDED, " ")
    return unescape(marked.replace(_STARTED, "").replace(_ENDED, ""))


class _Marks(dict[str, str]):
    """A tag's name, behind the slash of an end tag -> what it does to the line (as `outline.py` has it)."""

    def __missing__(self, tag: str) -> str:
        name = tag.removeprefix("/").lower()
        if name in LINE_ENDS:
            mark = "\n"
        elif name in _VOID:
            mark = " "
        elif name[:1].isalpha():
            mark = _ENDED if tag.startswith("/") else _STARTED
        else:
            mark = ""
        if len(self) < _MOST_NAMES:
            self[tag] = mark
        return mark


_MOST_NAMES = 10_000
