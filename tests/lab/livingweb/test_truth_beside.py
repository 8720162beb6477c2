"""The truth from another process is the truth."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from webstrata.clock import DAY_S
from webstrata.lab.livingweb.recording import SHIPPED_WINDOW, Recording, load_shipped
from webstrata.lab.livingweb.truth import what_happened
from webstrata.lab.livingweb.truth_process import TruthProcess

START_AT = SHIPPED_WINDOW[0]
END_AT = START_AT + 20 * DAY_S


def load_in_vain() -> list[Recording]:
    """Ends the process that was started for it, and only that one."""
    if os.environ.get("ASKED_BY") != str(os.getpid()):
        os._exit(3)
    return load_shipped()


def test_told_as_here() -> None:
    """Another process tells, change by change, what this one would have found out."""
    recordings = load_shipped()
    only = [recording.url(path) for recording in recordings[:3] for path in recording.pages]

    with TruthProcess(load_shipped, START_AT, END_AT, only=only) as truth:
        told = truth.told()

    assert told == what_happened(recordings, START_AT, END_AT, only=set(only))
    assert told


def test_ended_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the other process is no more, the truth is found out here."""
    monkeypatch.setenv("ASKED_BY", str(os.getpid()))
    only = [load_shipped()[0].url(path) for path in load_shipped()[0].pages]

    with TruthProcess(load_in_vain, START_AT, END_AT, only=only) as truth:
        assert truth.told() == what_happened(load_shipped(), START_AT, END_AT, only=set(only))


@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are counted in /proc")
def test_nobody_waits() -> None:
    """Who leaves before the truth is known leaves no process behind."""
    with TruthProcess(load_shipped, *SHIPPED_WINDOW, only=()) as truth:
        other = truth.pid
        assert Path(f"/proc/{other}").exists()

    assert not Path(f"/proc/{other}").exists()
