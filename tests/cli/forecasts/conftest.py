"""A home with copies of pages in an archive, at times before now."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.conftest import Call
from webstrata.cli.session import open_node
from webstrata.clock import DAY_S
from webstrata.columns import COPY_LINK, LinkKind
from webstrata.records import ArchivedCopy, NewPage
from webstrata.urls import host_of


def copies_of(url: str, now: float, days_ago: Sequence[float], digests: str, **more: Any) -> list[ArchivedCopy]:
    """One copy of a page for each letter of `digests`."""
    return [
        ArchivedCopy(url=url, at=now - day * DAY_S, archive="old.example", digest=f"sha1:{letter}", **more)
        for day, letter in zip(days_ago, digests, strict=True)
    ]


def links(*values: tuple[int, LinkKind]) -> bytes:
    """Packed links of a content."""
    return np.array(list(values), dtype=COPY_LINK).tobytes()


def add_to(home: Path, copies: Sequence[ArchivedCopy], watched: Sequence[str] = ()) -> None:
    """Add copies to a home, and watch pages of it."""

    async def add() -> None:
        node = open_node(home)
        async with node.store() as store:
            if copies:
                await store.copies.add(copies, None, time.time())
            if watched:
                await store.pages.add([NewPage(url=url, host=host_of(url)) for url in watched], time.time())

    asyncio.run(add())


FAST, SLOW, STILL, ONCE = (f"https://example.org/{name}" for name in ("fast", "slow", "still", "once"))


@pytest.fixture
def archived(home: Path, call: Call) -> Path:
    """Weekly copies of a page that changes each time, of one that changed once, and of one that never did; one copy of
    a fourth."""
    now = time.time()
    weeks = [70 - 7 * number - 3.5 for number in range(10)]
    copies = [
        *copies_of(FAST, now, weeks, "abcdefghij"),
        *copies_of(SLOW, now, weeks, "aaaabbbbbb"),
        *copies_of(STILL, now, weeks, "aaaaaaaaaa"),
        *copies_of(ONCE, now, [20.0], "a"),
    ]
    add_to(home, copies)
    return home
