"""A thread with one database connection that runs transactions in order and retries transient errors."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine
from sqlalchemy.exc import DBAPIError, OperationalError

from webstrata.errors import DamagedStore, StoreError
from webstrata.masking import masked, masked_url
from webstrata.ports import Clock

_SQLITE_TRANSIENT = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_SQLITE_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_SQLITE_UNDEFINED = ("no such table", "no such column")

# Serialization failure, deadlock, lock and statement timeouts, too many connections, server going down or up.
_POSTGRES_TRANSIENT = {"40001", "40P01", "55P03", "57014", "53300", "57P01", "57P02", "57P03"}
_POSTGRES_FULL = {"53100"}
# An undefined table or column, corrupted data or index.
_POSTGRES_DAMAGED = {"42P01", "42703", "XX001", "XX002"}
_STARTING_OR_STOPPING = ("starting up", "shutting down", "recovery mode", "too many clients")


def is_transient(error: DBAPIError) -> bool:
    """Whether the same transaction may succeed if it is retried."""
    if error.connection_invalidated:
        return True
    if isinstance(error.orig, sqlite3.Error):
        return _sqlite_code(error.orig) in _SQLITE_TRANSIENT
    state = getattr(error.orig, "sqlstate", None)
    if state is not None:
        return state in _POSTGRES_TRANSIENT or state.startswith("08")
    return _is_lost_connection(str(error.orig))


def shown(url: URL) -> str:
    """The URL of a database for messages: SQLAlchemy hides a password in the user part, but not one in the query."""
    return masked_url(url.render_as_string())


def explained(error: DBAPIError, where: str, tried_s: float) -> StoreError:
    """The error message for users; `where` names the database without its password."""
    cause = masked(str(error.orig).strip().partition("\n")[0])
    if isinstance(error.orig, sqlite3.Error):
        code = _sqlite_code(error.orig)
        if code in _SQLITE_DAMAGED or cause.startswith(_SQLITE_UNDEFINED):
            return damaged(cause, where)
        return StoreError(_sqlite_text(code, cause, where, tried_s))
    if getattr(error.orig, "sqlstate", None) in _POSTGRES_FULL:
        return StoreError(f"no space left for the database {where} ({cause}). Free some, then start again.")
    if getattr(error.orig, "sqlstate", None) in _POSTGRES_DAMAGED:
        return DamagedStore(
            f"the database {where} is damaged ({cause})",
            "The archive is not affected. Restore a backup, or move what is left away (ALTER SCHEMA … RENAME TO …) and "
            "run `webstrata rebuild`, which makes the database again from the WARC files.",
        )
    if is_transient(error):
        what = f"did not answer for {tried_s:.0f} s" if tried_s else "cannot be reached"
        return StoreError(
            f"the database {where} {what} ({cause}). Nothing half-written is kept. Check that the server is running "
            "and reachable, then start again."
        )
    return StoreError(
        f"the database {where} refused: {cause}. Check its address, user and permissions in the settings."
    )


def unreadable(error: UnicodeDecodeError, where: str) -> DamagedStore:
    """The error message if not even the message of the engine is text: it names a definition that was changed."""
    return damaged(f"a name is not UTF-8: {error.object!r:.100}", where)


def damaged(cause: str, where: str) -> DamagedStore:
    """The error message for a damaged SQLite database; the cause may quote bytes of it."""
    shown = "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in cause)
    return DamagedStore(
        f"the database {where} is damaged ({shown})",
        "The archive is not affected. Stop every webstrata process, then restore a backup, or run `webstrata rebuild "
        "--replace`: it makes the database again from the WARC files and keeps the damaged file under another name.",
    )


def _sqlite_code(error: Any) -> int:
    # The low byte is the error class, the rest the detail. Errors raised by Python itself have no code.
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def _sqlite_text(code: int, cause: str, where: str, tried_s: float) -> str:
    if code in _SQLITE_TRANSIENT:
        return (
            f"the database {where} was locked by another process for {tried_s:.0f} s ({cause}). "
            "Stop the other process, or wait until it is done."
        )
    if code == sqlite3.SQLITE_FULL:
        return f"no space left for the database {where} ({cause}). Free some, then start again."
    if code == sqlite3.SQLITE_READONLY:
        return (
            f"the database {where} is read-only, and this command changes it. Make the file and its folder writable, "
            "or copy the home to another folder and name the copy with --home."
        )
    if code in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}:
        return f"the database {where} cannot be opened for writing ({cause}). Check that its folder is writable."
    return f"the database {where} failed ({cause}). Check the disk and the permissions of the file, then start again."


def _is_lost_connection(cause: str) -> bool:
    """Whether an error without a code means a lost connection: all except a refusal by the server."""
    return "FATAL" not in cause or any(phrase in cause for phrase in _STARTING_OR_STOPPING)


T = TypeVar("T")

_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 1.0


def with_retries(
    work: Callable[[], T],
    where: str,
    patience_s: float,
    on_error: Callable[[DBAPIError], object] = lambda error: None,
) -> T:
    """Run `work` again after transient errors for at most `patience_s`; other errors are explained to users.

    `where` names the database without its password.
    """
    start, pause_s = time.monotonic(), _FIRST_PAUSE_S
    while True:
        try:
            return work()
        except DBAPIError as error:
            tried_s = time.monotonic() - start
            on_error(error)
            if not is_transient(error) or tried_s + pause_s > patience_s:
                raise explained(error, where, tried_s if patience_s else 0.0) from error
        except UnicodeDecodeError as error:
            raise unreadable(error, where) from error
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


_Job = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[[], Any]]


def _run_jobs(jobs: SimpleQueue[_Job | None]) -> None:
    """The thread's main loop: run jobs in order until None arrives."""
    while (job := jobs.get()) is not None:
        loop, future, work = job
        if future.cancelled():
            continue
        try:
            outcome = (future.set_result, work())
        except BaseException as error:  # passed on to the coroutine that waits
            outcome = (future.set_exception, error)
        with suppress(RuntimeError):  # the event loop was closed meanwhile
            loop.call_soon_threadsafe(_resolve, future, *outcome)
        del job, future, work, outcome  # release the result before waiting for the next job


