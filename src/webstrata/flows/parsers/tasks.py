"""The tasks of the parser processes: a record for each, which names its input, and the function that runs it.

Whatever decodes or parses a body of the web is a task. The records are encoded by msgspec; the body is sent beside the
record, so that a large one is not copied. A function may raise ValueError: the caller gets it with the same message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from webstrata.coding import Decoded, EncodedBody, decode
from webstrata.flows.crawl.parse import ParsedContent, ParseJob, parse_bytes, parse_content
from webstrata.observe.data.rdf.jsonld import ExpandedJsonLd, expanded_jsonld
from webstrata.observe.data.sitemap import MAX_BYTES as MAX_SITEMAP_BYTES
from webstrata.observe.data.sitemap import SitemapEntry, parse_sitemap
from webstrata.observe.data.sparql import responses
from webstrata.observe.data.sparql.canonical import canonical_results
from webstrata.observe.data.sparql.results import Results, parse_results
from webstrata.observe.linked_data import EmbeddedData, embedded_data
from webstrata.observe.page import VERSION
from webstrata.observe.requisites.files import referred_files

MAX_SPARQL_BYTES = 100_000_000
MAX_RDF_BYTES = 20_000_000
_MAX_RATIO = 500.0


class BytesTask(Struct, frozen=True, kw_only=True, tag="bytes"):
    """The digest of a content that cannot be parsed; `problem` is the reason."""

    body: bytes
    content_encoding: str | None
    max_decoded: int
    problem: str


class DecodeTask(Struct, frozen=True, kw_only=True, tag="decode"):
    """A body without its content coding."""

    body: bytes
    content_encoding: str | None
    max_bytes: int
    max_ratio: float


class LinkedDataTask(Struct, frozen=True, kw_only=True, tag="linked-data"):
    """The linked data of an HTML page."""

    body: bytes
    content_encoding: str | None
    content_type: str | None
    url: str


class JsonLdTask(Struct, frozen=True, kw_only=True, tag="json-ld"):
    """JSON-LD as N-Quads, or the context that is missing for that."""

    body: bytes
    content_encoding: str | None
    url: str
    contexts: dict[str, bytes]


class CanonicalTask(Struct, frozen=True, kw_only=True, tag="canonical"):
    """The results of a SPARQL query in canonical form."""

    body: bytes
    content_encoding: str | None
    media_type: str


class ResultsTask(Struct, frozen=True, kw_only=True, tag="results"):
    """The rows of a SPARQL query, at most `max_rows`."""

    body: bytes
    content_encoding: str | None
    media_type: str
    max_rows: int


class TriplesTask(Struct, frozen=True, kw_only=True, tag="triples"):
    """The number of triples in an RDF document."""

    body: bytes
    content_encoding: str | None
    media_type: str
    url: str


class GraphTask(Struct, frozen=True, kw_only=True, tag="graph"):
    """An RDF document as N-Quads lines of a named graph."""

    body: bytes
    content_encoding: str | None
    media_type: str
    url: str
    name: str
    prefix: str


class SitemapTask(Struct, frozen=True, kw_only=True, tag="sitemap"):
    """The entries of a sitemap."""

    body: bytes
    content_encoding: str | None
    url: str


class FilesTask(Struct, frozen=True, kw_only=True, tag="files"):
    """The files to which a style sheet, a script, a manifest or a drawing refers."""

    body: bytes
    content_encoding: str | None
    content_type: str | None
    url: str


Task = (
    ParseJob
    | BytesTask
    | DecodeTask
    | LinkedDataTask
    | JsonLdTask
    | CanonicalTask
    | ResultsTask
    | TriplesTask
    | GraphTask
    | SitemapTask
    | FilesTask
)


class CanonicalResults(Struct, frozen=True, kw_only=True):
    """Results in canonical form."""

    rows: int
    body: bytes


def run_task(task: Task) -> Any:
    """The result of a task, of the type that `RESULTS` names. Raises ValueError for a content of another form."""
    return _FUNCTIONS[type(task)](task)


def kind_of_task(task: Task) -> str:
    """What is to be done with which form of content: a part of the key of contents that cannot be parsed."""
    kind = f"{VERSION} {type(task).__struct_config__.tag} {task.content_encoding or ''}"
    if isinstance(task, ParseJob):
        return f"{kind} {task.handler} {task.content_type or ''}"
    return kind


def _decoded(body: bytes, content_encoding: str | None, max_bytes: int) -> bytes:
    decoded = decode(body, content_encoding, max_bytes=max_bytes, max_ratio=_MAX_RATIO)
    if decoded.problem is not None:
        raise ValueError(f"the response cannot be decoded: {decoded.problem}")
    return decoded.body


def _bytes(task: BytesTask) -> ParsedContent:
    return parse_bytes(task.body, task.content_encoding, max_decoded=task.max_decoded, problem=task.problem)


def _decode(task: DecodeTask) -> Decoded:
    return decode(task.body, task.content_encoding, max_bytes=task.max_bytes, max_ratio=task.max_ratio)


def _linked_data(task: LinkedDataTask) -> EmbeddedData:
    return embedded_data(_decoded(task.body, task.content_encoding, MAX_RDF_BYTES), task.content_type, task.url)


def _json_ld(task: JsonLdTask) -> ExpandedJsonLd:
    return expanded_jsonld(_decoded(task.body, task.content_encoding, MAX_RDF_BYTES), task.url, task.contexts)


def _canonical(task: CanonicalTask) -> CanonicalResults:
    results = parse_results(_decoded(task.body, task.content_encoding, MAX_SPARQL_BYTES), task.media_type)
    return CanonicalResults(rows=len(results.rows), body=canonical_results(results))


def _results(task: ResultsTask) -> Results:
    results = parse_results(_decoded(task.body, task.content_encoding, MAX_SPARQL_BYTES), task.media_type)
    if len(results.rows) > task.max_rows:
        raise ValueError(f"{len(results.rows)} rows instead of at most {task.max_rows}")
    return results


def _triples(task: TriplesTask) -> int:
    body = _decoded(task.body, task.content_encoding, MAX_SPARQL_BYTES)
    return responses.count_triples(body, task.media_type, task.url)


def _graph(task: GraphTask) -> responses.GraphLines:
    body = _decoded(task.body, task.content_encoding, MAX_SPARQL_BYTES)
    return responses.graph_lines(body, task.media_type, task.url, task.name, task.prefix)


def _sitemap(task: SitemapTask) -> tuple[SitemapEntry, ...]:
    body = decode(task.body, task.content_encoding, max_bytes=MAX_SITEMAP_BYTES, max_ratio=_MAX_RATIO).body
    return parse_sitemap(body, task.url).entries


def _files(task: FilesTask) -> tuple[str, ...]:
    return referred_files(
        EncodedBody(
            url=task.url, body=task.body, content_encoding=task.content_encoding, content_type=task.content_type
        )
    )


_FUNCTIONS: dict[type, Callable[[Any], Any]] = {
    ParseJob: parse_content,
    BytesTask: _bytes,
    DecodeTask: _decode,
    LinkedDataTask: _linked_data,
    JsonLdTask: _json_ld,
    CanonicalTask: _canonical,
    ResultsTask: _results,
    TriplesTask: _triples,
    GraphTask: _graph,
    SitemapTask: _sitemap,
    FilesTask: _files,
}
RESULTS: dict[type, Any] = {
    ParseJob: ParsedContent,
    BytesTask: ParsedContent,
    DecodeTask: Decoded,
    LinkedDataTask: EmbeddedData,
    JsonLdTask: ExpandedJsonLd,
    CanonicalTask: CanonicalResults,
    ResultsTask: Results,
    TriplesTask: int,
    GraphTask: responses.GraphLines,
    SitemapTask: tuple[SitemapEntry, ...],
    FilesTask: tuple[str, ...],
}
"""The type of the result of each task."""
TRIVIAL = ParseJob(url="http://webstrata.invalid/", body=b"<p>text", content_type="text/html", max_decoded=1000)
"""A process that cannot parse this content cannot parse any."""
