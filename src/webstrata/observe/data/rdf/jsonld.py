"""The digest of JSON-LD: of its graph, or of its JSON if the graph cannot be computed.

Contexts are never fetched here; the caller passes those that it has. A document is compared as JSON if a context is
missing, or if it contains no triples (a context, for example: all contexts would be the same empty graph).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin

from msgspec.structs import replace

from webstrata.observe.data import json as plain_json
from webstrata.observe.data.digest import DataDigest
from webstrata.observe.data.rdf import graph
from webstrata.observe.data.rdf.quads import renumber_blanks

_MAX_INLINED = 100
"""Contexts that replace their addresses; without a limit, contexts that refer to each other would never end."""


class _MissingContextError(ValueError):
    """A context is missing (`address`), or there are too many contexts (`address` is None)."""

    def __init__(self, reason: str, address: str | None = None) -> None:
        super().__init__(reason)
        self.address = address


def jsonld_digest(
    body: bytes, charset: str | None, url: str, contexts: Mapping[str, bytes] | None = None
) -> DataDigest:
    """The digest of one JSON-LD document. `contexts`: the bodies of contexts by their URLs. Never raises."""
    as_json = plain_json.json_digest(body, charset, url)
    if as_json.digest is None:
        return as_json
    try:
        document = json.loads(plain_json.json_text(body, charset))
        inlined = _Contexts(contexts or {}).inline(document, url)
        as_graph = graph.rdf_digest(json.dumps(inlined).encode(), None, url, syntax="jsonld")
        problem = as_graph.note
    except (_MissingContextError, ValueError, RecursionError) as error:
        problem = str(error)
    else:
        if as_graph.digest is not None:
            return as_graph
    return replace(as_json, note=f"compared as JSON: {problem}"[:200])


def missing_context(body: bytes, url: str, contexts: Mapping[str, bytes]) -> str | None:
    """The URL of the first context that a document needs and `contexts` lacks; None if no context would help."""
    try:
        _Contexts(contexts).inline(json.loads(plain_json.json_text(body, None)), url)
    except _MissingContextError as error:
        return error.address
    except (ValueError, RecursionError):
        return None
    return None


def jsonld_quads(body: bytes, url: str, contexts: Mapping[str, bytes]) -> list[bytes]:
    """The dataset of a document as N-Quads lines, the same for the same document. Raises ValueError."""
    if plain_json.json_digest(body, None, url).digest is None:
        raise ValueError("not JSON that can be parsed")
    try:
        inlined = _Contexts(contexts).inline(json.loads(plain_json.json_text(body, None)), url)
    except RecursionError:
        raise ValueError("contexts that are nested too deeply") from None
    return renumber_blanks(graph.quads_of(json.dumps(inlined).encode(), None, url, syntax="jsonld"), b"b")[0]


class _Contexts:
    """Replaces the addresses of contexts by the contexts."""

    def __init__(self, known: Mapping[str, bytes]) -> None:
        self._known = known
        self._left = _MAX_INLINED

    def inline(self, value: Any, base: str) -> Any:
        if isinstance(value, list):
            return [self.inline(each, base) for each in value]
        if isinstance(value, dict):
            return {
                name: self._context(each, base) if name == "@context" else self.inline(each, base)
                for name, each in value.items()
            }
        return value

    def _context(self, context: Any, base: str) -> Any:
        if isinstance(context, list):
            contexts = [self._context(each, base) for each in context]
            return [item for each in contexts for item in (each if isinstance(each, list) else [each])]
        if isinstance(context, str):
            return self._load(context, base)
        if isinstance(context, dict):
            own = self.inline(context, base)
            imported = own.pop("@import", None)
            if isinstance(imported, str):
                loaded = self._load(imported, base)
                return {**loaded, **own} if isinstance(loaded, dict) else own
            return own
        return context

    def _load(self, address: str, base: str) -> Any:
        url = urljoin(base, address)
        body = self._known.get(url)
        if body is None:
            raise _MissingContextError(f"its context {url} is missing", url)
        self._left -= 1
        if self._left < 0:
            raise _MissingContextError(f"more than {_MAX_INLINED} contexts")
        document = json.loads(body)
        context = self._context(document.get("@context", {}) if isinstance(document, dict) else {}, url)
        if isinstance(context, dict):
            context.pop("@base", None)  # the base of a remote context does not apply to the document
        return context