def _resolve(future: asyncio.Future[Any], resolve: Callable[[Any], None], value: Any) -> None:
    if not future.done():  # it may have been cancelled
        resolve(value)


class DbThread:
    """Runs functions of a connection, each as one transaction, in order.

    A transaction that fails with a transient error (another writer, a deadlock, a restarting server) is run again as a
    whole, on a new connection if needed, for at most `patience_s`. So every transaction must be safe to repeat.
    """

    def __init__(self, engine: Engine, name: str, clock: Clock, patience_s: float) -> None:
        self._engine = engine
        self._clock = clock
        self._patience_s = patience_s
        self._connection: Connection | None = None
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread = Thread(target=_run_jobs, args=(self._jobs,), name=f"store-{name}", daemon=True)
        self._thread.start()
        self._closed = False

    async def run(self, work: Callable[[Connection], T]) -> T:
        if self._closed:
            raise StoreError("the store is closed. Open it again.")
        return await self._in_thread(lambda: self._with_retries(work))

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        await self._in_thread(self._disconnect)
        self._jobs.put(None)
        self._thread.join()

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """Like `run_in_executor`, at half its cost: one round of the crawl loop does this a dozen times."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        with self._clock.working():
            self._jobs.put((loop, future, work))
            return await future

    def _with_retries(self, work: Callable[[Connection], T]) -> T:
        return with_retries(lambda: self._transact(work), shown(self._engine.url), self._patience_s, self._after)

    def _after(self, error: DBAPIError) -> None:
        """Give up a connection that may be lost."""
        if isinstance(error, OperationalError) or error.connection_invalidated:
            self._disconnect()

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
            connection.invalidate()  # the connection is lost already
