"""All that a SPARQL endpoint holds, read page by page and put together to one N-Quads document.

Every page begins with the last row of the one before. So a page that came back empty, an endpoint without a stable
order and data that changed meanwhile are all seen, and the end is known: a page that holds nothing but that row. The
endpoint's own limit of rows makes pages shorter, not the result. A page that fails is asked for again, smaller.

A visit that breaks off leaves its pages in a bookmark. The next one asks the endpoint for a sum over as many rows as it
has: only if those are the very rows that the endpoint holds now, reading goes on behind them (`sparql_sum`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from webstrata.fetch.handlers.sparql.checkpoint import Answer, Checkpoint, Checkpoints
from webstrata.fetch.handlers.sparql.endpoint_client import AGAIN, AnswerParser, EndpointClient, PageSizes, partial
from webstrata.fetch.handlers.sparql.graphs import GraphPass
from webstrata.fetch.handlers.sparql.handler import ResultRows, sparql_request_of
from webstrata.fetch.handlers.sparql.labels import BlankNodeLabels, Row, same_but_labels
from webstrata.fetch.handlers.sparql.query import has_sum, page_of_everything, row_sum, sum_of_first
from webstrata.fetch.handlers.visit_result import failed, visit_result
from webstrata.ports import VisitClient
from webstrata.records import Failure, FailureKind, Page, Resource, VisitResult, Wait

NQUADS = "application/n-quads"
_NAMES = ("g", "s", "p", "o")
_UNSTABLE = "the data changed while they were read, or the endpoint has no stable order; watch a query instead"
_FRESH_LABELS = "the endpoint names blank nodes anew in every answer: pages cannot be joined; watch a query instead"
_UNPROVED_LABELS = "too few blank nodes to prove that their labels last from page to page; watch a query instead"
_NO_ANSWER = frozenset(
    [
        FailureKind.DNS,
        FailureKind.REFUSED,
        FailureKind.CONNECT,
        FailureKind.TLS,
        FailureKind.TIMEOUT_CONNECT,
        FailureKind.ROBOTS,
        FailureKind.BACKOFF,
    ]
)
"""These say nothing of the question: what was kept is kept."""


class WholeDataset:
    """Reads datasets of endpoints. `bookmarks`: where pages of visits that break off are kept; none: nowhere."""

    def __init__(
        self, answers: AnswerParser[ResultRows], paging: PageSizes | None = None, bookmarks: Checkpoints | None = None
    ) -> None:
        self._answers = answers
        self._paging = paging or PageSizes()
        self._bookmarks = bookmarks

    async def visit(self, page: Page, polite: VisitClient) -> VisitResult | Wait:
        asking = EndpointClient(self._answers, sparql_request_of(page).endpoint, polite)
        reading = await self._reading(page, asking)
        problem = await reading.run()
        if isinstance(problem, Wait):
            return problem
        if problem is not None:
            absent = not reading.count and asking.got.answer is not None and asking.got.answer.status in (404, 410)
            return visit_result(page, polite, asking.got if absent else failed(asking.got, problem))
        body = b"".join(sorted(reading.lines))
        at = asking.got.exchanges[0].at
        content = Resource(url=f"urn:data:{page.url}", at=at, content_type=NQUADS, body=body)
        return visit_result(page, polite, asking.got, content=content)

    async def _reading(self, page: Page, asking: EndpointClient) -> GraphPass | _DatasetPass:
        paging = self._paging.wished(page.page_rules)
        if page.page_rules is not None and page.page_rules.graphs:
            return GraphPass(asking, paging, page.page_rules.graphs)
        if self._bookmarks is None:
            return _DatasetPass(asking, paging, None)
        return _DatasetPass(asking, paging, await asyncio.to_thread(self._bookmarks.of, asking.endpoint, asking.now()))


class _DatasetPass:
    """One pass over a dataset."""

    def __init__(self, asking: EndpointClient, paging: PageSizes, bookmark: Checkpoint | None) -> None:
        self._asking = asking
        self._paging = paging
        self._bookmark = bookmark
        self._limit = paging.rows
        self._begin()

    def _begin(self) -> None:
        self._last: Row = ()
        self._labels = BlankNodeLabels()
        self._sum = 0
        self._summed = True
        """All rows so far have one."""
        self.count = 0
        self.lines: set[bytes] = set()

    async def run(self) -> Failure | Wait | None:
        """None: all rows are there."""
        problem = await self._resume() or await self._read()
        if self._bookmark is not None and problem is None:
            await asyncio.to_thread(self._bookmark.remove)
        return problem

    async def _read(self) -> Failure | Wait | None:
        while True:
            overlap = 1 if self.count else 0
            found = await self._page(self.count - overlap)
            if not isinstance(found, tuple):
                return found
            answer, rows = found
            problem = await asyncio.to_thread(self._join, rows, overlap, answer)
            if problem is not None or len(rows) == overlap:
                return problem or await self._check_labels()
            if self.count > self._paging.most:
                return partial(f"more than {self._paging.most} rows; watch a query instead")

    # ── going on where the last visit stopped ───────────────────────────────────────────────────────────────

    async def _resume(self) -> Failure | Wait | None:
        """Take up what was kept, if it is what the endpoint holds now; else begin anew."""
        if self._bookmark is None or not await asyncio.to_thread(self._take_up, self._bookmark):
            return None
        found = await self._asking.results(sum_of_first(self.count))
        if isinstance(found, Wait) or (isinstance(found, Failure) and found.kind in _NO_ANSWER):
            return found
        if isinstance(found, Failure) or not _is_sum(found, self.count, self._sum):
            await asyncio.to_thread(self._bookmark.remove)
            self._begin()
        return None

    def _take_up(self, bookmark: Checkpoint) -> bool:
        """Whether there is something to go on from."""
        for body, media_type in bookmark.pages():
            try:
                rows = _quad_rows(self._asking.answers.results(body, media_type))
            except ValueError:
                rows = []
            if self._join(rows, 1 if self.count else 0) is not None:
                break
        if self.count and self._summed:
            return True
        bookmark.remove()
        self._begin()
        return False

    # ── pages ───────────────────────────────────────────────────────────────────────────────────────────────

    def _join(self, found: list[Row], overlap: int, answer: Answer | None = None) -> Failure | None:
        """One page more; an `answer` is kept for a visit that may have to go on from here."""
        if overlap:
            if not found:
                return partial(f"an empty page after {self.count} rows")
            problem = _compare(self._last, found[0])
            if problem is not None:
                return problem
        fresh = found[overlap:]
        self._labels.page(self.count, fresh)
        if fresh:
            self._last = fresh[-1]
        self.count += len(fresh)
        self.lines |= self._asking.answers.quads(fresh)
        if self._bookmark is not None and self._summed:
            self._mark(self._bookmark, fresh, answer)
        return None

    def _mark(self, bookmark: Checkpoint, fresh: Sequence[Row], answer: Answer | None) -> None:
        self._summed = all(map(has_sum, fresh))
        if not self._summed:
            bookmark.give_up()
            return
        self._sum += row_sum(fresh)
        if answer is not None and fresh:
            bookmark.add(answer, self._asking.now())

    async def _check_labels(self) -> Failure | Wait | None:
        """Blank nodes of several pages are the same ones only if the endpoint's labels last."""
        if not self._labels.matter:
            return None
        if self._labels.probes is None:
            return partial(_UNPROVED_LABELS)
        self._limit = 1
        for place, row in self._labels.probes:
            found = await self._page(place)
            if not isinstance(found, tuple):
                return found
            problem = _compare(row, found[1][0] if found[1] else ())
            if problem is not None:
                return problem
        return None

    async def _page(self, offset: int) -> tuple[Answer, list[Row]] | Failure | Wait:
        """Rows from an offset on; asked for again, and for fewer, where that may help."""
        for attempt in range(1, self._paging.tries + 1):
            found = await self._ask(offset)
            if not isinstance(found, Failure) or found.kind not in AGAIN or attempt == self._paging.tries:
                break
            self._limit = self._paging.smaller(self._limit)
        return found

    async def _ask(self, offset: int) -> tuple[Answer, list[Row]] | Failure | Wait:
        answer = await self._asking.body(page_of_everything(offset, self._limit))
        if isinstance(answer, Failure) and answer.detail.startswith("status "):
            return Failure(kind=answer.kind, detail=f"{answer.detail} for the page at row {offset}")
        if not isinstance(answer, tuple):
            return answer
        try:
            return answer, _quad_rows(await asyncio.to_thread(self._asking.answers.results, *answer))
        except ValueError as why:
            return partial(str(why))


def _compare(before: Row, again: Row) -> Failure | None:
    """The same row asked for twice."""
    if before == again:
        return None
    return partial(_FRESH_LABELS if same_but_labels(before, again) else _UNSTABLE)


def _is_sum(found: ResultRows, count: int, sum_: int) -> bool:
    """Whether the endpoint reckons as we did."""
    row = dict(zip(found.vars, found.rows[0], strict=True)) if len(found.rows) == 1 else {}
    told = [str(getattr(row.get(name), "value", "")) for name in ("n", "sum")]
    return told == [str(count), str(sum_)]


def _quad_rows(results: ResultRows) -> list[Row]:
    """Rows as ?g ?s ?p ?o, whatever order the endpoint names them in."""
    places = [results.vars.index(name) if name in results.vars else None for name in _NAMES]
    return [tuple([None if place is None else row[place] for place in places]) for row in results.rows]
