"""When to try again after visits that saw nothing."""

from __future__ import annotations

import zlib

FIRST_S = 300.0
"""Wait after the first failure."""
_LARGEST_DOUBLING = 30  # beyond, the interval has long been the smaller one


def retry_after_s(failures: int, interval_s: float, key: str) -> float:
    """Seconds until the next try after `failures` failed visits in a row.

    Doubles from five minutes up to the page's own interval: a failing page is never asked more often than that in
    the long run. Shortened by up to a quarter, by `key` (the page's URL), so that the pages of a host that was down
    do not all come back at once; the same page after the same failures always waits the same.
    """
    doublings = min(max(failures, 1) - 1, _LARGEST_DOUBLING)
    wait_s = min(FIRST_S * 2.0**doublings, max(interval_s, 0.0))
    share = zlib.crc32(f"{failures} {key}".encode("utf-8", "replace")) / 2**32
    return wait_s * (1 - share / 4)
