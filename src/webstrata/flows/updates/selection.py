"""Pages that are worth a visit: those with the highest probability of an update by a given time.

    hacs    p = 1 - exp(-λ (t + e - τ)) from the visits and copies of the window before t (predict/update_chance.py)
    value   the forecast of the default policy, as `forecast` and `why` show it

Chunks of pages are valued together, and only as many rows are kept as may be selected.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Sequence
from typing import Literal, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.clock import DAY_S
from webstrata.columns import Days
from webstrata.flows.updates.known_pages import KnownPage, KnownPageFilter, known_pages, update_evidence
from webstrata.flows.updates.page_beliefs import PageBeliefs
from webstrata.flows.updates.page_forecast import last_seen
from webstrata.flows.updates.site_histories import SiteHistories
from webstrata.ports import Store
from webstrata.predict.update_chance import update_forecast, within
from webstrata.predict.updates import UpdateLayer, update_history
from webstrata.predict.visit_history import VisitHistory
from webstrata.schedule.schedule import Schedule

Method: TypeAlias = Literal["hacs", "value"]

_PRUNED_ABOVE = 4
"""The rows are cut to the wanted number when there are this many times as many."""
_ROW = np.dtype(
    [
        ("p", "<f8"),
        ("rate", "<f8"),
        ("since", "<f8"),
        ("seen_at", "<f8"),
        ("intervals", "<i8"),
        ("updates", "<i8"),
        ("number", "<i8"),
    ]
)
"""`since`: HACS's τ in days, NaN if there is none; `number`: the position of the page, which breaks ties."""


class SelectionRule(Struct, frozen=True, kw_only=True):
    """What is selected."""

    layer: UpdateLayer = "content"
    method: Method = "value"
    window_days: float = math.inf
    """The history before now that counts, of `hacs`."""
    threshold: float = 0.0
    """Least probability."""
    top: int | None = None
    """Largest number of pages."""
    site_depth: int | None = None
    """Select sites, by their pages down to this depth; None: pages."""


class SelectedPage(Struct, frozen=True, kw_only=True):
    """A page or site that is worth a visit."""

    url: str
    p: float
    """Probability of an update by the end of the period."""
    rate_per_day: float
    seen_at: float | None
    intervals: int
    """Intervals between visits or copies that the forecast uses."""
    updates: int
    """Those that ended at an update."""
    since: float | None
    """The last update, as HACS dates it."""


class PageSelection(Struct, frozen=True, kw_only=True):
    """The selected pages, most probable first, and how many there were to choose from."""

    rows: list[SelectedPage]
    pages: int
    """Pages (or sites) with a forecast."""
    unknown: int
    """Pages (or sites) without one: never seen, or for `hacs` not seen twice in the window."""


class _Ranking:
    """The best rows so far."""

    def __init__(self, rule: SelectionRule) -> None:
        self._rule = rule
        self._rows: list[NDArray[np.void]] = []
        self._urls: dict[int, str] = {}
        self._kept = 0
        self.pages = self.unknown = 0

    def add(self, urls: Sequence[str], values: NDArray[np.void]) -> None:
        """Add pages; those without a forecast have p = NaN."""
        known = ~np.isnan(values["p"])
        values["number"] = np.arange(len(values)) + self.pages + self.unknown
        first = self.pages + self.unknown
        self.pages += int(known.sum())
        self.unknown += int((~known).sum())
        kept = values[known & (values["p"] >= self._rule.threshold)]
        self._rows.append(kept)
        self._urls.update((number, urls[number - first]) for number in kept["number"].tolist())
        self._kept += len(kept)
        if self._rule.top is not None and self._kept > _PRUNED_ABOVE * self._rule.top + 10_000:
            self._prune()

    def _prune(self) -> None:
        best = self._sorted()
        self._rows, self._kept = [best], len(best)
        self._urls = {number: self._urls[number] for number in best["number"].tolist()}

    def _sorted(self) -> NDArray[np.void]:
        rows = np.concatenate([np.empty(0, dtype=_ROW), *self._rows])
        order = np.lexsort((rows["number"], -rows["p"]))
        return rows[order[: self._rule.top]]

    def selected(self) -> list[SelectedPage]:
        """The rows in decreasing probability; pages with the same one in the order of the store."""
        return [
            SelectedPage(
                url=self._urls[number],
                p=p,
                rate_per_day=rate,
                seen_at=None if math.isnan(seen_at) else seen_at,
                intervals=intervals,
                updates=updates,
                since=None if math.isnan(since) else since * DAY_S,
            )
            for p, rate, since, seen_at, intervals, updates, number in self._sorted().tolist()
        ]


async def select_pages(
    store: Store, schedule: Schedule, rule: SelectionRule, choice: KnownPageFilter, *, now: float, by: float
) -> PageSelection:
    """The pages, or sites, that the rule selects."""
    beliefs = PageBeliefs(store, schedule, rule.layer)
    if rule.method == "value" and rule.site_depth is None:
        await beliefs.load(now)
    ranking = _Ranking(rule)
    async for urls, pages, history, seen_at in histories(store, rule.layer, choice, rule.site_depth):
        ranking.add(urls, _values(beliefs, rule, pages, history, seen_at, now=now, by=by))
    return PageSelection(rows=ranking.selected(), pages=ranking.pages, unknown=ranking.unknown)


KnownHistories: TypeAlias = tuple[list[str], Sequence[KnownPage], VisitHistory, Days]
"""(URLs, pages, their histories, when each was last seen); sites have no pages."""


async def histories(
    store: Store, layer: UpdateLayer, choice: KnownPageFilter, site_depth: int | None
) -> AsyncIterator[KnownHistories]:
    """The histories of all chosen pages, in chunks; or of their sites, all together."""
    sites = SiteHistories(site_depth) if site_depth is not None else None
    async for pages in known_pages(store, choice):
        evidence = await update_evidence(store, [page.id for page in pages], layer)
        history, urls = update_history(evidence, layer), [page.url for page in pages]
        if sites is None:
            yield urls, pages, history, last_seen(evidence)
        else:
            sites.add(urls, history, last_seen(evidence))
    if sites is not None and sites.urls:
        yield sites.urls, [], sites.merged(), sites.seen_at


def _values(
    beliefs: PageBeliefs,
    rule: SelectionRule,
    pages: Sequence[KnownPage],
    history: VisitHistory,
    seen_at: Days,
    *,
    now: float,
    by: float,
) -> NDArray[np.void]:
    values = np.zeros(history.pages, dtype=_ROW)
    values["seen_at"] = seen_at
    if rule.method == "hacs":
        found = update_forecast(history, now / DAY_S, (by - now) / DAY_S, rule.window_days)
        values["p"] = np.where(found.intervals > 0, found.chance, np.nan)
        values["rate"], values["since"] = found.rate, found.since
        values["intervals"], values["updates"] = found.intervals, found.updates
        return values
    past = within(history, -math.inf, now / DAY_S)
    outlook = beliefs.outlook(pages, past, seen_at, now=now, by=by)
    is_seen = ~np.isnan(seen_at) | np.array([page.last_seen_at is not None for page in pages] or False)
    values["p"], values["rate"] = np.where(is_seen, outlook.by, np.nan), outlook.rate
    values["seen_at"] = np.where(is_seen, outlook.seen_at, np.nan)
    values["since"] = np.nan
    values["intervals"], values["updates"] = past.counts, past.totals(past.changed)
    return values
