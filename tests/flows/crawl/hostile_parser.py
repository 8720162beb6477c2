"""A parser that some contents end or block. Each parser process imports this module, and not the tests."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence

from webstrata.flows.crawl.parse import ParsedContent, ParseJob, parse_content

DEADLY = b"<p>deadly"
ENDLESS = b"<p>endless"
GREEDY = b"<p>greedy"
FAULTY = b"<p>faulty"


def parse_hostile(jobs: Sequence[ParseJob]) -> list[ParsedContent]:
    """A parser that some bodies end, or block as native code would: only the end of the process stops it."""
    for job in jobs:
        if job.body == DEADLY:
            os._exit(11)
        if job.body == ENDLESS:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT, signal.SIGALRM})
            while True:
                time.sleep(60)
        if job.body == GREEDY:
            bytearray(10 * 1024**3)
        if job.body == FAULTY:
            raise ZeroDivisionError("an error in the parser")
    return parse_content(jobs)
