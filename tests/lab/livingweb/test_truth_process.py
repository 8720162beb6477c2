"""The true changes computed in another process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from webstrata.clock import DAY_S
from webstrata.lab.livingweb.recording import SHIPPED_WINDOW, Recording, load_shipped
from webstrata.lab.livingweb.truth import TruthProcess, what_happened

START_AT = SHIPPED_WINDOW[0]
END_AT = START_AT + 20 * DAY_S


def load_or_exit() -> list[Recording]:
    """Ends the process, unless it is the one that runs the test."""
    if os.environ.get("TEST_PID") != str(os.getpid()):
        os._exit(3)
    return load_shipped()


def test_same_result() -> None:
    """The other process returns the same changes that this one computes."""
    recordings = load_shipped()
    only = [recording.url(path) for recording in recordings[:3] for path in recording.pages]

    with TruthProcess(load_shipped, START_AT, END_AT, only=only) as truth:
        changes = truth.result()

    assert changes == what_happened(recordings, START_AT, END_AT, only=set(only))
    assert changes


def test_process_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the other process has ended without a result, this one computes it."""
    monkeypatch.setenv("TEST_PID", str(os.getpid()))
    only = [load_shipped()[0].url(path) for path in load_shipped()[0].pages]

    with TruthProcess(load_or_exit, START_AT, END_AT, only=only) as truth:
        assert truth.result() == what_happened(load_shipped(), START_AT, END_AT, only=set(only))


@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are counted in /proc")
def test_leaving_early_ends_the_process() -> None:
    """After the block, the process is ended even if it had no result yet."""
    with TruthProcess(load_shipped, *SHIPPED_WINDOW, only=()) as truth:
        other = truth.pid
        assert Path(f"/proc/{other}").exists()

    assert not Path(f"/proc/{other}").exists()
