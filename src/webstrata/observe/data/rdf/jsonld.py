"""The digest of JSON-LD: of its graph, or of its JSON if the graph cannot be computed.

Contexts are never fetched here; the caller passes those that it has. A document is compared as JSON if a context is
missing, or if it contains no triples (a context, for example: all contexts would be the same empty graph).
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from webstrata.observe.data import json as plain_json
from webstrata.observe.data.digest import DataDigest
from webstrata.observe.data.rdf import graph
from webstrata.observe.data.rdf.jsonld_document import MissingContextError, expanded
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


def missing_context(body: bytes, url: str, contexts: Mapping[str, bytes]) -> str | None:
    """The URL of the first context that a document needs and `contexts` lacks; None if no context would help."""
    try:
        expanded(body, None, url, contexts)
    except MissingContextError as error:
        return error.address
    except ValueError:
        return None
    return None


def jsonld_quads(body: bytes, url: str, contexts: Mapping[str, bytes]) -> list[bytes]:
    """The dataset of a document as N-Quads lines, the same for the same document. Raises ValueError."""
    if plain_json.json_digest(body, None, url).digest is None:
        raise ValueError("not JSON that can be parsed")
    return renumber_blanks(graph.quads_of(body, None, url, syntax="jsonld", contexts=contexts), b"b")[0]
