"""Linked data of an HTML page: its links to RDF documents, and the JSON-LD and RDFa embedded in it."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from selectolax.lexbor import LexborHTMLParser

from webstrata.observe.data.rdf.rdfa import RdfaTooLargeError, rdfa_lines
from webstrata.observe.html import charset as encoding
from webstrata.observe.html.tree import parse
from webstrata.observe.media import HTML, header_charset, media_type
from webstrata.urls import join

_RELATIONS = {"alternate", "describedby", "meta"}
_MAX_ELEMENTS = 100
"""`link` elements, and JSON-LD scripts, parsed per page."""
_MAX_BYTES = 20_000_000


class EmbeddedData(NamedTuple):
    alternates: tuple[tuple[str, str], ...] = ()
    """(URL, media type) of the documents that the page declares as alternate forms or descriptions of itself."""
    embedded: bytes | None = None
    """All JSON-LD of the page as one JSON-LD document."""
    rdfa: bytes = b""
    """The triples of the page's RDFa attributes, as N-Triples."""


def embedded_data(body: bytes, content_type: str | None, url: str) -> EmbeddedData:
    """Parse a page (content coding removed). Never raises; empty for other media types and for too costly pages."""
    kind = media_type(body, content_type)
    if kind not in HTML or len(body) > _MAX_BYTES:
        return EmbeddedData()
    html, _ = encoding.decode(body, header_charset(content_type), html=True)
    tree = parse(html)
    if tree is None:
        return EmbeddedData()
    base = join(url, next((node.attributes.get("href") or "" for node in tree.css("base[href]")), "")) or url
    alternates: list[tuple[str, str]] = []
    for node in tree.css("link[rel][type][href]")[:_MAX_ELEMENTS]:
        relations = set((node.attributes.get("rel") or "").lower().split())
        target = join(base, node.attributes.get("href") or "")
        if relations & _RELATIONS and target is not None:
            alternates.append((target, (node.attributes.get("type") or "").partition(";")[0].strip().lower()))
    scripts = [node.text() for node in tree.css("script[type]") if _is_json_ld(node.attributes.get("type"))]
    return EmbeddedData(alternates=tuple(alternates), embedded=_joined(scripts[:_MAX_ELEMENTS]), rdfa=_rdfa(tree, url))


def _rdfa(tree: LexborHTMLParser, url: str) -> bytes:
    """Empty if there are too many triples: a part of them would be a different graph."""
    try:
        return b"".join([line + b"\n" for line in rdfa_lines(tree, url)])
    except RdfaTooLargeError:
        return b""


def _is_json_ld(kind: str | None) -> bool:
    return (kind or "").partition(";")[0].strip().lower() == "application/ld+json"


def _joined(scripts: list[str]) -> bytes | None:
    """The documents of several scripts as one list. Scripts that are not JSON are skipped, as search engines do."""
    documents: list[Any] = []
    for script in scripts:
        try:
            document = json.loads(script)
        except (ValueError, RecursionError):
            continue
        documents += document if isinstance(document, list) else [document]
    if not documents:
        return None
    return json.dumps(documents[0] if len(documents) == 1 else documents, ensure_ascii=False, indent=1).encode(
        "utf-8", "replace"
    )
