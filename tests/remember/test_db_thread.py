"""One thread for one connection: order, errors, and what nobody waits for any more."""

from __future__ import annotations

import asyncio
import threading

import pytest
from sqlalchemy import Connection, create_engine, text

from webstrata.clock import RealClock
from webstrata.errors import StoreError
from webstrata.remember.db_thread import DbThread


def lane() -> DbThread:
    return DbThread(create_engine("sqlite://"), "test", RealClock(), patience_s=1.0)


def one(connection: Connection) -> int:
    return int(connection.execute(text("SELECT 1")).scalar_one())


def test_answers_and_errors_reach_who_asked() -> None:
    """Each gets its own answer or its own error, and an error ends nothing."""

    def broken(connection: Connection) -> int:
        raise KeyError("mine")

    async def ask() -> tuple[object, object, object]:
        asked = lane()
        try:
            return await asyncio.gather(asked.run(one), asked.run(broken), asked.run(one), return_exceptions=True)
        finally:
            await asked.close()

    first, error, last = asyncio.run(ask())

    assert (first, last) == (1, 1)
    assert isinstance(error, KeyError)


def test_given_up_before_its_turn() -> None:
    """What was given up while another transaction ran is not begun; what comes after it is."""
    begun, go_on = threading.Event(), threading.Event()
    done: list[str] = []

    def slow(connection: Connection) -> None:
        begun.set()
        assert go_on.wait(30)
        done.append("slow")

    async def ask() -> None:
        asked = lane()
        first = asyncio.create_task(asked.run(slow))
        assert await asyncio.to_thread(begun.wait, 30)
        second = asyncio.create_task(asked.run(lambda connection: done.append("second")))
        third = asyncio.create_task(asked.run(lambda connection: done.append("third")))
        await asyncio.sleep(0.01)
        second.cancel()
        await asyncio.sleep(0.01)
        go_on.set()
        await asyncio.gather(first, third)
        await asked.close()

    asyncio.run(ask())

    assert done == ["slow", "third"]


def test_closed() -> None:
    """A closed lane has no thread any more and says so to who asks."""

    async def ask() -> None:
        asked = lane()
        assert await asked.run(one) == 1
        await asked.close()
        await asked.close()
        assert "store-test" not in {thread.name for thread in threading.enumerate()}
        with pytest.raises(StoreError, match="closed"):
            await asked.run(one)

    asyncio.run(ask())
