"""Asking an endpoint the many questions of one visit; what came of each is kept in order."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from webstrata.fetch.handlers.sparql.handler import ResultRows, SparqlRequest, UnusableAnswer, read_body, send_query
from webstrata.fetch.handlers.sparql.labels import Row
from webstrata.fetch.handlers.sparql.query import Form
from webstrata.fetch.handlers.visit_result import joined
from webstrata.ports import VisitClient
from webstrata.records import Failure, FailureKind, FetchResult, PageRules, Wait

AGAIN = frozenset(
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
"""After these a page is asked for again, smaller."""
_SMALLEST = 2
"""Rows of a page: the one that is known already, and one more."""

R = TypeVar("R", bound=ResultRows, covariant=True)


class AnswerParser(Protocol[R]):
    """What reads answers (`webstrata.observe.data.sparql.responses.SparqlAnswers`); ValueError for what is not whole."""

    def results(self, body: bytes, media_type: str) -> R: ...
    def quads(self, rows: Iterable[Row]) -> set[bytes]: ...
    def graph(self, body: bytes, media_type: str, url: str, name: str, prefix: str) -> GraphDocument: ...


class GraphDocument(Protocol):
    """A graph as lines of N-Quads."""

    @property
    def lines(self) -> set[bytes]: ...
    @property
    def blanks(self) -> bool: ...


class PageSizes(Struct, frozen=True, kw_only=True):
    rows: int = 10_000
    """Of a page."""
    least: int = 100
    """Pages that fail are made smaller down to this."""
    tries: int = 4
    """For one page."""
    most: int = 2_000_000
    """Rows of a dataset; a larger one is refused."""
    graphs: int = 10_000
    """Named graphs that are read one by one; more are refused."""

    def smaller(self, limit: int) -> int:
        return max(limit // 2, min(limit, self.least), _SMALLEST)

    def wished(self, page_rules: PageRules | None) -> PageSizes:
        """With as many rows to a page as the user wants."""
        rows = page_rules.page_rows if page_rules is not None else 0
        return replace(self, rows=max(rows, _SMALLEST)) if rows else self


class EndpointClient:
    """The questions of one visit."""

    def __init__(self, answers: AnswerParser[ResultRows], endpoint: str, polite: VisitClient) -> None:
        self.answers = answers
        self.endpoint = endpoint
        self._polite = polite
        self.got = FetchResult()

    def now(self) -> float:
        return self._polite.now()

    async def body(self, query: str, form: Form = "SELECT") -> tuple[bytes, str] | Failure | Wait:
        """(body, media type) of an answer that may be whole."""
        got = await send_query(SparqlRequest(endpoint=self.endpoint, query=query), form, self._polite)
        if isinstance(got, Wait):
            return got
        self.got = joined(self.got, got)
        if got.failure is not None or got.answer is None:
            return got.failure or Failure(kind=FailureKind.INTERNAL, detail="no answer and no reason")
        if got.answer.status != 200:
            kind = FailureKind.SERVER if (got.answer.status or 0) >= 500 else FailureKind.DENIED
            return Failure(kind=kind, detail=f"status {got.answer.status}")
        try:
            return read_body(got.answer)
        except UnusableAnswer as why:
            return why.failure

    async def results(self, query: str) -> ResultRows | Failure | Wait:
        """The rows of a SELECT."""
        found = await self.body(query)
        if not isinstance(found, tuple):
            return found
        try:
            return await asyncio.to_thread(self.answers.results, *found)
        except ValueError as why:
            return partial(str(why))


def partial(detail: str) -> Failure:
    return Failure(kind=FailureKind.PARTIAL, detail=detail[:300])
