"""All that a SPARQL endpoint holds, read page by page and put together to one N-Quads document.

Every page begins with the last row of the one before. So a page that came back empty, an endpoint without a stable
order and data that changed meanwhile are all seen, and the end is known: a page that holds nothing but that row. The
endpoint's own limit of rows makes pages shorter, not the result. A page that fails is asked for again, smaller.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Protocol, TypeVar

from msgspec import Struct

from webstrata.fetch.sparql import Question, Rows, Unusable, ask, question_of, read_body
from webstrata.fetch.sparql_labels import Labels, Row, same_but_labels
from webstrata.fetch.sparql_query import page_of_everything
from webstrata.fetch.visited import failed, joined, visited
from webstrata.ports import Polite
from webstrata.records import Failure, FailureKind, Followed, Page, Resource, Visited, Wait

NQUADS = "application/n-quads"
_AGAIN = frozenset(
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
_NAMES = ("g", "s", "p", "o")
_SMALLEST = 2
"""Rows of a page: the one that is known already, and one more."""
_UNSTABLE = "the data changed while they were read, or the endpoint has no stable order; watch a query instead"
_FRESH_LABELS = "the endpoint names blank nodes anew in every answer: pages cannot be joined; watch a query instead"
_UNPROVED_LABELS = "too few blank nodes to prove that their labels last from page to page; watch a query instead"

R = TypeVar("R", bound=Rows, covariant=True)


class Quads(Protocol[R]):
    """What reads pages (`webstrata.observe.data.sparql.SparqlAnswers`); ValueError for what is not whole."""

    def results(self, body: bytes, media_type: str) -> R: ...
    def quads(self, rows: Iterable[Row]) -> set[bytes]: ...


class Paging(Struct, frozen=True, kw_only=True):
    rows: int = 10_000
    """Of a page."""
    least: int = 100
    """Pages that fail are made smaller down to this."""
    tries: int = 4
    """For one page."""
    most: int = 2_000_000
    """Rows of a dataset; a larger one is refused."""


class WholeDataset:
    """Reads datasets of endpoints."""

    def __init__(self, answers: Quads[Rows], paging: Paging | None = None) -> None:
        self._answers = answers
        self._paging = paging or Paging()

    async def visit(self, page: Page, polite: Polite) -> Visited | Wait:
        reading = _Reading(self._answers, self._paging, Question(endpoint=question_of(page).endpoint, query=""), polite)
        problem = await reading.run()
        if isinstance(problem, Wait):
            return problem
        if problem is not None:
            absent = not reading.count and reading.got.answer is not None and reading.got.answer.status in (404, 410)
            return visited(page, polite, reading.got if absent else failed(reading.got, problem))
        body = b"".join(sorted(reading.lines))
        at = reading.got.exchanges[0].at
        content = Resource(url=f"urn:data:{page.url}", at=at, content_type=NQUADS, body=body)
        return visited(page, polite, reading.got, content=content)


class _Reading:
    """One pass over a dataset."""

    def __init__(self, answers: Quads[Rows], paging: Paging, where: Question, polite: Polite) -> None:
        self._answers = answers
        self._paging = paging
        self._where = where
        self._polite = polite
        self._limit = paging.rows
        self._last: Row = ()
        self._labels = Labels()
        self.got = Followed()
        self.count = 0
        self.lines: set[bytes] = set()

    async def run(self) -> Failure | Wait | None:
        """None: all rows are there."""
        while True:
            overlap = 1 if self.count else 0
            found = await self._page(self.count - overlap)
            if not isinstance(found, list):
                return found
            problem = await asyncio.to_thread(self._join, found, overlap)
            if problem is not None or len(found) == overlap:
                return problem or await self._check_labels()
            if self.count > self._paging.most:
                detail = f"more than {self._paging.most} rows; watch a query instead"
                return Failure(kind=FailureKind.PARTIAL, detail=detail)

    def _join(self, found: list[Row], overlap: int) -> Failure | None:
        if overlap:
            if not found:
                return Failure(kind=FailureKind.PARTIAL, detail=f"an empty page after {self.count} rows")
            problem = _compare(self._last, found[0])
            if problem is not None:
                return problem
        fresh = found[overlap:]
        self._labels.page(self.count, fresh)
        if fresh:
            self._last = fresh[-1]
        self.count += len(fresh)
        self.lines |= self._answers.quads(fresh)
        return None

    async def _check_labels(self) -> Failure | Wait | None:
        """Blank nodes of several pages are the same ones only if the endpoint's labels last."""
        if not self._labels.matter:
            return None
        if self._labels.probes is None:
            return Failure(kind=FailureKind.PARTIAL, detail=_UNPROVED_LABELS)
        self._limit = 1
        for place, row in self._labels.probes:
            found = await self._page(place)
            if not isinstance(found, list):
                return found
            problem = _compare(row, found[0] if found else ())
            if problem is not None:
                return problem
        return None

    async def _page(self, offset: int) -> list[Row] | Failure | Wait:
        """Rows from an offset on; asked for again, and for fewer, where that may help."""
        for attempt in range(1, self._paging.tries + 1):
            found = await self._ask(offset)
            if not isinstance(found, Failure) or found.kind not in _AGAIN or attempt == self._paging.tries:
                break
            self._limit = max(self._limit // 2, min(self._limit, self._paging.least), _SMALLEST)
        return found

    async def _ask(self, offset: int) -> list[Row] | Failure | Wait:
        query = page_of_everything(offset, self._limit)
        got = await ask(Question(endpoint=self._where.endpoint, query=query), "SELECT", self._polite)
        if isinstance(got, Wait):
            return got
        self.got = joined(self.got, got)
        if got.failure is not None or got.answer is None:
            return got.failure or Failure(kind=FailureKind.INTERNAL, detail="no answer and no reason")
        if got.answer.status != 200:
            kind = FailureKind.SERVER if (got.answer.status or 0) >= 500 else FailureKind.DENIED
            return Failure(kind=kind, detail=f"status {got.answer.status} for the page at row {offset}")
        try:
            body, media_type = read_body(got.answer)
            results = await asyncio.to_thread(self._answers.results, body, media_type)
            return _quad_rows(results)
        except Unusable as why:
            return why.failure
        except ValueError as why:
            return Failure(kind=FailureKind.PARTIAL, detail=str(why)[:300])


def _compare(before: Row, again: Row) -> Failure | None:
    """The same row asked for twice."""
    if before == again:
        return None
    detail = _FRESH_LABELS if same_but_labels(before, again) else _UNSTABLE
    return Failure(kind=FailureKind.PARTIAL, detail=detail)


def _quad_rows(results: Rows) -> list[Row]:
    """Rows as ?g ?s ?p ?o, whatever order the endpoint names them in."""
    places = [results.vars.index(name) if name in results.vars else None for name in _NAMES]
    return [tuple([None if place is None else row[place] for place in places]) for row in results.rows]
