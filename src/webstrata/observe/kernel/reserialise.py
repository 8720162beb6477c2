"""Writes a tree as markup that can be parsed in one way only, for trees whose usual serialisation is ambiguous.

In the usual serialisation the text of scripts and a few other elements is not escaped, so a script that contains
`</script>`, a style inside a drawing, or `plaintext` could be taken for markup. Here every element has an end tag and
every text is escaped; the content of invisible elements and all attributes that the fingerprint does not use are left
out.
"""

from __future__ import annotations

from html import escape
from typing import Final

from selectolax.lexbor import LexborNode

from webstrata.observe.kernel.box_words import NAMING

INVISIBLE: Final = ("script", "style", "noscript", "template", "iframe", "noembed", "noframes")
"""Elements whose content is not shown to readers."""

_WITHOUT_CONTENT = frozenset({*INVISIBLE, "area"})
_USED = ("href", "src", *NAMING)
_NODE_END = "<!---->"
"""Separates a text from a text that follows it."""


def reserialise(root: LexborNode) -> bytes:
    """An element with its content, in UTF-8. No recursion: trees may be deep."""
    pieces: list[str] = []
    open_nodes: list[tuple[LexborNode, str]] = []
    node: LexborNode | None = root
    while node is not None:
        child: LexborNode | None = None
        if node.is_text_node:
            pieces.append(escape(node.text_content or "", quote=False) + _NODE_END)
        elif node.is_element_node and node.tag:
            pieces.append(_start_tag(node, node.tag))
            child = node.first_child if node.tag not in _WITHOUT_CONTENT else None
            if child is None:
                pieces.append(f"</{node.tag}>")
            else:
                open_nodes.append((node, node.tag))
        else:
            pieces.append(_NODE_END)
        after = child or (node.next if open_nodes else None)
        while after is None and open_nodes:
            node, tag = open_nodes.pop()
            pieces.append(f"</{tag}>")
            after = node.next if open_nodes else None
        node = after
    return "".join(pieces).encode("utf-8", "replace")


def _start_tag(node: LexborNode, tag: str) -> str:
    attributes = node.attributes
    written = [f' {name}="{_value(attributes[name])}"' for name in _USED if name in attributes]
    return f"<{tag}{''.join(written)}>"


def _value(value: str | None) -> str:
    return escape(value or "", quote=False).replace('"', "&quot;")
