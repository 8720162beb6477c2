"""Replayed sharp captures of recorded sites: the pages that each strategy would have made sharp.

Rates are estimated from the versions before the capture with the site's prior; pages are found by the links in the
versions at that time. Captures have a fixed duration for any number of pages. They start at random instants, and at
busy ones, for which at least one publication falls into the capture.
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
from webstrata.lab.sharp.algorithms import SharpScheduleInput, schedule_by
from webstrata.lab.sharp.recorded_site import RecordedLinks
from webstrata.sharp.rates import Numbers, posterior_rates, site_prior
from webstrata.sharp.schedule import TAU, expected_sharp, whole_lengths_of

SINGLE_PASS = "breadth-first"
STRATEGIES = ("hottest-middle-online", "solar-online", "optimal-online")
DAYS = (1.0, 14.0)
"""Durations of the captures."""
STARTS = 24
_RECORDED_DAYS = 730.0
"""The last part of a recording that is used."""
_HISTORY_DAYS = 180.0
"""The part of it that is reserved for the estimation of rates, before the first capture."""
_MIN_PAGES = 5
"""Sites with fewer pages are skipped."""


Outcome = tuple[int, int, float | None]
"""Number of pages, ##pages, E(##pages)."""


class SiteRow(msgspec.Struct, frozen=True):
    """The results of one strategy on one site: means over the captures."""

    site: str
    days: float
    """From the first visit to the last revisit."""
    starts: str
    """`any` for random instants, or `busy`."""
    algorithm: str
    captures: int
    pages: float
    sharp: float
    """##pages. For the single pass: pages that coexisted at the best instant, which only the recording shows."""
    proved: float
    """Pages that the capture itself proves to have coexisted; a single pass proves this for no two pages."""
    expected: float | None


def site_rows(
    recordings: Iterable[Recording],
    days: Sequence[float] = DAYS,
    starts: int = STARTS,
    seed: int = 1,
    on_progress: Callable[[str], None] = lambda _: None,
) -> Iterator[SiteRow]:
    """The rows of every site and strategy."""
    if starts < 1 or not all(0 < duration < _RECORDED_DAYS for duration in days):
        raise UsageError("Captures need at least one start, and last more than 0 days and less than two years.")
    for recording in recordings:
        replay = _Replay(recording)
        for duration in days:
            for kind in ("any", "busy"):
                on_progress(f"{recording.site}, {duration:g} days, {kind} starts")
                yield from replay.rows(duration, kind, starts, np.random.default_rng(seed))


class _Replay:
    """Replays captures of one recorded site."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._links = RecordedLinks(recording)
        self._published = sorted({at for versions in recording.pages.values() for at, _ in versions})
        self._begun = max(self._published[0], self._published[-1] - _RECORDED_DAYS * DAY_S)

    def rows(self, days: float, kind: str, starts: int, random: np.random.Generator) -> Iterator[SiteRow]:
        outcomes_by_name: dict[str, list[Outcome]] = {}
        for start in self._starts(days, kind, starts, random):
            paths = self._recording.alive_at(start)
            if len(paths) >= _MIN_PAGES:
                for name, outcome in self._captured(paths, start, days).items():
                    outcomes_by_name.setdefault(name, []).append(outcome)
        for name, outcomes in outcomes_by_name.items():
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
        """Instants at which captures start: within the recording, with some history before them."""
        first, last = self._begun + _HISTORY_DAYS * DAY_S, self._published[-1] - days * DAY_S
        later = [at for at in self._published if first + days * DAY_S < at <= last + days * DAY_S]
        if not later or last <= first:
            return []
        if kind == "any":
            return sorted(random.uniform(first, last, count).tolist())
        return sorted((random.choice(later, size=count) - random.uniform(0.0, days * DAY_S, count)).tolist())

    def _captured(self, paths: list[str], start: float, days: float) -> dict[str, Outcome]:
        """Strategy -> outcome of a capture that starts at this instant."""
        count = len(paths)
        slot_s = days * DAY_S / (2 * count - 2)
        tree = self._links.tree(paths, start)
        rates = self._rates(paths, start) * slot_s
        site = SharpScheduleInput(rates, whole_lengths_of(rates, TAU), np.ones(count), tree)
        once = self._coexisted([paths[row] for row in tree.breadth_first()], start, slot_s)
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
        """Changes per second, estimated from the versions before the capture."""
        changes = [self._version(path, start) - max(0, self._version(path, self._begun)) for path in paths]
        observed = [start - max(self._begun, self._recording.pages[path][0][0]) for path in paths]
        return posterior_rates(changes, observed, site_prior(changes, observed))

    def _version(self, path: str, at: float) -> int:
        """The index of the version that is served at an instant; -1 before the first one."""
        return bisect_right(self._recording.pages[path], at, key=itemgetter(0)) - 1

    def _coexisted(self, paths: list[str], start: float, slot_s: float) -> int:
        """The largest number of versions downloaded in one pass that coexisted at some instant."""
        edges: list[tuple[float, int]] = []
        for index, path in enumerate(paths):
            versions = self._recording.pages[path]
            number = self._version(path, start + index * slot_s)
            edges.append((versions[number][0], 1))
            if number + 1 < len(versions):
                edges.append((versions[number + 1][0], -1))
        together = best = 0
        for _, step in sorted(edges):
            together += step
            best = max(best, together)
        return best
