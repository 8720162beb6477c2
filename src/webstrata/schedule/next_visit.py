"""The next visit of a page: input and output of a schedule, and the retry after a failed visit."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence

from msgspec import Struct

from webstrata.clock import DAY_S, span
from webstrata.records import Page, PageSummary

FIRST_RETRY_S = 300.0
"""Wait after the first failure."""
_LARGEST_DOUBLING = 30
"""After so many doublings the page's interval is always the smaller of the two."""


class SeenPage(Struct, frozen=True, kw_only=True):
    """A page whose visit returned content, or that the page is gone; and whether that counts as a change."""

    page: Page
    """As it was before the visit."""
    at: float
    changed: bool
    copy_changed: bool | None = None
    """At the first visit of a page whose copies in archives were learned: whether it differs from the last copy; None:
    they cannot be compared."""
    features: Mapping[str, float] = {}
    """The static features of the content, at a first visit."""
    full_bytes: int | None = None
    answers_304: bool = False
    """The page's values after the visit, for budgets in bytes."""


class NextVisit(Struct, frozen=True, kw_only=True):
    """The page's schedule after a visit."""

    next_at: float
    interval_s: float
    policy: str
    policy_state: bytes
    reason: str


def retry(
    page: Page, at: float, why: str, again_at: float | None, *, interval_s: float, policy: str, policy_state: bytes
) -> NextVisit:
    """The visit after a failed one, not before `again_at`. The policy learns nothing from a failed visit."""
    wait_s = max(retry_after_s(page.failures + 1, interval_s, page.url), (again_at or at) - at)
    return NextVisit(
        next_at=at + wait_s,
        interval_s=interval_s,
        policy=policy,
        policy_state=policy_state,
        reason=f"try {page.failures + 1} failed ({why}); again after {span(wait_s)}",
    )


def retry_after_s(failures: int, interval_s: float, key: str) -> float:
    """Seconds until the next try after `failures` failed visits in a row.

    The wait doubles from five minutes up to the page's own interval, so that in the long run a failing page is not
    requested more often than before. It is shortened by up to a quarter, depending on `key` (the page's URL), so that
    the pages of a host that was down do not all return at once. The same key and number always give the same wait.
    """
    doublings = min(max(failures, 1) - 1, _LARGEST_DOUBLING)
    wait_s = min(FIRST_RETRY_S * 2.0**doublings, max(interval_s, 0.0))
    share = zlib.crc32(f"{failures} {key}".encode("utf-8", "replace")) / 2**32
    return wait_s * (1 - share / 4)


def past_unchanged(pages: Sequence[Page | PageSummary], until: Sequence[float]) -> list[float]:
    """Probability that pages did not change from their last visit until then, from the mean rate of their changes so
    far: the expectation for policies without a forecast."""
    from webstrata.predict.prior import ANY_PAGE

    chances = []
    for page, at in zip(pages, until, strict=True):
        seen_at = page.last_seen_at or at
        watched_days = max(seen_at - page.added_at, 0.0) / DAY_S
        rate = (page.changes + ANY_PAGE.shape) / (watched_days + ANY_PAGE.days)
        chances.append(math.exp(-rate * max(at - seen_at, 0.0) / DAY_S))
    return chances
