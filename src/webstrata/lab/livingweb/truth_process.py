"""The truth, found out by another process while the loop lives through the same time: it reads every version that was
ever published, which takes as long as a good part of the living."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from types import TracebackType

import msgspec

from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.livingweb.truth import TrueChange, what_happened

Load = Callable[[], list[Recording]]
"""A function of a module: the other process reads the recordings itself."""

_MODEST = 10
"""Priority given up: whoever lives by the clock goes first."""


class TruthProcess:
    """`with TruthProcess(load_shipped, start_at, end_at, only=urls) as truth:` live, then ask for `truth.told()`."""

    def __init__(self, load: Load, start_at: float, end_at: float, *, only: Sequence[str]) -> None:
        self._asked = (load, start_at, end_at, tuple(only))
        self._answer, theirs = multiprocessing.Pipe(duplex=False)
        self._process = multiprocessing.get_context("spawn").Process(
            target=_tell, args=(theirs, *self._asked), name="webstrata-truth", daemon=True
        )
        self._process.start()
        theirs.close()

    @property
    def pid(self) -> int | None:
        """Of the other process."""
        return self._process.pid

    def told(self) -> list[TrueChange]:
        """All changes, as `what_happened` tells them by the loop's own eyes; waits until they are known."""
        try:
            return msgspec.msgpack.decode(self._answer.recv_bytes(), type=list[TrueChange])
        except EOFError:  # it was ended from outside: so it takes longer
            return _truth(*self._asked)

    def __enter__(self) -> TruthProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._answer.close()
        self._process.kill()
        self._process.join()
        self._process.close()


def _truth(load: Load, start_at: float, end_at: float, only: Sequence[str]) -> list[TrueChange]:
    return what_happened(load(), start_at, end_at, only=frozenset(only))


def _tell(answer: Connection, load: Load, start_at: float, end_at: float, only: Sequence[str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asked
    os.nice(_MODEST)
    answer.send_bytes(msgspec.msgpack.encode(_truth(load, start_at, end_at, only)))
