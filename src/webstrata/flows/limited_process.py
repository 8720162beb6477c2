"""Runs a function in a process with limits of memory and time: for single contents that native code parses.

The crawl parses contents in a pool of processes (`flows/parsers/parser_pool.py`). A command that compares two documents
needs one process for a moment.
"""

from __future__ import annotations

import multiprocessing
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from webstrata.flows.parsers.child import TooLittleMemoryError, set_process_limits

LIMIT_S = 30.0
MEMORY_BYTES = 2 * 2**30
"""For two contents and their differences."""

T = TypeVar("T")


class ProcessLimitError(Exception):
    """The process took too long, needed too much memory or ended by itself."""


def run_limited(
    function: Callable[..., T], *arguments: Any, limit_s: float = LIMIT_S, memory_bytes: int = MEMORY_BYTES
) -> T:
    """The result of a function of a module, which must be picklable, as its arguments. Raises ProcessLimitError."""
    receiving, sending = multiprocessing.Pipe(duplex=False)
    # A forked process starts faster, but must not inherit the locks of other threads.
    may_fork = sys.platform == "linux" and threading.active_count() == 1
    context = multiprocessing.get_context("fork" if may_fork else "spawn")
    process = context.Process(target=_serve, args=(sending, function, arguments, memory_bytes), daemon=True)  # type: ignore[attr-defined]
    with warnings.catch_warnings():  # Python 3.12 warns of NumPy's idle threads
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    sending.close()
    try:
        if not receiving.poll(limit_s):
            raise ProcessLimitError
        results: list[T] = receiving.recv()
    except EOFError:
        raise ProcessLimitError from None
    finally:
        receiving.close()
        process.kill()
        process.join()
        process.close()
    if not results:
        raise ProcessLimitError
    return results[0]


def _serve(sending: Connection, function: Callable[..., Any], arguments: tuple[Any, ...], memory_bytes: int) -> None:
    """In the process: send a list with the result; an empty list if the memory is used up."""
    results = []
    with suppress(MemoryError, TooLittleMemoryError):
        set_process_limits(memory_bytes)
        results.append(function(*arguments))
    sending.send(results)
