"""`CdxServer`: the copies that the CDX server of an archive lists (the Wayback Machine, pywb, Common Crawl, …).

The answers are requested in parts. How a server continues is found by trying:

1. `limit` and `showResumeKey`: the Wayback Machine names a resume key while there is more;
2. a full answer without a key: the number of pages is requested (`showNumPages`), and then each `page`;
3. a server without pages gets a higher `limit`, and the rows that were read are passed over.

If an answer comes too late or incomplete, half as many rows are requested.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webstrata.clock import DAY_S, iso
from webstrata.copy_rules import LeftOut
from webstrata.errors import SourceError, UsageError
from webstrata.history.batch_rows import BatchRows
from webstrata.history.cdx_query import CdxQuery, shown_key
from webstrata.history.index_answer import index_answer, page_count
from webstrata.history.index_row import IndexRow, archived_copy
from webstrata.ports import ArchiveServer
from webstrata.records import Failure, FailureKind, ReadBatch, ServerAnswer
from webstrata.urls import canonical, host_of, surt

PAGE_ROWS = 5_000
"""Rows that are requested at a time."""
_FEWEST_ROWS = 100
_MOST_ROWS = 5_000_000
"""A server that has more rows and no way to continue cannot be read."""
_MORE_ROWS = 10
_MOST_PAGES = 100_000
_SETTLED_S = 30 * DAY_S
"""An answer that later captures do not change is kept for this time."""
_OPEN_S = DAY_S
"""An answer that later captures change: for this time."""
_INDEXED_S = 30 * DAY_S
"""Archives list a capture at most this long after it was made, mostly."""
_SMALLER = frozenset((FailureKind.PARTIAL, FailureKind.TIMEOUT_FIRST_BYTE, FailureKind.TIMEOUT_TOTAL))
_ACCEPT = "application/json, text/plain;q=0.9, */*;q=0.5"


class _CdxPlace(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where reading continues: the position of the import."""

    limit: int = PAGE_ROWS
    key: str = ""
    skip: int = 0
    """Rows of the next answers that were read already."""
    page: int = -1
    """The next page, of a server with pages."""
    pages: int = 0
    is_asking: bool = False
    """The number of pages is requested next."""
    is_end: bool = False


