"""Estimates of the pages that a capture has not found yet: how many they are, and behind which waiting pages."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from webstrata.sharp.rates import Indices, Numbers

_LATEST_SHARE = 0.25
"""The share of all visits that counts as the latest visits."""
_MIN_LATEST = 20
_MAX_GROWTH = 3.0
_PRIOR_VISITS = 2.0
_MAX_NEW_PER_PAGE = 0.7
"""At depths not visited yet, a page leads to at most this many new pages."""


@dataclass
class SiteSize:
    """An estimate of the number of pages not found yet, from the number of new pages that each visit found.

    There are two estimates; each is too high where the other is not. The lower one counts, up to three times the number
    of known pages.

    - By the latest visits: if they find y new pages on average, and each of these y again, every waiting page leads to
      y + y^2 + … more. This gives no estimate if y is 1 or more.
    - By depth: pages lead to as many new pages as other pages at their depth did, shrunk towards the overall mean.
      Pages deeper than any visited page are assumed to lead to few.
    """

    new_by_visit: list[int] = field(default_factory=list)
    visits_by_depth: Counter[int] = field(default_factory=Counter)
    new_by_depth: Counter[int] = field(default_factory=Counter)

    def learn(self, depth: int, new: int) -> None:
        """A visit of a page at this depth found this number of new pages."""
        self.new_by_visit.append(new)
        self.visits_by_depth[depth] += 1
        self.new_by_depth[depth] += new

    def unknown(self, waiting_depths: Indices, known: int) -> int:
        """The expected number of pages not found yet, given the depths of the waiting pages and the number of known
        pages."""
        if not waiting_depths.size:
            return 0
        estimate = min(self._by_latest(waiting_depths.size), self._by_depth(waiting_depths))
        return round(min(_MAX_GROWTH * known, estimate))

    def shares(self, waiting_depths: Indices, unknown: int) -> Numbers:
        """The expected number of pages behind each waiting page, if `unknown` pages are behind all of them."""
        behind = self._behind(int(waiting_depths.max()))[waiting_depths] + 1e-9
        return np.asarray(behind * (unknown / behind.sum()))

    def _by_latest(self, waiting: int) -> float:
        latest = self.new_by_visit[-max(_MIN_LATEST, round(len(self.new_by_visit) * _LATEST_SHARE)) :]
        each = sum(latest) / len(latest) if latest else 1.0
        return np.inf if each >= 1.0 else waiting * each / (1.0 - each)

    def _by_depth(self, waiting_depths: Indices) -> float:
        if not self.new_by_visit:
            return np.inf
        return float(self._behind(int(waiting_depths.max()))[waiting_depths].sum())

    def _behind(self, deepest: int) -> Numbers:
        """By depth: the expected number of pages behind a page."""
        mean = min(_MAX_NEW_PER_PAGE, sum(self.new_by_visit) / len(self.new_by_visit)) if self.new_by_visit else 1.0
        last = max(deepest, *self.visits_by_depth, 0) + 2
        behind = np.zeros(last + 1)
        for depth in range(last - 1, -1, -1):
            visits, new = self.visits_by_depth[depth], self.new_by_depth[depth]
            each = (new + _PRIOR_VISITS * mean) / (visits + _PRIOR_VISITS) if depth else new / max(1, visits)
            behind[depth] = min(1e9, each * (1.0 + behind[depth + 1]))
        return behind
