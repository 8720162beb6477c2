"""The digest of JSON-LD: of its graph, or of its JSON if the graph cannot be computed.

Contexts are never fetched here; the caller passes those that it has. A document is compared as JSON if a context is
missing, or if it contains no triples (a context, for example: all contexts would be the same empty graph).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec.structs import replace

from webstrata.observe.data import json as plain_json
from webstrata.observe.data.digest import DataDigest
from webstrata.observe.data.rdf import graph
from webstrata.observe.data.rdf.jsonld_document import MissingContextError
from webstrata.observe.data.rdf.quads import renumber_blanks


def jsonld_digest(
    body: bytes, charset: str | None, url: str, contexts: Mapping[str, bytes] | None = None
) -> DataDigest:
    """The digest of one JSON-LD document. `contexts`: the bodies of contexts by their URLs. Never raises."""
    as_json = plain_json.json_digest(body, charset, url)
    if as_json.digest is None:
        return as_json
    as_graph = graph.rdf_digest(body, charset, url, syntax="jsonld", contexts=contexts)
    if as_graph.digest is not None:
        return as_graph
    return replace(as_json, note=f"compared as JSON: {as_graph.note}"[:200])


class ExpandedJsonLd(NamedTuple):
    """The result of expanding a document with the contexts that the caller has."""

    missing: str | None = None
    """The URL of the first context that the document needs and the caller lacks; None if no context would help."""
    quads: bytes = b""
    """The dataset as N-Quads, the same for the same document; empty if a context is missing or the document is not
    valid JSON-LD."""
    problem: str = ""
    """Why there are no quads."""


def expanded_jsonld(body: bytes, url: str, contexts: Mapping[str, bytes]) -> ExpandedJsonLd:
    """Expand a document. Never raises."""
    try:
        lines = jsonld_quads(body, url, contexts)
    except ValueError as error:
        missing = error.__cause__.address if isinstance(error.__cause__, MissingContextError) else None
        return ExpandedJsonLd(missing=missing, problem=str(error))
    return ExpandedJsonLd(quads=b"".join([line + b"\n" for line in lines]))


def jsonld_quads(body: bytes, url: str, contexts: Mapping[str, bytes]) -> list[bytes]:
    """The dataset of a document as N-Quads lines, the same for the same document. Raises ValueError."""
    if plain_json.json_digest(body, None, url).digest is None:
        raise ValueError("not JSON that can be parsed")
    return renumber_blanks(graph.quads_of(body, None, url, syntax="jsonld", contexts=contexts), b"b")[0]
