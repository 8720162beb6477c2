"""Example records for the contracts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from msgspec.structs import replace

from webstrata.ports import Store
from webstrata.records import FinishedVisit, NewPage, Outcome, Page, Position, Visit

Check = Callable[[Store], Awaitable[None]]
T = TypeVar("T")

NOW = 1_800_000_000.123456
DAY = int(NOW // 86_400)


def new(name: str, **fields: object) -> NewPage:
    return replace(NewPage(url=f"https://a.example/{name}", host="a.example"), **fields)


def position(number: int) -> Position:
    return Position(file="one.warc.gz", offset=number, length=7, record_id=f"<urn:uuid:{number}>")


def visit_of(page: Page, at: float = NOW, **fields: object) -> Visit:
    return replace(Visit(page_id=page.id, url=page.url, at=at, outcome=Outcome.SAME, status=200, bytes=10), **fields)


def entry_of(page: Page, at: float = NOW, next_at: float | None = NOW + 100, **fields: object) -> FinishedVisit:
    seen = replace(page, next_at=next_at, visits=page.visits + 1, last_visit_at=at)
    return FinishedVisit(page=seen, visit=visit_of(page, at, **fields))


async def all_of(source: AsyncIterator[T]) -> list[T]:
    return [item async for item in source]


async def page_of(store: Store, name: str) -> Page:
    page = await store.pages.get(f"https://a.example/{name}")
    assert page is not None, name
    return page
