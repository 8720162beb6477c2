"""A function in a process with limits: its result, and what happens when a limit is reached."""

from __future__ import annotations

import os
import time

import pytest

from webstrata.flows.limited_process import ProcessLimitError, run_limited

MEGABYTE = 10**6


def _length(size: int) -> int:
    return len(bytearray(size))


def test_result() -> None:
    """The result is that of the function."""
    assert run_limited(_length, 10 * MEGABYTE, memory_bytes=500 * MEGABYTE) == 10 * MEGABYTE


def test_memory() -> None:
    """A function that needs more memory than allowed has no result."""
    with pytest.raises(ProcessLimitError):
        run_limited(_length, 2_000 * MEGABYTE, memory_bytes=500 * MEGABYTE)


def test_time() -> None:
    """A function that takes too long is ended."""
    started = time.monotonic()
    with pytest.raises(ProcessLimitError):
        run_limited(time.sleep, 300, limit_s=0.2)
    assert time.monotonic() - started < 100


def test_crash() -> None:
    """A process that ends by itself has no result."""
    with pytest.raises(ProcessLimitError):
        run_limited(os._exit, 1)
