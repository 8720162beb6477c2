"""Sharp captures of real sites, replayed: what each strategy would have caught, judged by the recorded versions.

Rates come from what each page did before the capture, with the site's prior; the order of discovery from the links in
the pages as they then were. Captures last a given time, whatever the number of pages, and start at many instants: any,
and busy ones, where a publication falls into the capture.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter

import msgspec
import numpy as np

from webstrata.clock import DAY_S
from webstrata.errors import UsageError
from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.sharp.algorithms import ScheduleInput, schedule_by
from webstrata.lab.sharp.recorded_site import RecordedLinks
from webstrata.sharp.solar import breadth_first
from webstrata.sharp.rates import Numbers, posterior_rates, site_prior
from webstrata.sharp.schedule import TAU, expected_sharp, whole_lengths_of

SINGLE_PASS = "breadth-first"
STRATEGIES = ("hottest-middle-online", "solar-online", "optimal-online")
DAYS = (1.0, 14.0)
"""How long captures last."""
STARTS = 24
_RECORDED_DAYS = 730.0
"""So much of a recording's end is used."""
_HISTORY_DAYS = 180.0
"""So much of that is kept for learning rates before the first capture."""
_FEWEST = 5
"""Sites of fewer pages are no captures of a site."""


Outcome = tuple[int, int, float | None]
"""Pages, ##pages, E."""


class SiteRow(msgspec.Struct, frozen=True):
    """One strategy on one site, mean of the captures."""

    site: str
    days: float
    """From the first visit to the last revisit."""
    starts: str
    """`any` instants, or `busy` ones."""
    algorithm: str
    captures: int
    pages: float
    sharp: float
    """##pages. For the single pass: pages that coexisted at the instant that suits it best, known by hindsight only."""
    proved: float
    """Pages that the capture itself proves to have coexisted: a single pass proves no two."""
    expected: float | None


def site_rows(
    recordings: Iterable[Recording],
    days: Sequence[float] = DAYS,
    starts: int = STARTS,
    seed: int = 1,
    told: Callable[[str], None] = lambda _: None,
) -> Iterator[SiteRow]:
    """Site by site, strategy by strategy."""
    if starts < 1 or not all(0 < one < _RECORDED_DAYS for one in days):
        raise UsageError("Captures need at least one start, and last more than 0 days and less than two years.")
    for recording in recordings:
        replay = _Replay(recording)
        for lasting in days:
            for kind in ("any", "busy"):
                told(f"{recording.site}, {lasting:g} days, {kind} starts")
                yield from replay.rows(lasting, kind, starts, np.random.default_rng(seed))


class _Replay:
    """Captures of one recorded site."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._links = RecordedLinks(recording)
        self._published = sorted({at for versions in recording.pages.values() for at, _ in versions})
        self._begun = max(self._published[0], self._published[-1] - _RECORDED_DAYS * DAY_S)

    def rows(self, days: float, kind: str, starts: int, random: np.random.Generator) -> Iterator[SiteRow]:
        found: dict[str, list[Outcome]] = {}
        for start in self._starts(days, kind, starts, random):
            paths = self._recording.alive_at(start)
            if len(paths) >= _FEWEST:
                for name, outcome in self._captured(paths, start, days).items():
                    found.setdefault(name, []).append(outcome)
        for name, outcomes in found.items():
            expected = [chance for _, _, chance in outcomes if chance is not None]
            yield SiteRow(
                site=self._recording.site,
                days=days,
                starts=kind,
                algorithm=name,
                captures=len(outcomes),
                pages=float(np.mean([pages for pages, _, _ in outcomes])),
                sharp=float(np.mean([sharp for _, sharp, _ in outcomes])),
                proved=1.0 if name == SINGLE_PASS else float(np.mean([sharp for _, sharp, _ in outcomes])),
                expected=float(np.mean(expected)) if expected else None,
            )

    def _starts(self, days: float, kind: str, count: int, random: np.random.Generator) -> list[float]:
        """Instants at which captures start, within what is recorded and with some history before them."""
        first, last = self._begun + _HISTORY_DAYS * DAY_S, self._published[-1] - days * DAY_S
        later = [at for at in self._published if first + days * DAY_S < at <= last + days * DAY_S]
        if not later or last <= first:
            return []
        if kind == "any":
            return sorted(random.uniform(first, last, count).tolist())
        return sorted((random.choice(later, size=count) - random.uniform(0.0, days * DAY_S, count)).tolist())

    def _captured(self, paths: list[str], start: float, days: float) -> dict[str, Outcome]:
        """Strategy -> (pages, ##pages, E) of a capture that starts at this instant."""
        count = len(paths)
        slot_s = days * DAY_S / (2 * count - 2)
        tree = self._links.tree(paths, start)
        rates = self._rates(paths, start) * slot_s
        site = ScheduleInput(rates, whole_lengths_of(rates, TAU), np.ones(count), tree)
        once = self._coexisted([paths[row] for row in breadth_first(tree)], start, slot_s)
        outcome: dict[str, Outcome] = {SINGLE_PASS: (count, once, None)}
        instant = start + (count - 1) * slot_s
        for name in STRATEGIES:
            schedule = schedule_by(name, site)
            visited = instant - slot_s * schedule.visits
            revisited = instant + slot_s * schedule.revisits
            sharp = sum(
                self._version(path, before) == self._version(path, after)
                for path, before, after in zip(paths, visited.tolist(), revisited.tolist(), strict=True)
            )
            outcome[name] = (count, sharp, expected_sharp(schedule, rates))
        return outcome

    def _rates(self, paths: list[str], start: float) -> Numbers:
        """Changes per second, from what was published before the capture."""
        changes = [self._version(path, start) - max(0, self._version(path, self._begun)) for path in paths]
        observed = [start - max(self._begun, self._recording.pages[path][0][0]) for path in paths]
        return posterior_rates(changes, observed, site_prior(changes, observed))

    def _version(self, path: str, at: float) -> int:
        """The number of the version that a visitor gets at an instant; -1 before the first."""
        return bisect_right(self._recording.pages[path], at, key=itemgetter(0)) - 1

    def _coexisted(self, paths: list[str], start: float, slot_s: float) -> int:
        """Of the versions that one pass gets, as many as were all there at one instant, whichever suits best."""
        turns: list[tuple[float, int]] = []
        for place, path in enumerate(paths):
            versions = self._recording.pages[path]
            number = self._version(path, start + place * slot_s)
            turns.append((versions[number][0], 1))
            if number + 1 < len(versions):
                turns.append((versions[number + 1][0], -1))
        together = best = 0
        for _, turn in sorted(turns):
            together += turn
            best = max(best, together)
        return best
