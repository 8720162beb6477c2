"""Dated lists of different truthfulness, one for each site. The sitemaps of the living web and the lists of the lab are
made from the same object, so that they say the same.

| kind | entries |
|---|---|
| `truth` | every change, with its time |
| `random` | random pages of the site at random times, as many as there are changes |
| `shuffled` | the times of the changes, but of another page of the site, always the same one |
| `now` | every page, always with the time of the request |
| `half` | half of the changes, and as many random entries |
| `silent` | none: the pages are listed, but their dates never change |
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from webstrata.clock import DAY_S
from webstrata.columns import Days, Rows
from webstrata.lab.policies.simulated_sources import ListedEntries
from webstrata.lab.policies.truth import Truth

ListKind: TypeAlias = Literal["none", "truth", "random", "shuffled", "now", "half", "silent"]
LIST_KINDS: tuple[ListKind, ...] = get_args(ListKind)

_EVERY_DAYS = 1.0
"""A list can be fetched once a day, as every page."""


class EntryLists:
    """Lists with entries at fixed times."""

    every_days = _EVERY_DAYS

    def __init__(self, page: Rows, at: Days, site: NDArray[np.intp]) -> None:
        """Times are cut to whole seconds, as sitemaps give them."""
        at = np.floor(at * DAY_S + 1e-3) / DAY_S
        order = np.lexsort((at, site[page]))
        self._page, self._at = page[order], at[order]
        self._begin = np.searchsorted(site[self._page], np.arange(int(site.max(initial=-1)) + 2))

    def __len__(self) -> int:
        return len(self._page)

    def news(self, site: int, since: float, now: float) -> tuple[Rows, Days]:
        begin, end = self._begin[site], self._begin[site + 1]
        own = self._at[begin:end]
        first, last = begin + np.searchsorted(own, [since, now], side="right")
        page, newest = np.unique(self._page[first:last][::-1], return_index=True)
        return page, self._at[first:last][::-1][newest]


class AlwaysNowLists:
    """Lists in which every page has the time of the request, as some programs that make sitemaps write it."""

    every_days = _EVERY_DAYS

    def __init__(self, site: NDArray[np.intp]) -> None:
        self._site = site

    def news(self, site: int, since: float, now: float) -> tuple[Rows, Days]:
        rows = np.flatnonzero(self._site == site)
        return rows, np.full(len(rows), now)


def site_lists(kind: ListKind, truth: Truth, site: NDArray[np.intp], seed: int = 1) -> ListedEntries | None:
    """The lists of this kind; `site` is the index of each page's site. None for `none`."""
    random = np.random.default_rng(seed)
    page, at = truth.events(0.0, truth.days)
    match kind:
        case "none":
            return None
        case "truth":
            return EntryLists(page, at, site)
        case "random":
            return EntryLists(*_random_entries(page, site, truth.days, random), site)
        case "shuffled":
            other = _other_page(site, random)[page]
            return EntryLists(other[other >= 0], at[other >= 0], site)
        case "now":
            return AlwaysNowLists(site)
        case "half":
            chosen = random.random(len(page)) < 0.5
            page, at = page[chosen], at[chosen]
            false_page, false_at = _random_entries(page, site, truth.days, random)
            return EntryLists(np.concatenate([page, false_page]), np.concatenate([at, false_at]), site)
        case "silent":
            return EntryLists(page[:0], at[:0], site)


def _random_entries(page: Rows, site: NDArray[np.intp], days: float, random: np.random.Generator) -> tuple[Rows, Days]:
    """As many entries for each site as in `page`, of its pages in turn at random, at random times."""
    drawn = np.empty(len(page), dtype=np.intp)
    for number in np.unique(site[page]).tolist():
        own = site[page] == number
        drawn[own] = random.choice(np.flatnonzero(site == number), int(own.sum()))
    return drawn, random.random(len(page)) * days


def _other_page(site: NDArray[np.intp], random: np.random.Generator) -> Rows:
    """For each page another page of its site; -1 if there is no other."""
    other = np.full(len(site), -1, dtype=np.intp)
    for number in range(int(site.max(initial=-1)) + 1):
        own = random.permutation(np.flatnonzero(site == number))
        if len(own) > 1:
            other[own] = np.roll(own, 1)
    return other
