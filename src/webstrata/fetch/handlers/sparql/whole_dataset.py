"""`WholeDataset`: the dataset of a SPARQL endpoint, fetched page by page and joined to one N-Quads document.

Every page begins with the last row of the page before. This detects empty pages, endpoints without a stable order and
data that changed in the meantime, and marks the end: a page that has only that row. A row limit of the endpoint makes
the pages shorter, not the result. A page that fails is requested again with fewer rows.

A visit that is interrupted leaves its pages in a checkpoint. The next visit requests a checksum over as many rows as
the checkpoint has. It continues after them only if the endpoint still has exactly these rows (`query.py`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from webstrata.fetch.handlers.sparql.checkpoint import Checkpoint, Checkpoints, PageBody
from webstrata.fetch.handlers.sparql.endpoint_client import RETRIED, DatasetParser, EndpointClient, PageSizes, partial
from webstrata.fetch.handlers.sparql.graphs import GraphPass
from webstrata.fetch.handlers.sparql.handler import ResultRows, sparql_request_of
from webstrata.fetch.handlers.sparql.labels import BlankNodeLabels, Row, same_except_labels
from webstrata.fetch.handlers.sparql.query import checksum, checksum_query, dataset_page_query, has_checksum
from webstrata.fetch.handlers.visit_result import failed, visit_result
from webstrata.ports import VisitClient
from webstrata.records import Failure, FailureKind, Page, Resource, VisitResult, Wait

NQUADS = "application/n-quads"
_VARIABLES = ("g", "s", "p", "o")
_UNSTABLE = "the data changed during the visit, or the endpoint has no stable order; watch a query instead"
_UNSTABLE_LABELS = (
    "the endpoint labels blank nodes differently in every response, so pages cannot be joined; watch a query instead"
)
_UNPROVED_LABELS = "too few blank nodes to prove that their labels are stable across pages; watch a query instead"
_NOT_REACHED = frozenset(
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
"""The endpoint did not process the query: the checkpoint is kept."""


class WholeDataset:
    """Fetches datasets of endpoints. `checkpoints` keep the pages of interrupted visits; None: they are not kept."""

    def __init__(
        self,
        parser: DatasetParser,
        page_sizes: PageSizes | None = None,
        checkpoints: Checkpoints | None = None,
    ) -> None:
        self._parser = parser
        self._page_sizes = page_sizes or PageSizes()
        self._checkpoints = checkpoints

    async def visit(self, page: Page, client: VisitClient) -> VisitResult | Wait:
        endpoint = EndpointClient(self._parser, sparql_request_of(page).endpoint, client)
        dataset_pass = await self._start(page, endpoint)
        problem = await dataset_pass.run()
        if isinstance(problem, Wait):
            return problem
        fetched = endpoint.fetched
        if problem is not None:
            is_gone = not dataset_pass.count and fetched.answer is not None and fetched.answer.status in (404, 410)
            return visit_result(page, client, fetched if is_gone else failed(fetched, problem))
        body = b"".join(sorted(dataset_pass.lines))
        at = fetched.exchanges[0].at
        content = Resource(url=f"urn:data:{page.url}", at=at, content_type=NQUADS, body=body)
        return visit_result(page, client, fetched, content=content)

    async def _start(self, page: Page, endpoint: EndpointClient) -> GraphPass | _DatasetPass:
        page_sizes = self._page_sizes.with_rules(page.page_rules)
        if page.page_rules is not None and page.page_rules.graphs:
            return GraphPass(endpoint, page_sizes, page.page_rules.graphs)
        if self._checkpoints is None:
            return _DatasetPass(endpoint, page_sizes, None)
        checkpoint = await asyncio.to_thread(self._checkpoints.of, endpoint.url, endpoint.now())
        return _DatasetPass(endpoint, page_sizes, checkpoint)


class _DatasetPass:
    """One pass over a dataset; `count` rows have been fetched, and `lines` are their N-Quads."""

    def __init__(self, endpoint: EndpointClient, page_sizes: PageSizes, checkpoint: Checkpoint | None) -> None:
        self._endpoint = endpoint
        self._page_sizes = page_sizes
        self._checkpoint = checkpoint
        self._limit = page_sizes.rows
        self._reset()

    def _reset(self) -> None:
        self._last: Row = ()
        self._labels = BlankNodeLabels()
        self._checksum = 0
        self._has_checksum = True
        """Whether all rows so far have a checksum."""
        self.count = 0
        self.lines: set[bytes] = set()
        self._bytes = 0

    async def run(self) -> Failure | Wait | None:
        """Fetch all rows; returns the problem, or None if the dataset is complete."""
        problem = await self._resume() or await self._fetch_rest()
        if self._checkpoint is not None and problem is None:
            await asyncio.to_thread(self._checkpoint.remove)
        return problem

    async def _fetch_rest(self) -> Failure | Wait | None:
        while True:
            overlap = 1 if self.count else 0
            page = await self._page(self.count - overlap)
            if not isinstance(page, tuple):
                return page
            body, rows = page
            problem = await asyncio.to_thread(self._join, rows, overlap, body)
            if problem is not None or len(rows) == overlap:
                return problem or await self._check_labels()
            if self.count > self._page_sizes.max_rows:
                return partial(f"more than {self._page_sizes.max_rows} rows; watch a query instead")

    # ── resuming an interrupted visit ───────────────────────────────────────────────────────────────────────

    async def _resume(self) -> Failure | Wait | None:
        """Use the pages of the checkpoint if the endpoint still has the same rows; otherwise start anew."""
        if self._checkpoint is None or not await self._load(self._checkpoint):
            return None
        results = await self._endpoint.results(checksum_query(self.count))
        if isinstance(results, Wait) or (isinstance(results, Failure) and results.kind in _NOT_REACHED):
            return results
        if isinstance(results, Failure) or not _is_checksum(results, self.count, self._checksum):
            await asyncio.to_thread(self._checkpoint.remove)
            self._reset()
        return None

    async def _load(self, checkpoint: Checkpoint) -> bool:
        """Load the pages of the checkpoint; false if there is nothing to continue from."""
        pages = checkpoint.pages()
        while (page := await asyncio.to_thread(next, pages, None)) is not None:
            try:
                rows = _quad_rows(await self._endpoint.parser.results(*page, self._page_sizes.max_rows))
            except ValueError:
                rows = []
            if await asyncio.to_thread(self._join, rows, 1 if self.count else 0) is not None:
                break
        if self.count and self._has_checksum:
            return True
        await asyncio.to_thread(checkpoint.remove)
        self._reset()
        return False

    # ── pages ───────────────────────────────────────────────────────────────────────────────────────────────

    def _join(self, rows: list[Row], overlap: int, body: PageBody | None = None) -> Failure | None:
        """Add a page. A `body` is saved in the checkpoint."""
        if overlap:
            if not rows:
                return partial(f"an empty page after {self.count} rows")
            problem = _compare(self._last, rows[0])
            if problem is not None:
                return problem
        new_rows = rows[overlap:]
        self._labels.page(self.count, new_rows)
        if new_rows:
            self._last = new_rows[-1]
        self.count += len(new_rows)
        lines = self._endpoint.parser.quads(new_rows)
        self._bytes += sum(map(len, lines))
        if self._bytes > self._page_sizes.max_bytes:
            return partial(f"more than {self._page_sizes.max_bytes} bytes; watch a query instead")
        self.lines |= lines
        if self._checkpoint is not None and self._has_checksum:
            self._save(self._checkpoint, new_rows, body)
        return None

    def _save(self, checkpoint: Checkpoint, new_rows: Sequence[Row], body: PageBody | None) -> None:
        self._has_checksum = all(map(has_checksum, new_rows))
        if not self._has_checksum:
            checkpoint.give_up()
            return
        self._checksum += checksum(new_rows)
        if body is not None and new_rows:
            checkpoint.add(body, self._endpoint.now())

    async def _check_labels(self) -> Failure | Wait | None:
        """Check that labels are stable if several pages have blank nodes."""
        if not self._labels.matter:
            return None
        if self._labels.probes is None:
            return partial(_UNPROVED_LABELS)
        self._limit = 1
        for index, row in self._labels.probes:
            page = await self._page(index)
            if not isinstance(page, tuple):
                return page
            problem = _compare(row, page[1][0] if page[1] else ())
            if problem is not None:
                return problem
        return None

    async def _page(self, offset: int) -> tuple[PageBody, list[Row]] | Failure | Wait:
        """A page of rows from an offset on; after some failures another attempt with fewer rows is made."""
        for attempt in range(1, self._page_sizes.max_tries + 1):
            page = await self._request_page(offset)
            if not isinstance(page, Failure) or page.kind not in RETRIED or attempt == self._page_sizes.max_tries:
                break
            self._limit = self._page_sizes.smaller(self._limit)
        return page

    async def _request_page(self, offset: int) -> tuple[PageBody, list[Row]] | Failure | Wait:
        body = await self._endpoint.body(dataset_page_query(offset, self._limit))
        if isinstance(body, Failure) and body.detail.startswith("status "):
            return Failure(kind=body.kind, detail=f"{body.detail} for the page at row {offset}")
        if not isinstance(body, tuple):
            return body
        try:
            return body, _quad_rows(await self._endpoint.parser.results(*body, self._limit))
        except ValueError as error:
            return partial(str(error))


def _compare(before: Row, again: Row) -> Failure | None:
    """Compare a row with the same row of another response."""
    if before == again:
        return None
    return partial(_UNSTABLE_LABELS if same_except_labels(before, again) else _UNSTABLE)


def _is_checksum(results: ResultRows, count: int, expected: int) -> bool:
    """Whether the endpoint computed the same count and checksum."""
    row = dict(zip(results.vars, results.rows[0], strict=True)) if len(results.rows) == 1 else {}
    values = [str(getattr(row.get(name), "value", "")) for name in ("n", "sum")]
    return values == [str(count), str(expected)]


def _quad_rows(results: ResultRows) -> list[Row]:
    """The rows as ?g ?s ?p ?o, in whichever order the endpoint returns the variables."""
    columns = [results.vars.index(name) if name in results.vars else None for name in _VARIABLES]
    return [tuple([None if column is None else row[column] for column in columns]) for row in results.rows]
