"""`RequestTime`: the time limits of one request and its redirects."""

from __future__ import annotations

from webstrata.records import Failure, FailureKind


class RequestTime:
    """The time that a request and its redirects may take: seconds of all exchanges, and an end by the clock."""

    def __init__(self, *, began_at: float, total_s: float, ends_at: float) -> None:
        self._began_at = began_at
        self._total_s = total_s
        self.left_s = total_s
        self.ends_at = ends_at
        self.has_sent = False
        """One of its requests left this machine."""

    def shift(self, seconds: float) -> None:
        """The clock was set by so much."""
        self._began_at += seconds
        self.ends_at += seconds

    def problem(self, now: float) -> Failure | None:
        """The failure of a request that would start now; None if there is time left."""
        if now < self.ends_at and self.left_s > 0:
            return None
        limit_s = self._total_s if self.left_s <= 0 else self.ends_at - self._began_at
        return Failure(kind=FailureKind.TIMEOUT_TOTAL, detail=f"the visit took longer than {limit_s:.0f} s")
