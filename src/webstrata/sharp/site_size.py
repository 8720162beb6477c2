"""How many pages a site has that are not found yet, guessed from how many new ones visits found, depth by depth."""

from __future__ import annotations

from dataclasses import dataclass, field

_DEEPER = 4
"""Depths looked at beyond the deepest page found."""
_DAMPED = 0.5
"""At a depth not visited yet, pages are taken to find this part of what the depth above them finds."""
_PRIOR_VISITS = 1.0
_MOST = 10_000_000


@dataclass
class SiteSize:
    visited: list[int] = field(default_factory=list)
    """Visits by depth."""
    found: list[int] = field(default_factory=list)
    """New pages that they found."""

    def learn(self, depth: int, found: int) -> None:
        """A page at this depth was visited and named this many pages for the first time."""
        while len(self.visited) <= depth:
            self.visited.append(0)
            self.found.append(0)
        self.visited[depth] += 1
        self.found[depth] += found

    def unknown(self, waiting: dict[int, int]) -> int:
        """Pages still to be found, given how many wait to be visited at each depth."""
        if not waiting:
            return 0
        deepest = max(max(waiting), len(self.visited)) + _DEEPER
        descendants = 0.0
        behind = [0.0] * (deepest + 1)
        for depth in range(deepest - 1, -1, -1):
            descendants = min(_MOST, self._yield(depth) * (1.0 + descendants))
            behind[depth] = descendants
        return min(_MOST, round(sum(count * behind[depth] for depth, count in waiting.items())))

    def _yield(self, depth: int) -> float:
        """New pages per visit at a depth."""
        rate = 0.0
        for level in range(depth + 1):
            visits = self.visited[level] if level < len(self.visited) else 0
            found = self.found[level] if level < len(self.found) else 0
            rate = (
                (found + _PRIOR_VISITS * _DAMPED * rate) / (visits + _PRIOR_VISITS)
                if level
                else (found / visits if visits else 0.0)
            )
        return rate
