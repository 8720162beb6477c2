"""The forecast of pages and sites: their rate, when the next update is expected, and where the knowledge is from."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from webstrata.clock import DAY_S
from webstrata.columns import Days
from webstrata.flows.training_pages import page_features
from webstrata.flows.updates.known_pages import KnownPage, KnownPageFilter, known_pages, update_evidence
from webstrata.flows.updates.page_beliefs import PageBeliefs, PageOutlook
from webstrata.ports import Store
from webstrata.predict.belief_history import level_range
from webstrata.predict.rate_interval import score_interval
from webstrata.predict.updates import UpdateEvidence, UpdateLayer, merged, update_history
from webstrata.predict.visit_history import VisitHistory
from webstrata.schedule.schedule import Schedule

QUANTILES = (0.1, 0.5, 0.9)
OWN_VISITS, FIRST_CONTENT, ANY_PAGE = "own visits", "first content", "any page"
_AHEAD_DAYS = np.concatenate([[0.0], np.geomspace(1 / 24, 400.0, 79)])
"""Days after the last visit at which the curve of the next update is computed. The model reaches as far."""

PageClasses = Callable[[Sequence[Mapping[str, float] | None]], Sequence[str | None]]
"""From the static features of pages to the names of their classes."""


class KnowledgeSource(Struct, frozen=True, kw_only=True):
    """Where knowledge about a page is from: its own visits, an archive, its class by its first content, or what is
    expected of any page."""

    source: str
    observations: int


class UpdateForecastReport(Struct, frozen=True, kw_only=True):
    """What is expected of a page or a site."""

    url: str
    layer: UpdateLayer
    rate_per_day: float
    """Updates per day that are expected now."""
    low: float
    """The ends of the 95 % interval of the rate so far."""
    high: float
    p_change: float
    """Probability of an update between `seen_at` and `by`."""
    by: float
    p_now: float
    """The same until now."""
    at: float
    """Now."""
    seen_at: float | None
    """When the page was last seen; None: never, and the forecast is that of any page from now on."""
    next_update: tuple[float | None, ...]
    """Until when the first update since `seen_at` comes with the probabilities `QUANTILES`; None: beyond 400 days."""
    curve: tuple[tuple[float, float], ...]
    """(time, probability of an update until then) from `seen_at` on."""
    observations: int
    """Intervals between visits or copies about which something is known."""
    updates: int
    """Those that ended at an update."""
    sources: tuple[KnowledgeSource, ...]
    page_class: str | None = None
    pages: int = 1
    """Number of pages, of a site."""


class PageForecasts:
    """Forecasts of pages of a store in one layer, as of one time."""

    def __init__(
        self,
        store: Store,
        schedule: Schedule,
        layer: UpdateLayer,
        now: float,
        by: float,
        *,
        with_curve: bool = False,
        classes: PageClasses | None = None,
    ) -> None:
        """Without `classes` no page has a class."""
        self._store, self._layer, self._now, self._by = store, layer, now, by
        self._beliefs = PageBeliefs(store, schedule, layer)
        self._with_curve = with_curve
        self._classes = classes

    async def of_pages(self, pages: Sequence[KnownPage]) -> list[UpdateForecastReport]:
        """The forecasts of some pages."""
        await self._beliefs.load_only([page.id for page in pages], self._now)
        return await self._forecasts(pages)

    async def of_all(self, choice: KnownPageFilter) -> AsyncIterator[list[UpdateForecastReport]]:
        """The forecasts of all known pages, in chunks."""
        await self._beliefs.load(self._now)
        async for pages in known_pages(self._store, choice):
            yield await self._forecasts(pages)

    async def of_site(self, url: str, pages: Sequence[KnownPage]) -> UpdateForecastReport:
        """The forecast of a site: an update of any of its pages is an update of the site."""
        evidence = await update_evidence(self._store, [page.id for page in pages], self._layer)
        of_page = update_history(evidence, self._layer)
        history = merged(of_page, np.zeros(of_page.pages, dtype=np.intp), 1)
        times = last_seen(evidence)
        seen_at = np.array([times[~np.isnan(times)].max(initial=-np.inf)])
        seen_at[np.isinf(seen_at)] = np.nan
        sources = sum((Counter(counts) for counts in _sources(evidence).values()), Counter())
        (found,) = self._rows([url], [], history, seen_at, [sources], [None])
        return replace(found, pages=len(pages))

    async def _forecasts(self, pages: Sequence[KnownPage]) -> list[UpdateForecastReport]:
        ids = [page.id for page in pages]
        evidence = await update_evidence(self._store, ids, self._layer)
        history = update_history(evidence, self._layer)
        classes: Sequence[str | None] = [None] * len(ids)
        if self._classes is not None:
            features = await page_features(self._store, ids)
            classes = self._classes([features.get(id_) for id_ in ids])
        sources = _sources(evidence)
        urls = [page.url for page in pages]
        return self._rows(urls, pages, history, last_seen(evidence), [sources[id_] for id_ in ids], classes)

    def _rows(
        self,
        urls: Sequence[str],
        pages: Sequence[KnownPage],
        history: VisitHistory,
        seen_at: Days,
        sources: Sequence[Mapping[str, int]],
        classes: Sequence[str | None],
    ) -> list[UpdateForecastReport]:
        outlook = self._beliefs.outlook(pages, history, seen_at, now=self._now, by=self._by, curve_days=_AHEAD_DAYS)
        low, high = _interval(self._beliefs, history, outlook)
        updates = history.totals(history.changed).astype(np.int64)
        return [
            UpdateForecastReport(
                url=url,
                layer=self._layer,
                rate_per_day=float(outlook.rate[row]),
                low=float(low[row]),
                high=float(high[row]),
                p_change=float(outlook.by[row]),
                by=self._by,
                p_now=float(outlook.now[row]),
                at=self._now,
                seen_at=float(outlook.seen_at[row]) if sources[row] else None,
                next_update=_quantiles(outlook.curve[row], float(outlook.seen_at[row])),
                curve=_curve(outlook.curve[row], float(outlook.seen_at[row])) if self._with_curve else (),
                observations=int(history.counts[row]),
                updates=int(updates[row]),
                sources=_named(sources[row], classes[row]),
                page_class=classes[row],
            )
            for row, url in enumerate(urls)
        ]


def last_seen(evidence: UpdateEvidence) -> Days:
    """When each page was last seen by a visit or in a copy, in seconds; NaN if never."""
    row_of = {id_: row for row, id_ in enumerate(evidence.ids)}
    rows = [row_of[id_] for id_, _, _ in evidence.visits] + [row_of[copy.page_id] for copy in evidence.copies]
    times = [at for _, at, _ in evidence.visits] + [copy.at for copy in evidence.copies]
    seen_at = np.full(len(row_of), -np.inf)
    np.maximum.at(seen_at, np.array(rows, dtype=np.intp), np.array(times, dtype=np.float64))
    seen_at[np.isinf(seen_at)] = np.nan
    return seen_at


def _sources(evidence: UpdateEvidence) -> dict[int, Counter[str]]:
    """By page: the number of visits, and of copies of each archive."""
    found: dict[int, Counter[str]] = {id_: Counter() for id_ in evidence.ids}
    for id_, _, _ in evidence.visits:
        found[id_][OWN_VISITS] += 1
    for copy in evidence.copies:
        found[copy.page_id][copy.archive] += 1
    return found


def _named(counts: Mapping[str, int], page_class: str | None) -> tuple[KnowledgeSource, ...]:
    if not counts:
        return (KnowledgeSource(source=ANY_PAGE, observations=0),)
    found = [KnowledgeSource(source=name, observations=number) for name, number in sorted(counts.items())]
    if page_class is not None:
        found.append(KnowledgeSource(source=FIRST_CONTENT, observations=1))
    return tuple(found)


def _interval(beliefs: PageBeliefs, history: VisitHistory, outlook: PageOutlook) -> tuple[Days, Days]:
    """The rates that the history does not contradict; where it sets no bound, those that the belief allows."""
    low, high = score_interval(history)
    least, most = level_range(beliefs.activity, outlook.belief)
    low, high = np.where(np.isfinite(low), low, least), np.where(np.isfinite(high), high, np.fmax(most, low))
    return np.minimum(low, outlook.rate), np.maximum(high, outlook.rate)


def _quantiles(curve: NDArray[np.float64], seen_at: float) -> tuple[float | None, ...]:
    days = np.interp(QUANTILES, np.maximum.accumulate(curve), _AHEAD_DAYS, right=np.nan)
    return tuple(None if np.isnan(day) else seen_at + float(day) * DAY_S for day in days)


def _curve(curve: NDArray[np.float64], seen_at: float) -> tuple[tuple[float, float], ...]:
    return tuple(zip((seen_at + _AHEAD_DAYS * DAY_S).tolist(), curve.tolist(), strict=True))
