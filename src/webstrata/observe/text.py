"""The useful text of a page: what it says, without how it looks.

For HTML, by these rules:

1. The tree is the one a browser with scripting on builds (WHATWG parsing), so the content of `noscript` is no markup.
2. `script`, `style`, `noscript`, `template` and comments say nothing; attributes say nothing.
3. All other text counts in document order, the title (of the head) first, whether or not a style sheet hides it.
4. Between two text nodes stands a space. White space (ASCII's, and U+00A0) is collapsed to one space, and cut at the
   ends. The result, in UTF-8, is what the text digest is taken of (`flat_text`).
5. For people, the same words in lines (`lined_text`): a line ends where an element of `BLOCKS` starts or ends.

Plain text counts as it stands, in lines, white space collapsed in each.
"""

from __future__ import annotations

from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

SILENT = ["script", "style", "noscript", "template"]
"""Elements whose content is not for readers."""

BLOCKS = frozenset(
    """address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption
    figure footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li main menu nav ol optgroup
    option p pre search section select summary table tbody td textarea tfoot th thead title tr ul""".split()  # noqa: SIM905
)
"""Elements that end the line before them and their own."""


def silence(tree: LexborHTMLParser) -> None:
    """Take out of the tree what is not for readers. What else is wanted from there must be read before."""
    tree.strip_tags(SILENT)


def flat_text(tree: LexborHTMLParser) -> bytes:
    """The words of a silenced tree, one space apart, in UTF-8."""
    root = tree.root
    return b"" if root is None else b" ".join(words(root.text(separator=" ")))


def words(text: str) -> list[bytes]:
    """What white space leaves, in UTF-8 (splitting bytes is faster, and they are wanted as such)."""
    return text.replace("\xa0", " ").encode("utf-8", "replace").split()


def lined_text(tree: LexborHTMLParser) -> str:
    """The same words as `flat_text`, in lines."""
    lines: list[bytes] = []
    line: list[bytes] = []
    for text in _texts_and_breaks(tree.root):
        if text is not None:
            line += words(text)
        elif line:
            lines.append(b" ".join(line))
            line = []
    if line:
        lines.append(b" ".join(line))
    return b"\n".join(lines).decode("utf-8")


def plain_lines(text: str) -> str:
    """Plain text in its own lines, white space collapsed in each, empty lines left out."""
    lines = (b" ".join(words(line)) for line in text.split("\n"))
    return b"\n".join(line for line in lines if line).decode("utf-8")


def _texts_and_breaks(root: LexborNode | None) -> Iterator[str | None]:
    """Text nodes in document order, and None where a block starts or ends. No recursion: trees may be deep."""
    node = root
    while node is not None:
        if node.is_text_node:
            yield node.text_content or ""
        elif node.tag in BLOCKS:
            yield None
        step = node.first_child
        while step is None and node is not None and node.mem_id != root.mem_id:  # type: ignore[union-attr]
            if node.tag in BLOCKS:
                yield None
            step = node.next
            if step is None:
                node = node.parent
        node = step
