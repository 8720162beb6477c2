"""The stopwatch that each contender uses. It imports only the standard library, because environments differ."""

from __future__ import annotations

import json
import os
import time


class Stopwatch:
    """Counts finished pages. The rate excludes the time before the first of them: start-up is a separate figure."""

    def __init__(self) -> None:
        self._first_at = 0.0
        self._first_count = 0
        self._count = 0
        self._last_at = 0.0
        self._cpu_s = 0.0

    def finished(self, pages: int = 1) -> None:
        self._last_at = time.perf_counter()
        if not self._count:
            self._first_at, self._first_count = self._last_at, pages
            self._cpu_s = time.process_time()
        self._count += pages

    def report(self, **more: float) -> None:
        """Print the measurements as one line of JSON."""
        times = os.times()
        counted = max(self._count - self._first_count, 1)
        print(
            json.dumps(
                {
                    "pages": self._count,
                    "per_s": counted / max(self._last_at - self._first_at, 1e-9),
                    "cpu_us_per_page": 1e6 * (time.process_time() - self._cpu_s) / counted,
                    "cpu_s": times.user + times.system,
                    "children_cpu_s": times.children_user + times.children_system,
                    **more,
                }
            )
        )
