"""JSON-LD -> digest of its graph; of its JSON where that is all that can be known.

Contexts elsewhere are never fetched here: the caller may hand in those that it has. A document whose contexts are not
at hand, or that holds no triples (a context, say: all of them would be the same empty graph), is compared as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin

from msgspec.structs import replace

from webstrata.observe.data import json as plain
from webstrata.observe.data.digest import DataDigest
from webstrata.observe.data.rdf import graph
from webstrata.observe.data.rdf.quads import numbered

_MOST_INLINED = 100
"""Contexts put in the place of their addresses; contexts that name one another would never end."""


class _MissingError(ValueError):
    """With the reason, and which context it is; none: there are too many."""

    def __init__(self, why: str, address: str | None = None) -> None:
        super().__init__(why)
        self.address = address


def jsonld_digest(
    body: bytes, charset: str | None, url: str, contexts: Mapping[str, bytes] | None = None
) -> DataDigest:
    """One JSON-LD document; `contexts` holds the bodies of contexts by their URLs. Never raises."""
    as_json = plain.json_digest(body, charset, url)
    if as_json.digest is None:
        return as_json
    try:
        document = json.loads(plain.json_text(body, charset))
        inlined = _Contexts(contexts or {}).inline(document, url)
        found = graph.rdf_digest(json.dumps(inlined).encode(), None, url, syntax="jsonld")
        problem = found.note
    except (_MissingError, ValueError, RecursionError) as error:
        problem = str(error)
    else:
        if found.digest is not None:
            return found
    return replace(as_json, note=f"compared as JSON: {problem}"[:200])


def missing_context(body: bytes, url: str, contexts: Mapping[str, bytes]) -> str | None:
    """The first context that a document needs and that is not at hand; None where nothing more would help."""
    try:
        _Contexts(contexts).inline(json.loads(plain.json_text(body, None)), url)
    except _MissingError as error:
        return error.address
    except (ValueError, RecursionError):
        return None
    return None


def jsonld_quads(body: bytes, url: str, contexts: Mapping[str, bytes]) -> list[bytes]:
    """The dataset of a document as lines of N-Quads; the same document gives the same lines. Raises ValueError."""
    if plain.json_digest(body, None, url).digest is None:
        raise ValueError("not JSON that can be read")
    try:
        inlined = _Contexts(contexts).inline(json.loads(plain.json_text(body, None)), url)
    except RecursionError:
        raise ValueError("contexts that never end") from None
    return numbered(graph.quads_of(json.dumps(inlined).encode(), None, url, syntax="jsonld"))


class _Contexts:
    """Puts contexts in the place of their addresses."""

    def __init__(self, known: Mapping[str, bytes]) -> None:
        self._known = known
        self._left = _MOST_INLINED

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
            made = [self._context(each, base) for each in context]
            return [one for each in made for one in (each if isinstance(each, list) else [each])]
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
            raise _MissingError(f"its context {url} is not at hand", url)
        self._left -= 1
        if self._left < 0:
            raise _MissingError(f"more than {_MOST_INLINED} contexts")
        document = json.loads(body)
        context = self._context(document.get("@context", {}) if isinstance(document, dict) else {}, url)
        if isinstance(context, dict):
            context.pop("@base", None)  # a context's own base does not hold for documents that name it
        return context
