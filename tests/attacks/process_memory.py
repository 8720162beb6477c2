"""`MemorySampler`: the resident memory of a process and of its descendants, sampled from /proc."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

INTERVAL_S = 0.2
_PAGE = os.sysconf("SC_PAGE_SIZE")


class MemorySampler:
    """Samples in a thread, as `with MemorySampler(pid_of) as memory:`. Sizes are in bytes."""

    def __init__(self, pid_of: Callable[[], int]) -> None:
        """`pid_of` returns the process: it may be killed and started again."""
        self._pid_of = pid_of
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.main_peak = 0
        """Of the process itself, by the kernel's own high-water mark."""
        self.others_peak = 0
        """Of all descendants together, in one sample."""
        self.total_peak = 0
        """Of the process and its descendants together, in one sample."""

    def __enter__(self) -> MemorySampler:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(INTERVAL_S):
            process = self._pid_of()
            main = _resident(process)
            others = sum(_resident(pid) for pid in descendants(process))
            self.main_peak = max(self.main_peak, main, _high_water(process))
            self.others_peak = max(self.others_peak, others)
            self.total_peak = max(self.total_peak, main + others)


def descendants(pid: int) -> list[int]:
    """The processes that a process and its descendants started."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                parents.setdefault(parent, []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _high_water(pid: int) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0
