"""The outcome of a capture: its instant, and the two downloads of each page that prove its content at that instant.

Each pass after the first revisits defines a new instant: the last revisit becomes the visit. A page with the same
content over several passes is sharp as of all their instants. The instant that most pages share becomes the instant of
the capture.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct

from webstrata.clock import DAY_S
from webstrata.sharp.proof.certificate import CapturedPage, Download, joint_instant, span_of
from webstrata.sharp.proof.coherence import CoveredInstant, instants


class PageDownloads(Struct, kw_only=True):
    """A page of a capture with all its downloads, in order of time."""

    url: str
    rate_per_s: float
    rate_from: str = ""
    rate_shape: float | None = None
    """Of the Gamma belief about the rate; None if the rate is known exactly."""
    duration_s: float | None = None
    """The duration of a download, estimated from earlier visits; None if it is unknown."""
    weight: float = 1.0
    expected: float = 0.0
    """The planned probability to be sharp."""
    downloads: list[Download] = []
    why: str = ""
    """Why the last download failed."""


class CaptureOutcome(Struct, frozen=True, kw_only=True):
    """The instant of a capture, its pages as certified, and other instants at which further pages are sharp."""

    instant: CoveredInstant | None
    pages: tuple[CapturedPage, ...]
    others: tuple[CoveredInstant, ...]


def capture_outcome(histories: Sequence[PageDownloads]) -> CaptureOutcome:
    """Find the largest (weighted) set of pages that is sharp as of one instant."""
    runs: list[CapturedPage] = []
    page_of_run: list[int] = []
    for i, history in enumerate(histories):
        for run in _runs(history):
            runs.append(run)
            page_of_run.append(i)
    best = joint_instant(runs)
    best_runs = best.pages if best is not None else ()
    chosen = {page_of_run[index]: runs[index] for index in best_runs}
    pages = tuple(
        _as_sharp(chosen[i], history, best) if i in chosen and best is not None else _as_blurred(history, best)
        for i, history in enumerate(histories)
    )
    spans = [span for index, run in enumerate(runs) if (span := span_of(run, page_of_run[index])) is not None]
    weights = [history.weight for history in histories]
    others = [other for other in instants(spans, weights) if best is None or set(other.pages) - set(chosen)]
    instant = (
        None
        if best is None
        else CoveredInstant(start=best.start, end=best.end, weight=best.weight, pages=tuple(chosen))
    )
    return CaptureOutcome(instant=instant, pages=pages, others=tuple(others))


def _runs(history: PageDownloads) -> list[CapturedPage]:
    """One page for each run of consecutive downloads with equal content: its first and last download."""
    runs = []
    for _, equal in groupby(history.downloads, key=lambda download: (download.content, download.status)):
        run = list(equal)
        runs.append(_page(history, run[0], run[-1] if len(run) > 1 else None))
    return runs


def _as_sharp(run: CapturedPage, history: PageDownloads, instant: CoveredInstant) -> CapturedPage:
    """The page with its nearest downloads on both sides of the instant, which prove its content there."""
    if run.revisit is None:
        return run
    before, after = _around(history, instant)
    return _page(history, before[-1], after[0])


def _as_blurred(history: PageDownloads, instant: CoveredInstant | None) -> CapturedPage:
    """The page with its downloads on both sides of the instant, as far as there are any."""
    if not history.downloads:
        return _page(history, None, None, history.why)
    if instant is None:
        return _page(history, history.downloads[0], None, history.why)
    before, after = _around(history, instant)
    if before and after:
        return _page(history, before[-1], after[0])
    missing = f"it was not downloaded {'after' if before else 'before'} the instant"
    return _page(history, history.downloads[0], None, history.why or missing)


def _around(history: PageDownloads, instant: CoveredInstant) -> tuple[list[Download], list[Download]]:
    """The downloads that ended before the instant, and those that started after it."""
    before = [download for download in history.downloads if download.ended <= instant.start]
    after = [download for download in history.downloads if download.started >= instant.end]
    return before, after


def _page(history: PageDownloads, visit: Download | None, revisit: Download | None, why: str = "") -> CapturedPage:
    return CapturedPage(
        url=history.url,
        visit=visit,
        revisit=revisit,
        why=why,
        rate_per_day=history.rate_per_s * DAY_S,
        rate_from=history.rate_from,
        rate_shape=history.rate_shape,
        weight=history.weight,
        expected=history.expected,
    )
