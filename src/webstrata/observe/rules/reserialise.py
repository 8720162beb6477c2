"""Tree -> markup in the one form that cannot be misread: for the trees whose serialisation can.

Serialised, the text of scripts and a few other elements stands as it is, so a script that holds `</script>`, a style
inside a drawing, or `plaintext` could be taken for markup. Here every element has an end tag, every text is escaped,
what is not for readers is left out, and of attributes only those are there that lead somewhere.
"""

from __future__ import annotations

from html import escape
from typing import Final

from selectolax.lexbor import LexborNode

SILENT: Final = ("script", "style", "noscript", "template", "iframe", "noembed", "noframes")
"""Elements whose content is not for readers."""

_NEVER_OPENED = frozenset({*SILENT, "area"})
_NODE_END = "<!---->"
"""Tells where one text ends, should another follow."""


def reserialised(root: LexborNode) -> bytes:
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
            child = node.first_child if node.tag not in _NEVER_OPENED else None
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
    told = [f' {name}="{_value(attributes[name])}"' for name in ("href", "src") if name in attributes]
    return f"<{tag}{''.join(told)}>"


def _value(value: str | None) -> str:
    return escape(value or "", quote=False).replace('"', "&quot;")
