"""Linked data on a web page: links to RDF documents about it, and JSON-LD and RDFa inside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from selectolax.lexbor import LexborHTMLParser

from webstrata.observe.data.rdf import jsonld
from webstrata.observe.data.rdf.rdfa import RdfaTooLargeError, rdfa_lines
from webstrata.observe.html import charset as encoding
from webstrata.observe.html.tree import parse
from webstrata.observe.media import HTML, header_charset, media_type
from webstrata.urls import join

_RELATIONS = {"alternate", "describedby", "meta"}
_MOST = 100
_LARGEST = 20_000_000


class EmbeddedData(NamedTuple):
    alternates: tuple[tuple[str, str], ...] = ()
    """(URL, media type) of documents that the page names as its own in another form, or as describing it."""
    embedded: bytes | None = None
    """All JSON-LD of the page as one JSON-LD document."""
    rdfa: bytes = b""
    """The triples of its attributes, as N-Triples."""


class LinkedData:
    """What the `rdf` handler must understand, in one object that it can be handed. Pure."""

    def found(self, body: bytes, content_type: str | None, url: str) -> EmbeddedData:
        return embedded_data(body, content_type, url)

    def missing(self, body: bytes, url: str, contexts: Mapping[str, bytes]) -> str | None:
        """A context that a JSON-LD document needs and that is not at hand."""
        return jsonld.missing_context(body, url, contexts)

    def quads(self, body: bytes, url: str, contexts: Mapping[str, bytes]) -> bytes:
        """A JSON-LD document as N-Quads. Raises ValueError."""
        return b"".join([line + b"\n" for line in jsonld.jsonld_quads(body, url, contexts)])


def embedded_data(body: bytes, content_type: str | None, url: str) -> EmbeddedData:
    """Read a page (content coding removed). Never raises; what is not HTML, or costs too much, has none."""
    kind = media_type(body, content_type)
    if kind not in HTML or len(body) > _LARGEST:
        return EmbeddedData()
    html, _ = encoding.decode(body, header_charset(content_type), html=True)
    tree = parse(html)
    if tree is None:
        return EmbeddedData()
    base = join(url, next((node.attributes.get("href") or "" for node in tree.css("base[href]")), "")) or url
    alternates: list[tuple[str, str]] = []
    for node in tree.css("link[rel][type][href]")[:_MOST]:
        relations = set((node.attributes.get("rel") or "").lower().split())
        target = join(base, node.attributes.get("href") or "")
        if relations & _RELATIONS and target is not None:
            alternates.append((target, (node.attributes.get("type") or "").partition(";")[0].strip().lower()))
    scripts = [node.text() for node in tree.css("script[type]") if _is_json_ld(node.attributes.get("type"))]
    return EmbeddedData(alternates=tuple(alternates), embedded=_joined(scripts[:_MOST]), rdfa=_rdfa(tree, url))


def _rdfa(tree: LexborHTMLParser, url: str) -> bytes:
    """A page that says too much says nothing: half of it would be another graph."""
    try:
        return b"".join([line + b"\n" for line in rdfa_lines(tree, url)])
    except RdfaTooLargeError:
        return b""


def _is_json_ld(kind: str | None) -> bool:
    return (kind or "").partition(";")[0].strip().lower() == "application/ld+json"


def _joined(scripts: list[str]) -> bytes | None:
    """Several scripts become one list; one that is no JSON is left out, as browsers and search engines do."""
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