class CdxServer:
    """A source of copies (`ports.CopySource`)."""

    def __init__(
        self,
        server: str,
        query: CdxQuery,
        *,
        requests: ArchiveServer,
        now: float,
        archive: str = "",
        page_rows: int = PAGE_ROWS,
    ) -> None:
        """`server`: the URL of the API without a query. Rows of an exact query count as copies of the page asked for:
        archives store a page under one key with and without `www.`, with http and https."""
        self._server = canonical(server)
        self._query = query
        self._requests = requests
        self._now = now
        self._archive = archive or host_of(self._server)
        self._page_rows = page_rows

    @property
    def key(self) -> str:
        """The server and the query."""
        times = [f"{name} {iso(at)}" for name, at in self._query.times if at is not None]
        return " ".join(["cdx-server", self._server, self._query.pattern, *times])

    async def batches(self, position: str = "") -> AsyncIterator[ReadBatch]:
        """Read on from a position. Raises SourceError if the server cannot be read; what was read is not lost."""
        try:
            place = msgspec.json.decode(position, type=_CdxPlace) if position else _CdxPlace(limit=self._page_rows)
        except msgspec.DecodeError:
            raise UsageError("the stored position of this import is not valid. Start again with --restart.") from None
        while not place.is_end:
            if place.is_asking:
                place = await self._with_pages(place)
                continue
            request, answer = await self._ask(place)
            if isinstance(answer, Failure):
                place = self._smaller(place, answer)
                continue
            index = index_answer(answer.body)
            assert not isinstance(index, Failure)  # it was checked
            batch, read = BatchRows(), 0
            for read, row in enumerate(index.rows, 1):
                if read <= place.skip:
                    continue
                self._add(row, read, batch)
                if batch.read >= 2 * self._page_rows:
                    here = replace(place, skip=read)
                    yield batch.finished(_encoded(here), _done(here))
                    batch = BatchRows()
            following = self._next(place, index.resume_key, read)
            self._keep(request, answer, is_last=following.is_end)
            place = following
            yield batch.finished(_encoded(place), _done(place))

    async def _ask(self, place: _CdxPlace) -> tuple[str, ServerAnswer | Failure]:
        """The request for the next rows, and its answer."""
        if place.page >= 0:
            request = self._query.request(self._server, page=place.page)
        else:
            request = self._query.request(self._server, place.key, limit=place.limit, showResumeKey="true")
        answer = await self._requests.get(request, accept=_ACCEPT, check=_problem)
        if isinstance(answer, ServerAnswer) and answer.status == 404:
            raise self._error("HTTP status 404: there is no CDX server at this address")
        return request, answer

    async def _with_pages(self, place: _CdxPlace) -> _CdxPlace:
        """Continue by pages if the server has several, else with a higher limit. The rows read so far are passed over.

        A server that knows neither answers with rows.
        """
        request = self._query.request(self._server, showNumPages="true", limit=1)
        answer = await self._requests.get(request, accept=_ACCEPT, check=lambda answer: None)
        if isinstance(answer, Failure) and answer.kind is not FailureKind.DENIED:
            raise self._error(answer)
        count = page_count(answer.body) if isinstance(answer, ServerAnswer) else 0
        if 1 < count <= _MOST_PAGES:
            return replace(place, is_asking=False, page=0, pages=count)
        return replace(place, is_asking=False, limit=place.limit * _MORE_ROWS)

    def _next(self, place: _CdxPlace, key: str, rows: int) -> _CdxPlace:
        """Where reading continues after an answer with so many rows."""
        end = replace(place, is_end=True)
        if place.page >= 0:
            left = max(0, place.skip - rows)
            return end if place.page + 1 >= place.pages else replace(place, page=place.page + 1, skip=left)
        if key:
            if key == place.key:
                raise self._error(f"it repeats the resume key {shown_key(key)!r}")
            return replace(place, key=key, skip=0)
        if place.key or rows != place.limit:
            return end
        if rows >= _MOST_ROWS:
            raise self._error(f"it lists more than {rows} captures, and has no way to continue")
        if place.limit > self._page_rows:
            return replace(place, skip=rows, limit=place.limit * _MORE_ROWS)
        return replace(place, skip=rows, is_asking=True)

    def _smaller(self, place: _CdxPlace, failure: Failure) -> _CdxPlace:
        """Ask for fewer rows, if that can help. Raises SourceError if it cannot."""
        if failure.kind not in _SMALLER or place.page >= 0 or place.skip or place.limit <= _FEWEST_ROWS:
            raise self._error(failure)
        return replace(place, limit=max(_FEWEST_ROWS, place.limit // 2))

    def _keep(self, request: str, answer: ServerAnswer, *, is_last: bool) -> None:
        """Keep an answer: for long if captures of the future cannot change it."""
        is_past = self._query.until is not None and self._query.until < self._now - _INDEXED_S
        is_settled = is_past or (self._query.match == "exact" and not is_last)  # those of one page are sorted by time
        self._requests.keep(request, answer, _SETTLED_S if is_settled else _OPEN_S)

    def _add(self, row: IndexRow | str, number: int, batch: BatchRows) -> None:
        """Add the copy of a row to the batch, or the reason why there is none."""
        where = f"{self._archive} {self._query.pattern}:{number}"
        if isinstance(row, str):
            batch.skip("malformed", where, row)
            return
        copy = archived_copy(row, self._archive, self._now)
        if isinstance(copy, LeftOut):
            batch.skip(copy.reason, where, copy.detail)
        elif self._query.match != "exact" or copy.url == self._query.url:
            batch.keep(copy, where)
        elif surt(copy.url) == surt(self._query.url):
            batch.keep(replace(copy, url=self._query.url), where)
        else:
            batch.skip("outside", where, copy.url)

    def _error(self, failure: Failure | str) -> SourceError:
        detail = failure if isinstance(failure, str) else failure.detail or str(failure.kind)
        return SourceError(
            f"the import from {self._archive} stopped: {detail}. What was read is stored: the same command continues "
            "there. If the answers are too large or too slow, import in parts with --from and --to."
        )


def _problem(answer: ServerAnswer) -> Failure | None:
    found = index_answer(answer.body)
    return found if isinstance(found, Failure) else None


def _done(place: _CdxPlace) -> float | None:
    """The share that is read; None while nobody knows how much there is."""
    if place.is_end:
        return 1.0
    return place.page / place.pages if place.page >= 0 else None


def _encoded(place: _CdxPlace) -> str:
    return msgspec.json.encode(place).decode()
