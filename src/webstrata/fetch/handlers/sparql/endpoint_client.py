"""`EndpointClient`: sends the queries of one visit to an endpoint and keeps their exchanges in order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from webstrata.coding import EncodedBody
from webstrata.fetch.handlers.sparql.handler import ResultRows, SparqlRequest, UnusableResponse, send_query, usable_body
from webstrata.fetch.handlers.sparql.labels import Row
from webstrata.fetch.handlers.sparql.query import Form
from webstrata.fetch.handlers.visit_result import joined
from webstrata.ports import VisitClient
from webstrata.records import Failure, FailureKind, FetchResult, PageRules, Wait

RETRIED = frozenset(
    [
        FailureKind.TIMEOUT_FIRST_BYTE,
        FailureKind.TIMEOUT_TOTAL,
        FailureKind.RESET,
        FailureKind.MALFORMED,
        FailureKind.SERVER,
        FailureKind.PARTIAL,
        FailureKind.UNEXPECTED,
    ]
)
"""After these failures a smaller page is requested."""
_MIN_ROWS = 2
"""Rows of a page: the one that is known already, and another one."""


class DatasetParser(Protocol):
    """Parses responses (`webstrata.flows.parsers.handler_parsers`).

    Raises ValueError if a response is incomplete or exceeds a limit, and ParserError.
    """

    async def results(self, body: EncodedBody, media_type: str, max_rows: int) -> ResultRows: ...
    async def graph(self, body: EncodedBody, media_type: str, name: str, prefix: str) -> GraphDocument: ...
    def quads(self, rows: Iterable[Row]) -> set[bytes]: ...


class GraphDocument(Protocol):
    """A graph as lines of N-Quads."""

    @property
    def lines(self) -> set[bytes]: ...
    @property
    def blanks(self) -> bool: ...


class PageSizes(Struct, frozen=True, kw_only=True):
    """How a dataset is divided into pages, and its maximum size."""

    rows: int = 10_000
    """Rows of a page."""
    min_rows: int = 100
    """Pages that fail are requested with fewer rows, down to this number."""
    max_tries: int = 4
    """Attempts for one page."""
    max_rows: int = 2_000_000
    """Rows of a dataset; a larger dataset is refused."""
    max_bytes: int = 256_000_000
    """Bytes of a dataset as N-Quads; a larger one is refused."""
    max_graphs: int = 10_000
    """Named graphs of a dataset that is fetched graph by graph; more are refused."""

    def smaller(self, limit: int) -> int:
        """The rows of the next attempt after a page of `limit` rows failed."""
        return max(limit // 2, min(limit, self.min_rows), _MIN_ROWS)

    def with_rules(self, page_rules: PageRules | None) -> PageSizes:
        """With the rows of a page that the user set."""
        rows = page_rules.page_rows if page_rules is not None else 0
        return replace(self, rows=max(rows, _MIN_ROWS)) if rows else self


class EndpointClient:
    """The queries of one visit. `fetched` holds the exchanges of all of them."""

    def __init__(self, parser: DatasetParser, url: str, client: VisitClient) -> None:
        self.parser = parser
        self.url = url
        self._client = client
        self.fetched = FetchResult()

    def now(self) -> float:
        return self._client.now()

    async def body(self, query: str, form: Form = "SELECT") -> tuple[EncodedBody, str] | Failure | Wait:
        """Send the query; (body, media type) of a usable response, else the failure."""
        fetched = await send_query(SparqlRequest(endpoint=self.url, query=query), form, self._client)
        if isinstance(fetched, Wait):
            return fetched
        self.fetched = joined(self.fetched, fetched)
        response = fetched.answer
        if fetched.failure is not None or response is None:
            return fetched.failure or Failure(kind=FailureKind.INTERNAL, detail="neither a response nor a failure")
        if response.status != 200:
            kind = FailureKind.SERVER if (response.status or 0) >= 500 else FailureKind.DENIED
            return Failure(kind=kind, detail=f"status {response.status}")
        try:
            return usable_body(response)
        except UnusableResponse as error:
            return error.failure

    async def results(self, query: str, max_rows: int = 1) -> ResultRows | Failure | Wait:
        """The rows of a SELECT; a failure if there are more than `max_rows`."""
        body = await self.body(query)
        if not isinstance(body, tuple):
            return body
        try:
            return await self.parser.results(*body, max_rows)
        except ValueError as error:
            return partial(str(error))


def partial(detail: str) -> Failure:
    """The failure for an incomplete dataset."""
    return Failure(kind=FailureKind.PARTIAL, detail=detail[:300])
