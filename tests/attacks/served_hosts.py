"""`serving`: the process with all hosts, for as long as a block runs."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from tests.attacks.crawler import ROOT, environment
from tests.attacks.events import Places

START_S = 120.0
"""Longest wait for the process: it makes large contents first."""


@contextmanager
def serving(folder: Path) -> Iterator[Places]:
    """Start the process; its events are written to the folder (`events.read_events`)."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.attacks.server", str(folder)], stdin=subprocess.PIPE, cwd=ROOT, env=environment()
    ) as process:
        try:
            yield _places(folder, process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _places(folder: Path, process: subprocess.Popen[bytes]) -> Places:
    deadline = time.monotonic() + START_S
    file = folder / "places.json"
    while not file.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("the process with the hosts did not start")
        time.sleep(0.05)
    return msgspec.json.decode(file.read_bytes(), type=Places)
