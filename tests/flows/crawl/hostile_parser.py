"""A parser that some contents end or block. Each parser process imports this module, and not the tests."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

from webstrata.flows.crawl.parse import ParseJob
from webstrata.flows.parsers.tasks import BytesTask, Task, run_task

DEADLY = b"<p>deadly"
ENDLESS = b"<p>endless"
BUSY = b"<p>busy"
GREEDY = b"<p>greedy"
FAULTY = b"<p>faulty"
LARGE = b"<p>large"
UNDECODABLE = b"<p>undecodable"


def run_hostile(task: Task) -> Any:
    """A parser that some bodies end, or block as native code would: only the end of the process stops it."""
    if task.body.startswith(UNDECODABLE):
        os._exit(11)
    if isinstance(task, BytesTask):
        return run_task(task)
    if task.body.startswith(DEADLY):
        os._exit(11)
    if task.body.startswith(ENDLESS):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT, signal.SIGALRM})
        while True:
            time.sleep(60)
    if task.body.startswith(BUSY):
        while True:
            pass
    if task.body.startswith(GREEDY):
        bytearray(10 * 1024**3)
    if task.body.startswith(FAULTY):
        raise ZeroDivisionError("an error in the parser")
    if task.body.startswith(LARGE) and isinstance(task, ParseJob):
        return bytes(50_000_000)
    return run_task(task)


def run_never(task: Task) -> Any:
    """A parser that must not be reached."""
    raise AssertionError(task)
