"""All that a SPARQL endpoint holds, read page by page and put together to one N-Quads document.

Every page begins with the last row of the one before. So a page that came back empty, an endpoint without a stable
order and data that changed meanwhile are all seen, and the end is known: a page that holds nothing but that row. The
endpoint's own limit of rows makes pages shorter, not the result. A page that fails is asked for again, smaller.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from webstrata.fetch.sparql import Question, Rows, Unusable, ask, question_of, read_body
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

Row = tuple[Any, ...]
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
        self._labels = _Labels()
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
            problem = self._compare(self._last, found[0])
            if problem is not None:
                return problem
        fresh = found[overlap:]
        self._labels.page(self.count - overlap, found)
        if fresh:
            self._last = fresh[-1]
        self.count += len(fresh)
        self.lines |= self._answers.quads(fresh)
        return None

    def _compare(self, before: Row, again: Row) -> Failure | None:
        """The same row asked for twice."""
        if before == again:
            self._labels.met_again(before)
            return None
        same_but_labels = _without_labels(before) == _without_labels(again)
        return Failure(kind=FailureKind.PARTIAL, detail=_FRESH_LABELS if same_but_labels else _UNSTABLE)

    async def _check_labels(self) -> Failure | Wait | None:
        """Blank nodes of several pages are the same ones only if the endpoint's labels last."""
        if self._labels.last:
            return None
        if self._labels.probe is not None:
            place, row = self._labels.probe
            self._limit = 1
            found = await self._page(place)
            if not isinstance(found, list):
                return found
            problem = self._compare(row, found[0] if found else ())
            if problem is not None or self._labels.last:
                return problem
        return Failure(kind=FailureKind.PARTIAL, detail=_FRESH_LABELS)

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


class _Labels:
    """Whether the endpoint's blank labels name the same node in every answer.

    Endpoints that name blanks anew do it at random, which a row met twice shows, or in the order of appearance. The
    latter shows where a row met twice has a blank that was not the first of its page, or where pages begin with
    different blanks.
    """

    def __init__(self) -> None:
        self._pages = 0
        self._firsts: set[object] = set()
        self._later: set[object] = set()
        self._random = True
        self._in_order = True
        self.probe: tuple[int, Row] | None = None
        """A row that is worth asking for again, and its place."""

    @property
    def last(self) -> bool:
        """Proved to last, or it does not matter: there are none, or all on one page."""
        return self._pages < 2 or not (self._random or (self._in_order and len(self._firsts) < 2))

    def page(self, offset: int, rows: Sequence[Row]) -> None:
        first: object = None
        for number, row in enumerate(rows):
            for label in _blanks(row):
                if first is None:
                    first = label
                if label != first and label not in self._later:
                    if not self._later:
                        self.probe = (offset + number, row)
                    self._later.add(label)
            if self.probe is None and first is not None:
                self.probe = (offset + number, row)
        if first is not None:
            self._pages += 1
            self._firsts.add(first)

    def met_again(self, row: Row) -> None:
        """A row came a second time, with the same labels."""
        labels = _blanks(row)
        if labels:
            self._random = False
            self._in_order = self._in_order and not any(label in self._later for label in labels)


def _quad_rows(results: Rows) -> list[Row]:
    """Rows as ?g ?s ?p ?o, whatever order the endpoint names them in."""
    places = [results.vars.index(name) if name in results.vars else None for name in _NAMES]
    return [tuple([None if place is None else row[place] for place in places]) for row in results.rows]


def _blanks(row: Sequence[object]) -> list[object]:
    return [getattr(value, "value", "") for value in row if getattr(value, "kind", "") == "bnode"]


def _without_labels(row: Sequence[object]) -> list[object]:
    return ["_" if getattr(value, "kind", "") == "bnode" else value for value in row]
