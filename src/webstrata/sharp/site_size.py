"""How many pages a site has that are not found yet, guessed from how many new ones its visits found.

Two guesses, each too high where the other is not; the lower counts, and never more than three times what is known:

- by the latest visits: if they find y new pages in the mean, and those y each in turn, every waiting page leads to
  y + y^2 + … more. Blind while y is 1 or above.
- by depth: pages lead to as many as others of their depth did, drawn towards the mean of all; those deeper than any
  visited are taken to lead to few.
"""

from __future__ import annotations

import msgspec
import numpy as np

from webstrata.sharp.rates import Places

_LATEST = 0.25
"""The part of the visits that is the latest."""
_LEAST = 20
_GROWTH = 3.0
_PRIOR_VISITS = 2.0
_DEEPER = 0.7
"""New pages per page at depths not visited, at most."""


class SiteSize(msgspec.Struct):
    found: list[int] = msgspec.field(default_factory=list)
    """New pages by visit."""
    visits_at: list[int] = msgspec.field(default_factory=list)
    """Visits by depth."""
    found_at: list[int] = msgspec.field(default_factory=list)
    """New pages that they found."""

    def learn(self, depth: int, new: int) -> None:
        """A page at this depth was visited and named this many pages for the first time."""
        self.found.append(new)
        while len(self.visits_at) <= depth:
            self.visits_at.append(0)
            self.found_at.append(0)
        self.visits_at[depth] += 1
        self.found_at[depth] += new

    def unknown(self, waiting: Places, known: int) -> int:
        """Pages still to be found, with pages waiting at these depths and so many known in all."""
        if not waiting.size:
            return 0
        return round(min(_GROWTH * known, self._by_latest(waiting.size), self._by_depth(waiting)))

    def _by_latest(self, waiting: int) -> float:
        latest = self.found[-max(_LEAST, round(len(self.found) * _LATEST)) :]
        each = sum(latest) / len(latest) if latest else 1.0
        return np.inf if each >= 1.0 else waiting * each / (1.0 - each)

    def _by_depth(self, waiting: Places) -> float:
        if not self.found:
            return np.inf
        mean = min(_DEEPER, sum(self.found) / len(self.found))
        deepest = max(int(waiting.max()), len(self.visits_at) - 1) + 2
        behind = np.zeros(deepest + 1)
        for depth in range(deepest - 1, -1, -1):
            visits, found = self._at(depth)
            each = (found + _PRIOR_VISITS * mean) / (visits + _PRIOR_VISITS) if depth else found / max(1, visits)
            behind[depth] = min(1e9, each * (1.0 + behind[depth + 1]))
        return float(behind[waiting].sum())

    def _at(self, depth: int) -> tuple[int, int]:
        return (self.visits_at[depth], self.found_at[depth]) if depth < len(self.visits_at) else (0, 0)
