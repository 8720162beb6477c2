"""`HandlerParsers`: what access handlers and captures parse, as tasks of the parser processes.

The methods raise ValueError for a content of another form, or that cannot be parsed within the limits, and ParserError
if no parser process works. The lane of a task is the host that sent the content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from webstrata.coding import Decoded, EncodedBody
from webstrata.flows.parsers.parser_pool import ParserPool
from webstrata.flows.parsers.tasks import (
    CanonicalResults,
    CanonicalTask,
    DecodeTask,
    FilesTask,
    GraphTask,
    JsonLdTask,
    LinkedDataTask,
    ResultsTask,
    SitemapTask,
    Task,
    TriplesTask,
)
from webstrata.observe.data.rdf.jsonld import ExpandedJsonLd
from webstrata.observe.data.sitemap import SitemapEntry
from webstrata.observe.data.sparql.responses import GraphLines, quad_lines
from webstrata.observe.data.sparql.results import Results, Row
from webstrata.observe.linked_data import EmbeddedData
from webstrata.urls import host_of

_MAX_RATIO = 500.0


class HandlerParsers:
    """Parses in the processes of a pool. `working`: the clock's context manager for work outside the event loop."""

    def __init__(self, pool: ParserPool, working: Callable[[], AbstractContextManager[None]] = nullcontext) -> None:
        self._pool = pool
        self._working = working

    async def decode(self, body: EncodedBody, max_bytes: int) -> Decoded:
        """A body without its content coding."""
        if body.content_encoding is None:
            return Decoded(body=body.body)
        task = DecodeTask(
            body=body.body, content_encoding=body.content_encoding, max_bytes=max_bytes, max_ratio=_MAX_RATIO
        )
        decoded: Decoded = await self._run(task, body)
        return decoded

    async def embedded_data(self, body: EncodedBody) -> EmbeddedData:
        """The linked data of an HTML page."""
        task = LinkedDataTask(
            body=body.body, content_encoding=body.content_encoding, content_type=body.content_type, url=body.url
        )
        found: EmbeddedData = await self._run(task, body)
        return found

    async def expand(self, body: EncodedBody, contexts: Mapping[str, bytes]) -> ExpandedJsonLd:
        """A JSON-LD document as N-Quads, or the context that is missing for that."""
        task = JsonLdTask(body=body.body, content_encoding=body.content_encoding, url=body.url, contexts=dict(contexts))
        expanded: ExpandedJsonLd = await self._run(task, body)
        return expanded

    async def canonical(self, body: EncodedBody, media_type: str) -> CanonicalResults:
        """The results of a SPARQL query in canonical form."""
        task = CanonicalTask(body=body.body, content_encoding=body.content_encoding, media_type=media_type)
        results: CanonicalResults = await self._run(task, body)
        return results

    async def results(self, body: EncodedBody, media_type: str, max_rows: int) -> Results:
        """The rows of a SPARQL query, at most `max_rows`."""
        task = ResultsTask(
            body=body.body, content_encoding=body.content_encoding, media_type=media_type, max_rows=max_rows
        )
        results: Results = await self._run(task, body)
        return results

    async def triples(self, body: EncodedBody, media_type: str) -> int:
        """The number of triples in an RDF document."""
        task = TriplesTask(body=body.body, content_encoding=body.content_encoding, media_type=media_type, url=body.url)
        number: int = await self._run(task, body)
        return number

    async def graph(self, body: EncodedBody, media_type: str, name: str, prefix: str) -> GraphLines:
        """An RDF document as N-Quads lines of a named graph."""
        task = GraphTask(
            body=body.body,
            content_encoding=body.content_encoding,
            media_type=media_type,
            url=body.url,
            name=name,
            prefix=prefix,
        )
        lines: GraphLines = await self._run(task, body)
        return lines

    async def sitemap(self, body: EncodedBody) -> tuple[SitemapEntry, ...]:
        """The entries of a sitemap."""
        task = SitemapTask(body=body.body, content_encoding=body.content_encoding, url=body.url)
        entries: tuple[SitemapEntry, ...] = await self._run(task, body)
        return entries

    async def files(self, body: EncodedBody) -> tuple[str, ...]:
        """The files to which a style sheet, a script, a manifest or a drawing refers."""
        task = FilesTask(
            body=body.body, content_encoding=body.content_encoding, content_type=body.content_type, url=body.url
        )
        files: tuple[str, ...] = await self._run(task, body)
        return files

    def quads(self, rows: Iterable[Row]) -> set[bytes]:
        """N-Quads lines of rows that were parsed before; the number of rows is limited there."""
        return quad_lines(rows)

    async def _run(self, task: Task, body: EncodedBody) -> Any:
        with self._working():
            return await self._pool.run(task, lane=host_of(body.url))
