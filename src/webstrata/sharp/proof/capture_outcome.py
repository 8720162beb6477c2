"""The outcome of a capture: its instant, and the verdict on each page at that instant.

Each pass after the first revisits defines a new instant: the last revisit becomes the visit. A page with the same
content over several passes is sharp as of all their instants. The instant that most pages share becomes the instant of
the capture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
from msgspec import Struct

from webstrata.sharp.proof.coherence import CoveredInstant, UnchangedSpan, best_instant, instants
from webstrata.sharp.proof.page_observation import PageObservation
from webstrata.sharp.proof.verdicts import Instant, JudgedPage, judged_page


class PageHistory(Struct, kw_only=True):
    """A page of a capture with all observations of it, in the order of their start."""

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
    rules: dict[str, object] | None = None
    """The page's own rules in force; None if it has none."""
    observations: list[PageObservation] = []
    parts: list[str] = []
    """The URLs of the files that the page loads."""

    @property
    def contents(self) -> list[PageObservation]:
        """The observations that show a content or a redirect."""
        return [seen for seen in self.observations if seen.kind in ("content", "redirect")]


class CaptureOutcome(Struct, frozen=True, kw_only=True):
    """The instant of a capture, its pages as judged, and other instants at which further pages are sharp."""

    instant: Instant | None
    pages: tuple[JudgedPage, ...]
    others: tuple[CoveredInstant, ...]


def capture_outcome(histories: Sequence[PageHistory], layer: str) -> CaptureOutcome:
    """Find the instant at which the largest (weighted) set of pages is sharp by this layer."""
    spans = [span for index, history in enumerate(histories) for span in _spans(history, index, layer)]
    weights = [history.weight for history in histories]
    best = best_instant(spans, weights)
    anchors = [anchor for index, history in enumerate(histories) for anchor in _anchors(history, index, layer)]
    instant = _best_of(best, anchors, spans, weights)
    pages = tuple(judged_page(history.observations, instant, layer) for history in histories)
    sharp = {index for index, page in enumerate(pages) if page.verdict == "sharp"}
    others = [other for other in instants(spans, weights) if instant is None or set(other.pages) - sharp]
    return CaptureOutcome(instant=instant, pages=pages, others=tuple(others))


def _runs(history: PageHistory, layer: str) -> Iterator[list[PageObservation]]:
    """The runs of consecutive observations that show the same content."""
    for key, run in groupby(history.observations, key=lambda observation: observation.key(layer)):
        if key is not None:
            yield list(run)


def _spans(history: PageHistory, index: int, layer: str) -> Iterator[UnchangedSpan]:
    """For each run of two or more observations, the time from the end of the first to the start of the last."""
    for run in _runs(history, layer):
        if len(run) > 1 and run[0].ended <= run[-1].started:
            yield UnchangedSpan(page=index, start=run[0].ended, end=run[-1].started)


def _anchors(history: PageHistory, index: int, layer: str) -> Iterator[UnchangedSpan]:
    """The observations that stand alone: each may be the instant."""
    for run in _runs(history, layer):
        if len(run) == 1:
            yield UnchangedSpan(page=index, start=run[0].started, end=run[0].ended)


def _best_of(
    best: CoveredInstant | None,
    anchors: Sequence[UnchangedSpan],
    spans: Sequence[UnchangedSpan],
    weights: Sequence[float],
) -> Instant | None:
    """The best period, or the download of a page that, together with the pages around it, has more weight.

    A page that was downloaded once had the downloaded content at an unknown time during the download. So it is sharp
    only if the whole download lies within the spans of the other pages, and the download is then the instant.
    """
    chosen = Instant(best.start, best.end) if best is not None else None
    top = best.weight if best is not None else -1.0
    starts, ends = np.array([span.start for span in spans]), np.array([span.end for span in spans])
    span_weights = np.array([weights[span.page] for span in spans])
    for anchor in anchors:
        around = (starts <= anchor.start) & (anchor.end <= ends)
        weight = float(span_weights[around].sum()) + weights[anchor.page]
        if weight > top:
            chosen, top = Instant(anchor.start, anchor.end), weight
    return chosen
