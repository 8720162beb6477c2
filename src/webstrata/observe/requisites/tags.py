"""The start tags of a page, with their attributes and, for scripts and style sheets, their content.

No tree is built: a page of any size and nesting takes linear time. Comments are skipped; the contents of `noscript` and
`template` are read like the rest of the page, because a script, or a reader without scripts, may show them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

_SPACE = r"[\t\n\f\r ]"
_VALUE = rf"{_SPACE}*+={_SPACE}*+(?:\"([^\"]*+)\"?|'([^']*+)'?|([^\t\n\f\r >]*+))"
_ATTRIBUTE = rf"[\t\n\f\r /]*+(=?[^\t\n\f\r />=]++|=)(?:{_VALUE})?+"
_TAG = re.compile(
    r"<!--(?:-?>|.*?--!?>|.*)"
    rf"|<([A-Za-z][^\t\n\f\r />]*+)((?:{_ATTRIBUTE})*+)[\t\n\f\r /]*+>?",
    re.DOTALL,
)
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_WITH_CONTENT = frozenset({"script", "style"})
_RAW_TEXT = _WITH_CONTENT | {"iframe", "noembed", "noframes", "textarea", "title", "xmp"}
"""Elements whose content has no tags."""
_END_TAGS = {name: re.compile(rf"</{name}[\t\n\f\r />]", re.IGNORECASE) for name in _RAW_TEXT}


class StartTag(NamedTuple):
    """A start tag."""

    name: str
    """In lower case."""
    attributes: dict[str, str]
    """By names in lower case; of equal names the first counts."""
    content: str
    """Of `script` and `style` elements; empty for others."""


def start_tags(html: str) -> Iterator[StartTag]:
    """The start tags of a page in the order of appearance."""
    position = 0
    while (tag := _TAG.search(html, position)) is not None:
        position = tag.end()
        if tag[1] is None:  # a comment
            continue
        name = tag[1].lower()
        content = ""
        if name in _RAW_TEXT:
            end = _END_TAGS[name].search(html, position)
            start, position = position, len(html) if end is None else end.start()
            content = html[start:position] if name in _WITH_CONTENT else ""
        yield StartTag(name, _attributes(tag[2]), content)


def _attributes(written: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for attribute in _ATTRIBUTES.finditer(written):
        value = next((group for group in attribute.groups()[1:] if group is not None), "")
        found.setdefault(attribute[1].lower(), unescape(value) if "&" in value else value)
    return found
