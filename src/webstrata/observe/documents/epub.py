"""The text of an EPUB: its XHTML documents in reading order, in lines."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

from webstrata.observe.documents.container import ContainerError, ZipContainer
from webstrata.observe.documents.office import elements
from webstrata.observe.html import charset as encoding
from webstrata.observe.html.outline import outline
from webstrata.observe.html.tree import joined_lines, parse, plain_lines, without_invisible
from webstrata.observe.kernel.choice import KERNEL

_CONTAINER = "META-INF/container.xml"
_XHTML = ("application/xhtml+xml", "text/html")
_ENCRYPTION = "META-INF/encryption.xml"


def epub_text(body: bytes) -> str:
    """The text of all documents in the reading order. Raises ContainerError."""
    container = ZipContainer(body)
    return "\n".join(filter(None, (_document_text(container.read(name)) for name in reading_order(container))))


def reading_order(container: ZipContainer) -> list[str]:
    """The names of the documents that the package document lists in its spine. Raises ContainerError."""
    package = next(
        (found.get("full-path", "") for name, found in elements(container.read(_CONTAINER)) if name == "rootfile"), ""
    )
    items: dict[str, str] = {}
    order: list[str] = []
    for name, attributes in elements(container.read(package)):
        if name == "item" and attributes.get("media-type") in _XHTML:
            target = posixpath.join(posixpath.dirname(package), unquote(attributes.get("href", "")))
            items[attributes.get("id", "")] = posixpath.normpath(target)
        elif name == "itemref":
            order.append(attributes.get("idref", ""))
    names = [items[number] for number in order if items.get(number, "") in container]
    if not names:
        raise ContainerError("encrypted" if _ENCRYPTION in container else "the package lists no documents")
    return names


def _document_text(document: bytes) -> str:
    html, _ = encoding.decode(document, None, html=True, default="utf-8")
    tree = parse(html)
    if tree is None:
        return plain_lines(KERNEL.scan_text(without_invisible(html)))
    return joined_lines([outline(tree.body).lined()])
