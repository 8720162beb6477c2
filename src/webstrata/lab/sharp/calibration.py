"""Whether pages that a capture expects to be sharp with some probability become sharp that often.

Each recorded site is captured again and again, weekly or monthly, for two years, with captures of several durations. A
capture has the beliefs that `webstrata capture` would have at that time: the first one those about any page, the later
ones also the visits of all earlier captures. It follows the best plan for these beliefs. A page is sharp if its visible
text and links are the same at visit and revisit. The page whose only download is the instant is not counted.

The shares and the half-life of the beliefs were chosen on half of the sites, and the other half tests them. Other
constants were chosen with both halves in view (docs/why/sharp.md). Two variants show what the
recorded sites do not have: sites that change far faster than any prior expects, and pages that differ at downloads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.clock import DAY_S
from webstrata.errors import UsageError
from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.sharp.visible_versions import VisibleVersions
from webstrata.sharp.belief import SiteEvidence, evidence
from webstrata.sharp.optimal import optimal
from webstrata.sharp.rates import Numbers
from webstrata.sharp.survival import GammaSurvival

TUNED, TESTED = "tuned", "tested"
TUNED_ON = frozenset({"boost", "congress", "jena", "llvm", "schemaorg", "spencerahill"})
"""Every second site in the order of names."""
DURATIONS_S = (3600.0, 6 * 3600.0, DAY_S, 3 * DAY_S, 14 * DAY_S)
EVERY_S = (7 * DAY_S, 30 * DAY_S)
EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99, 0.999, 1.0)
"""Edges of the bins of expected probabilities."""
_RECORDED_DAYS = 730.0
_MIN_PAGES = 2


class Variant(Struct, frozen=True):
    """The sites as recorded, or changed in some way."""

    name: str
    speed: float = 1.0
    """Everything happens this many times as fast."""
    noisy: bool = False
    """One page in ten differs at every download, and another one at every second download on average."""


AS_RECORDED = Variant("as recorded")
VARIANTS = (AS_RECORDED, Variant("17,000 times as fast", speed=17_000.0), Variant("with noisy pages", noisy=True))
"""The living web plays two years in an hour, which is 17,000 times as fast: the population prior is far too slow."""


class PageForecast(Struct, frozen=True, gc=False):
    """One page of one capture."""

    capture: int
    """Captures of a series are numbered from 0."""
    chance: float
    """The expected probability to be sharp."""
    sharp: bool
    changed_before: bool
    """An earlier capture of the series found the page changed between visit and revisit."""


class CalibrationRow(Struct, frozen=True, kw_only=True):
    """Forecasts of pages compared with what happened."""

    part: str
    """`tuned` for the sites of `TUNED_ON`, `tested` for the others."""
    variant: str
    pages: int
    expected: float
    sharp: int
    hours: float | None = None
    """The duration of the captures; None: all."""
    low: float | None = None
    """Only pages with expected probabilities from `low` up to `high`."""
    high: float | None = None
    changed_before: bool = False
    """Only pages that an earlier capture found changed."""
    over_dispersion: float | None = None
    """The standard deviation of the number of sharp pages in a capture, relative to that of independent pages."""

    @property
    def ratio(self) -> float:
        """Expected to realised."""
        return self.expected / self.sharp if self.sharp else float("nan")


def calibration(
    recordings: Iterable[Recording],
    *,
    durations_s: Sequence[float] = DURATIONS_S,
    every_s: Sequence[float] = EVERY_S,
    variants: Sequence[Variant] = VARIANTS,
    on_progress: Callable[[str], None] = lambda _: None,
) -> list[CalibrationRow]:
    """The rows of all sites: by duration, all together, only pages that changed before, and by bin."""
    if not durations_s or any(not 0 < duration < max(every_s) for duration in durations_s):
        raise UsageError("Captures last more than 0 seconds, and less than the time from one capture to the next.")
    series: _Series = {}
    for recording in recordings:
        versions = VisibleVersions(recording)
        part = TUNED if recording.site in TUNED_ON else TESTED
        for variant in variants:
            on_progress(f"{recording.site}, {variant.name}")
            for duration_s in durations_s:
                for every in (every for every in every_s if every > duration_s):
                    forecasts = list(forecast_series(versions, duration_s, every, variant))
                    series.setdefault((variant.name, part, duration_s), []).append(forecasts)
    return [row for variant in variants for part in (TUNED, TESTED) for row in _rows(variant.name, part, series)]


_Series = dict[tuple[str, str, float], list[list[PageForecast]]]
"""(variant, part, duration) -> series of captures."""


def forecast_series(
    versions: VisibleVersions, duration_s: float, every_s: float, variant: Variant = AS_RECORDED
) -> Iterator[PageForecast]:
    """Captures of one site, one in every period, at a random time in it."""
    random = np.random.default_rng(1)
    published = versions.published
    begin = max(published[0], published[-1] - _RECORDED_DAYS * DAY_S)
    site = _SiteVisits(versions, variant)
    for number in range(int((published[-1] - begin) / every_s)):
        start = begin + number * every_s + random.uniform(0.0, every_s - duration_s)
        pages = versions.alive_at(start)
        if len(pages) >= _MIN_PAGES:
            yield from site.captured(pages, start, duration_s, number)


class _SiteVisits:
    """Captures of one site, and all their visits so far, as the visit log of a home has them."""

    def __init__(self, versions: VisibleVersions, variant: Variant) -> None:
        self._versions = versions
        self._variant = variant
        self._random = np.random.default_rng(2)
        self._row_of = {page: row for row, page in enumerate(versions.pages)}
        self._changed: set[str] = set()
        """Pages that a capture found changed."""
        self._at: dict[str, list[float]] = {}
        self._contents: dict[str, list[object]] = {}

    def captured(self, pages: Sequence[str], start: float, duration_s: float, number: int) -> Iterator[PageForecast]:
        """The forecasts of a capture that starts at this instant."""
        count, speed = len(pages), self._variant.speed
        slot_s = duration_s / (2 * count - 2)
        survival = self._survival(pages, start, duration_s)
        schedule, _ = optimal(survival, times=slot_s / speed * np.arange(count))
        spans_s: Numbers = slot_s / speed * (schedule.visits + schedule.revisits).astype(np.float64)
        chances = survival.unchanged(np.arange(count), spans_s)
        visits = start + duration_s / 2 - slot_s * schedule.visits
        revisits = start + duration_s / 2 + slot_s * schedule.revisits
        rows = zip(pages, chances.tolist(), visits.tolist(), revisits.tolist(), strict=True)
        for page, chance, visit, revisit in rows:
            before = self._download(page, visit)
            if revisit > visit:
                is_sharp = self._download(page, revisit) == before
                yield PageForecast(number, chance, is_sharp, page in self._changed)
                if not is_sharp:
                    self._changed.add(page)

    def _download(self, page: str, at: float) -> object:
        """The content at an instant, with the page's noise."""
        content: object = self._versions.content(page, at)
        if self._variant.noisy and self._row_of[page] % 10 < 2:
            noise = len(self._at.get(page, ())) if self._row_of[page] % 10 == 0 else int(self._random.integers(2))
            content = content, noise
        self._at.setdefault(page, []).append(at / self._variant.speed)
        self._contents.setdefault(page, []).append(content)
        return content

    def _survival(self, pages: Sequence[str], now: float, duration_s: float) -> GammaSurvival:
        """What a capture that starts now expects of these pages."""
        site, by_page = SiteEvidence(), dict[str, Numbers]()
        for page, at in self._at.items():
            changed = [before != after for before, after in pairwise(self._contents[page])]
            by_page[page] = evidence(at, changed, now / self._variant.speed)
            site.add(by_page[page])
        belief = site.belief()
        beliefs = [belief.after(by_page[page]) if page in by_page else belief for page in pages]
        gammas = [belief.as_gamma(duration_s / self._variant.speed) for belief in beliefs]
        return GammaSurvival([gamma.shape for gamma in gammas], [gamma.exposure_s for gamma in gammas])


