"""One thread with one connection: transactions run in it one after the other, each tried again if that can help."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, OperationalError

from webstrata.errors import StoreError
from webstrata.ports import Clock
from webstrata.remember.faults import explained, is_transient

T = TypeVar("T")

_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 1.0


_Asked = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[[], Any]]


def _work_off(asked: SimpleQueue[_Asked | None]) -> None:
    """In the thread: one after the other, until there is no more to come."""
    while (one := asked.get()) is not None:
        loop, answer, work = one
        if answer.cancelled():  # given up before its turn came
            continue
        try:
            told = (answer.set_result, work())
        except BaseException as error:  # a border: whoever asked gets it
            told = (answer.set_exception, error)
        with suppress(RuntimeError):  # the loop was closed: nobody waits any more
            loop.call_soon_threadsafe(_tell, answer, *told)
        del one, answer, work, told  # what was asked for is not kept until the next question


def _tell(answer: asyncio.Future[Any], tell: Callable[[Any], None], what: Any) -> None:
    if not answer.done():  # cancelled: nobody waits any more
        tell(what)


class DbThread:
    """Runs functions of a connection, each as one transaction, in order.

    A transaction that met a passing fault (another writer, a deadlock, a server that restarts) is run again, as a
    whole and on a new connection if need be, for at most `patience_s`; so each must be harmless to repeat.
    """

    def __init__(self, engine: Engine, name: str, clock: Clock, patience_s: float) -> None:
        self._engine = engine
        self._clock = clock
        self._patience_s = patience_s
        self._connection: Connection | None = None
        self._asked: SimpleQueue[_Asked | None] = SimpleQueue()
        self._thread = Thread(target=_work_off, args=(self._asked,), name=f"store-{name}", daemon=True)
        self._thread.start()
        self._closed = False

    async def run(self, work: Callable[[Connection], T]) -> T:
        if self._closed:
            raise StoreError("the store is closed. Open it again.")
        return await self._in_thread(lambda: self._persist(work))

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        await self._in_thread(self._disconnect)
        self._asked.put(None)
        self._thread.join()

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """What an executor would do, at half its price: a round of the loop comes here a dozen times."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        with self._clock.working():
            self._asked.put((loop, answer, work))
            return await answer

    def _persist(self, work: Callable[[Connection], T]) -> T:
        start, pause_s = time.monotonic(), _FIRST_PAUSE_S
        while True:
            try:
                return self._transact(work)
            except DBAPIError as error:
                tried_s = time.monotonic() - start
                if isinstance(error, OperationalError) or error.connection_invalidated:
                    self._disconnect()
                if not is_transient(error) or tried_s + pause_s > self._patience_s:
                    raise explained(error, self._engine.url.render_as_string(), tried_s) from error
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _transact(self, work: Callable[[Connection], T]) -> T:
        if self._connection is None:
            self._connection = self._engine.connect()
        with self._connection.begin():
            return work(self._connection)

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            connection.close()
        except DBAPIError:
            connection.invalidate()  # it was lost already; the new one starts clean
