"""A CDX server on loopback that speaks the dialects of archives, and imports from it with a real node.

The clock is a jumping one: waits for permits and pauses take no time, requests are real.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, quote_plus, unquote_plus, urlsplit

import msgspec

from tests.fetch.local_site import Answer, Asked
from webstrata.clock import JumpingClock, digits14
from webstrata.flows.import_copies import ImportResult, import_copies
from webstrata.home import Home
from webstrata.node import Node
from webstrata.ports import CopySource
from webstrata.records import CopyRow, ReadBatch
from webstrata.settings import ByteSize, Settings
from webstrata.urls import surt
from webstrata.wanted_pages import WantedPages

NOW = 1_790_000_000.0
START_AT = 1_577_836_800.0
"""2020-01-01."""
PAGE = "http://foo.example/"
NAMES = ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]
Row = list[str]
Dialect = Literal["wayback", "text", "pywb", "pages"]
OpenSource = Callable[[Node], AbstractAsyncContextManager[CopySource]]


def capture(url: str, timestamp: str, digest: str, status: str = "200") -> Row:
    """A row of the index; a one-letter digest is extended."""
    return [surt(url), timestamp, url, "text/html", status, digest * (32 // len(digest)), "1234"]


def captures(count: int, url: str = PAGE) -> list[Row]:
    """So many captures of a page, an hour apart, with two contents in turn."""
    return [capture(url, digits14(START_AT + 3600 * number), "AB"[number % 2]) for number in range(count)]


class PlayedArchive:
    """Answers queries over rows. The `faults` are called in order for each request and may return another response."""

    def __init__(self, rows: list[Row], dialect: Dialect = "wayback", page_rows: int = 100) -> None:
        self.rows = rows
        self.faults: list[Callable[[Asked], Answer | None]] = []
        self.queries: list[dict[str, str]] = []
        self._dialect = dialect
        self._page_rows = page_rows

    def __call__(self, asked: Asked) -> Answer:
        query = {name: values[-1] for name, values in parse_qs(urlsplit(asked.target).query).items()}
        self.queries.append(query)
        for fault in self.faults:
            if (answer := fault(asked)) is not None:
                return answer
        return Answer(body=self._body(query).encode())

    def _body(self, query: dict[str, str]) -> str:
        rows = self._matching(query)
        limit = int(query.get("limit", 100_000))
        if self._dialect == "pages":
            if "showNumPages" in query:
                return json.dumps({"pages": -(-len(rows) // self._page_rows), "pageSize": 5})
            if "page" in query:
                start = int(query["page"]) * self._page_rows
                return _objects(rows[start : start + self._page_rows])
        if self._dialect in ("pywb", "pages"):
            return _objects(rows[:limit])
        if (key := query.get("resumeKey")) is not None:
            rows = [row for row in rows if f"{row[0]} {row[1]}" >= unquote_plus(key)]
        shown, more = rows[:limit], rows[limit:]
        key = quote_plus(f"{more[0][0]} {more[0][1]}") if more and query.get("showResumeKey") else ""
        if self._dialect == "text":
            return "".join(f"{' '.join(row)}\n" for row in shown) + (f"\n{key}\n" if key else "")
        if not shown:
            return "[]"
        return json.dumps([NAMES, *shown, *([[], [key]] if key else [])])

    def _matching(self, query: dict[str, str]) -> list[Row]:
        asked, match = surt(query["url"]), query.get("matchType")
        host = asked.partition(")")[0]
        starts = {"prefix": (asked.rstrip("/"),), "domain": (f"{host})", f"{host},")}.get(match or "")
        since, until = query.get("from", "0"), query.get("to", "9")
        return [
            row
            for row in self.rows
            if (row[0].startswith(starts) if starts is not None else row[0] == asked) and since <= row[1] <= until
        ]


def _objects(rows: list[Row]) -> str:
    names = ["urlkey", "timestamp", "url", "mime", "status", "digest", "length"]
    return "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)


class Importer:
    """A home, and imports into it. Every import opens everything again, like another process."""

    def __init__(self, folder: Path, max_body: int = 100 * 10**6) -> None:
        self.home, _ = Home.create(folder / "home")
        self.clock = JumpingClock(NOW)
        settings = Settings()
        hosts = {"other.example": "127.0.0.1"}
        fetch = msgspec.structs.replace(
            settings.fetch,
            allow_private=("127.0.0.0/8:*",),
            hosts=hosts,
            max_body=ByteSize(max_body),
            max_parsed=ByteSize(max_body),
        )
        self.node = Node(self.home, msgspec.structs.replace(settings, fetch=fetch), self.clock)

    def run(self, open_source: OpenSource, *, stop_after: int | None = None, restart: bool = False) -> ImportResult:
        """Import a source; `stop_after`: it ends with an error after so many batches, as if it was killed."""

        async def main() -> ImportResult:
            async with self.node.store() as store, open_source(self.node) as source:
                stopped = source if stop_after is None else _Stopped(source, stop_after)
                return await import_copies(store, stopped, self.clock.now(), wanted=WantedPages(), restart=restart)

        return asyncio.run(main())

    def copies(self, url: str) -> list[CopyRow]:
        """The stored copies of a page."""

        async def main() -> list[CopyRow]:
            async with self.node.store() as store:
                ids = await store.pages.known([url])
                return await store.copies.rows(list(ids.values()))

        return asyncio.run(main())


class Killed(Exception):  # noqa: N818 - it is the end of a test's import
    """The import was ended here."""


class _Stopped:
    """A source that ends the import after some batches."""

    def __init__(self, source: CopySource, batches: int) -> None:
        self._source = source
        self._batches = batches

    @property
    def key(self) -> str:
        return self._source.key

    async def batches(self, position: str = "") -> AsyncIterator[ReadBatch]:
        count = 0
        async for batch in self._source.batches(position):
            if count == self._batches:
                raise Killed
            yield batch
            count += 1