def _rows(variant: str, part: str, series: _Series) -> Iterator[CalibrationRow]:
    by_duration = {key[2]: found for key, found in series.items() if key[:2] == (variant, part)}
    everything = [forecasts for found in by_duration.values() for forecasts in found]
    if not any(everything):
        return
    for duration_s, found in by_duration.items():
        yield _row(variant, part, found, hours=duration_s / 3600.0)
    yield _row(variant, part, everything)
    changed = [[forecast for forecast in forecasts if forecast.changed_before] for forecasts in everything]
    yield _row(variant, part, changed, changed_before=True)
    for low, high in pairwise(EDGES):
        inside = [
            [forecast for forecast in forecasts if low <= forecast.chance < high or forecast.chance == high == 1.0]
            for forecasts in everything
        ]
        if any(inside):
            yield _row(variant, part, inside, low=low, high=high)


def _row(
    variant: str,
    part: str,
    series: Sequence[Sequence[PageForecast]],
    *,
    hours: float | None = None,
    low: float | None = None,
    high: float | None = None,
    changed_before: bool = False,
) -> CalibrationRow:
    forecasts = [forecast for forecasts in series for forecast in forecasts]
    return CalibrationRow(
        variant=variant,
        part=part,
        pages=len(forecasts),
        expected=sum(forecast.chance for forecast in forecasts),
        sharp=sum(forecast.sharp for forecast in forecasts),
        hours=hours,
        low=low,
        high=high,
        changed_before=changed_before,
        over_dispersion=_over_dispersion(series) if low is None else None,
    )


def _over_dispersion(series: Sequence[Sequence[PageForecast]]) -> float | None:
    """From the errors of the numbers of sharp pages of all captures."""
    errors, variances = 0.0, 0.0
    for forecasts in series:
        chances = np.array([forecast.chance for forecast in forecasts])
        surprises = np.array([forecast.sharp for forecast in forecasts]) - chances
        captures: NDArray[np.intp] = np.array([forecast.capture for forecast in forecasts], dtype=np.intp)
        errors += float((np.bincount(captures, surprises) ** 2).sum()) if captures.size else 0.0
        variances += float((chances * (1.0 - chances)).sum())
    return float(np.sqrt(errors / variances)) if variances else None
