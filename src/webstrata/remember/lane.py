"""One thread with one connection: transactions run in it one after the other, each tried again if that can help."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, OperationalError

from webstrata.errors import StoreError
from webstrata.ports import Clock
from webstrata.remember.faults import explained, is_transient

T = TypeVar("T")

_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 1.0


class Lane:
    """Runs functions of a connection, each as one transaction, in order.

    A transaction that met a passing fault (another writer, a deadlock, a server that restarts) is run again, as a
    whole and on a new connection if need be, for at most `patience_s`; so each must be harmless to repeat.
    """

    def __init__(self, engine: Engine, name: str, clock: Clock, patience_s: float) -> None:
        self._engine = engine
        self._clock = clock
        self._patience_s = patience_s
        self._connection: Connection | None = None
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"store-{name}")
        self._closed = False

    async def run(self, work: Callable[[Connection], T]) -> T:
        if self._closed:
            raise StoreError("the store is closed. Open it again.")
        with self._clock.working():
            return await asyncio.get_running_loop().run_in_executor(self._executor, self._persist, work)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        with self._clock.working():
            await asyncio.get_running_loop().run_in_executor(self._executor, self._disconnect)
        self._executor.shutdown()

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
