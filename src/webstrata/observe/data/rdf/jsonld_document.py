"""JSON-LD documents: from bytes to their expanded form and to N-Quads, with the contexts that the caller has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from webstrata.observe.data import json as plain_json
from webstrata.observe.data.rdf.jsonld_context import ContextProcessor
from webstrata.observe.data.rdf.jsonld_expand import Expansion
from webstrata.observe.data.rdf.jsonld_quads import QuadWriter
from webstrata.observe.data.rdf.jsonld_terms import JsonLdError

_MAX_CONTEXTS = 100
"""Remote contexts in one document."""


class MissingContextError(ValueError):
    """A context is missing (`address`), or there are too many contexts (`address` is None)."""

    def __init__(self, reason: str, address: str | None = None) -> None:
        super().__init__(reason)
        self.address = address


def expanded(body: bytes, charset: str | None, url: str, contexts: Mapping[str, bytes]) -> list[Any]:
    """The expanded form of a document. Raises ValueError."""
    base = url.partition("#")[0]
    try:
        document = json.loads(plain_json.json_text(body, charset))
        return Expansion(ContextProcessor(_RemoteContexts(contexts).load), base).document(document)
    except RecursionError:
        raise JsonLdError("nested too deeply") from None


def nquads(body: bytes, charset: str | None, url: str, contexts: Mapping[str, bytes], max_quads: int) -> bytes:
    """The dataset of a document as N-Quads. Raises ValueError."""
    nodes = expanded(body, charset, url, contexts)
    try:
        lines = QuadWriter(max_quads).lines(nodes)
    except RecursionError:
        raise JsonLdError("nested too deeply") from None
    return "".join([f"{line}\n" for line in lines]).encode("utf-8")


class _RemoteContexts:
    """The contexts that the caller has."""

    def __init__(self, bodies: Mapping[str, bytes]) -> None:
        self._bodies = bodies
        self._documents: dict[str, Any] = {}

    def load(self, url: str) -> Any:
        """The document at a URL."""
        if url in self._documents:
            return self._documents[url]
        body = self._bodies.get(url)
        if body is None:
            raise MissingContextError(f"its context {url} is missing", url)
        if len(self._documents) >= _MAX_CONTEXTS:
            raise MissingContextError(f"more than {_MAX_CONTEXTS} contexts")
        try:
            self._documents[url] = json.loads(body)
        except (ValueError, RecursionError):
            raise JsonLdError(f"its context {url} is not JSON") from None
        return self._documents[url]
