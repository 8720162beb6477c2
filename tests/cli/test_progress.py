"""Bars of long work: on a terminal, nowhere else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

SHOW = """
from webstrata.cli.output import bar
with bar("reading the archive", 1000) as moved:
    for _ in range(10):
        moved(100)
print("done")
"""


def test_a_terminal_sees_the_bar() -> None:
    """On a terminal the work has a name and ends at all of its bytes."""
    ours, theirs = pty.openpty()
    shown = subprocess.Popen([sys.executable, "-c", SHOW], stderr=theirs, stdout=subprocess.PIPE)
    os.close(theirs)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # Linux says so when the other end is closed
            break
        if not piece:
            break
        seen += piece
    out, _ = shown.communicate(timeout=60)
    os.close(ours)
    assert out == b"done\n"
    assert b"reading the archive" in seen
    assert b"1.0/1.0 kB" in seen


def test_a_pipe_sees_nothing() -> None:
    """In a pipe stderr stays empty."""
    shown = subprocess.run([sys.executable, "-c", SHOW], capture_output=True, timeout=60, check=True)
    assert shown.stdout == b"done\n"
    assert shown.stderr == b""
