"""A page's downloads over all passes of a capture, and which two of them stand for it at the chosen instant.

After the first revisits every further pass over the pages makes a new instant: what was the revisit is now the visit.
Pages that stayed the same over several passes are sharp as of all their instants; the instant that most pages share is
the capture's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from msgspec import Struct

from webstrata.clock import DAY_S
from webstrata.sharp.proof.certificate import CapturedPage, Download, joint_instant, span_of
from webstrata.sharp.proof.coherence import CoveredInstant, instants


class PageDownloads(Struct, kw_only=True):
    """A page of a capture with all its downloads, in order."""

    url: str
    rate_per_s: float
    rate_from: str = ""
    rate_shape: float | None = None
    """Of the Gamma belief about the rate; none: the rate is sure."""
    lasts_s: float | None = None
    """How long a download takes, before there was one."""
    weight: float = 1.0
    expected: float = 0.0
    downloads: list[Download] = []
    why: str = ""
    """The last reason why a download failed."""


class CaptureOutcome(Struct, frozen=True, kw_only=True):
    """What a capture shows: its instant, each page as certified, and instants that would serve other pages."""

    instant: CoveredInstant | None
    pages: tuple[CapturedPage, ...]
    others: tuple[CoveredInstant, ...]


def capture_outcome(histories: Sequence[PageDownloads]) -> CaptureOutcome:
    """The largest set of pages that is sharp as of one instant."""
    runs: list[CapturedPage] = []
    of: list[int] = []
    for i, history in enumerate(histories):
        for run in _runs(history):
            runs.append(run)
            of.append(i)
    best = joint_instant(runs)
    chosen: Mapping[int, CapturedPage] = {of[place]: runs[place] for place in best.pages} if best is not None else {}
    pages = tuple(
        _as_sharp(chosen[i], history, best) if i in chosen and best is not None else _as_blurred(history, best)
        for i, history in enumerate(histories)
    )
    spans = [span for place, run in enumerate(runs) if (span := span_of(run, of[place])) is not None]
    weights = [history.weight for history in histories]
    others = [one for one in instants(spans, weights) if best is None or set(one.pages) - set(chosen)]
    instant = (
        None
        if best is None
        else CoveredInstant(start=best.start, end=best.end, weight=best.weight, pages=tuple(chosen))
    )
    return CaptureOutcome(instant=instant, pages=pages, others=tuple(others))


def _runs(history: PageDownloads) -> list[CapturedPage]:
    """Downloads in a row that saw the same, as pages of their own: first and last of each."""
    runs = []
    for _, same in groupby(history.downloads, key=lambda one: (one.content, one.status)):
        row = list(same)
        runs.append(_page(history, row[0], row[-1] if len(row) > 1 else None))
    return runs


def _as_sharp(run: CapturedPage, history: PageDownloads, instant: CoveredInstant) -> CapturedPage:
    """The nearest downloads on both sides of the instant: what is proved needs no longer stretch."""
    if run.revisit is None:
        return run
    before = [one for one in history.downloads if one.ended <= instant.start]
    after = [one for one in history.downloads if one.started >= instant.end]
    return _page(history, before[-1], after[0])


def _as_blurred(history: PageDownloads, instant: CoveredInstant | None) -> CapturedPage:
    """What was seen on both sides of the instant, as far as it was."""
    if not history.downloads:
        return _page(history, None, None, history.why)
    if instant is None:
        return _page(history, history.downloads[0], None, history.why)
    before = [one for one in history.downloads if one.ended <= instant.start]
    after = [one for one in history.downloads if one.started >= instant.end]
    if before and after:
        return _page(history, before[-1], after[0])
    return _page(history, history.downloads[0], None, history.why or _one_sided(bool(before)))


def _one_sided(before: bool) -> str:
    return "it was not downloaded after the instant" if before else "it was not downloaded before the instant"


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
