"""Roles of the store: an operation is a function of a connection, run as one transaction in a database thread."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from msgspec import Struct
from sqlalchemy import Connection

from webstrata.ports import Clock
from webstrata.remember.db_thread import DbThread

P = ParamSpec("P")
T = TypeVar("T")


class Database(Struct, frozen=True, kw_only=True):
    """The two threads of a database: writes run one after the other; reads never wait for them."""

    writer: DbThread
    reader: DbThread
    clock: Clock


class Role:
    """Base of the role classes in `store.py`."""

    def __init__(self, database: Database) -> None:
        self.database = database


class _Operation(Generic[P, T]):
    """A function of a connection as an async method of a role.

    A transaction may run more than once (see `DbThread`), so its arguments must not be iterators.
    """

    def __init__(self, function: Callable[Concatenate[Connection, P], T], *, writes: bool) -> None:
        self._function = function
        self._writes = writes

    def __get__(self, role: Role, owner: type[Role]) -> Callable[P, Coroutine[Any, Any, T]]:
        thread = role.database.writer if self._writes else role.database.reader

        def run(*args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
            return thread.run(lambda connection: self._function(connection, *args, **kwargs))

        return run


def reads(function: Callable[Concatenate[Connection, P], T]) -> _Operation[P, T]:
    """An operation in the reader thread."""
    return _Operation(function, writes=False)


def writes(function: Callable[Concatenate[Connection, P], T]) -> _Operation[P, T]:
    """An operation in the writer thread."""
    return _Operation(function, writes=True)
