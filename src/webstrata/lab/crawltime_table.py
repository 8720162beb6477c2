"""Datamonitor's Table 3: by how much crawls of some length were over- and under-estimated, and how many of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

GROUPS: tuple[tuple[str, float, float], ...] = (
    ("t < 30min", 0.0, 1800.0),
    ("30min < t < 60min", 1800.0, 3600.0),
    ("60min < t < 120min", 3600.0, 7200.0),
    ("120min < t < 180min", 7200.0, 10800.0),
    ("180min < t < 240min", 10800.0, 14400.0),
    ("t > 240min", 14400.0, float("inf")),
)
ALL = "all"
CLOSE = 0.1


class CrawlTimeRow(Struct, frozen=True, kw_only=True):
    """One group of one estimator. Over and under are mean shares of the actual time (0.78 is 78 %)."""

    estimator: str
    group: str
    over: float | None
    over_crawls: int
    under: float | None
    under_crawls: int
    crawls: int
    within_10_percent: float | None
    """Share of the crawls that were estimated as closely."""


def table(estimator: str, pairs: Iterable[tuple[float, float]]) -> list[CrawlTimeRow]:
    """Rows of (actual, estimated) seconds, one for each group and one for all of them."""
    found = [(actual, estimated) for actual, estimated in pairs if actual > 0]
    rows = [_row(estimator, name, [pair for pair in found if low <= pair[0] < high]) for name, low, high in GROUPS]
    return [*rows, _row(estimator, ALL, found)]


def _row(estimator: str, group: str, pairs: Sequence[tuple[float, float]]) -> CrawlTimeRow:
    errors = [estimated / actual - 1.0 for actual, estimated in pairs]
    over = [error for error in errors if error >= 0]
    under = [error for error in errors if error < 0]
    return CrawlTimeRow(
        estimator=estimator,
        group=group,
        over=_mean(over),
        over_crawls=len(over),
        under=_mean(under),
        under_crawls=len(under),
        crawls=len(errors),
        within_10_percent=_mean([float(abs(error) <= CLOSE) for error in errors]),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
