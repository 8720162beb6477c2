"""A recorded site in a hurry: all its changes within some hours, and schedules for it by what happened before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webstrata.flows.capture_events import PrecomputedSchedule
from webstrata.lab.livingweb.manners import behaviour_of
from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.sharp_algorithms import ScheduleInput, schedule_by
from webstrata.lab.sharp_links import RecordedLinks
from webstrata.sharp.lengths import TAU, whole_lengths_of
from webstrata.sharp.prior import posterior_rates, site_prior
from webstrata.sharp.rates import Numbers

_SLOT_S = 1.0
"""From request to request, where a site asks for no more."""


class CompressedSite:
    """`recording` has the hurried versions; before the first change the site stands still."""

    def __init__(self, original: Recording, start_at: float, hours: float) -> None:
        times = [at for versions in original.pages.values() for at, _ in versions[1:]] or [0.0]
        self._original = original
        self._start_at, self._first = start_at, min(times)
        self._pace = hours * 3600.0 / max(max(times) - self._first, 1.0)
        pages = {
            path: [(start_at + (at - self._first) * self._pace, blob) for at, blob in versions]
            for path, versions in original.pages.items()
        }
        self.recording = Recording(
            site=original.site,
            licence=original.licence,
            source=original.source,
            pages=pages,
            contents=original.contents,
        )
        self._links = RecordedLinks(self.recording)
        self._path_of = {self.recording.url(path): path for path in pages}

    def plan(self, algorithm: str, pages: Sequence[str], now: float) -> PrecomputedSchedule:
        """The schedule of an algorithm that knows what the pages did until now."""
        paths = [self._path_of[url] for url in pages]
        rates = self.rates_per_s(paths, now)
        slots = rates * max(_SLOT_S, behaviour_of(self.recording.site).crawl_delay_s or 0.0)
        tree = self._links.tree(paths, now)
        schedule = schedule_by(algorithm, ScheduleInput(slots, whole_lengths_of(slots, TAU), np.ones(len(paths)), tree))
        return PrecomputedSchedule(
            algorithm=algorithm,
            visits=tuple(pages[place] for place in np.argsort(-schedule.visits)),
            revisits=tuple(pages[place] for place in np.argsort(schedule.revisits)),
            rates_per_s=dict(zip(pages, rates.tolist(), strict=True)),
        )

    def rates_per_s(self, paths: Sequence[str], now: float) -> Numbers:
        """Estimated where the site's own time runs, since priors speak of that; then hurried."""
        then = self._first + (now - self._start_at) / self._pace
        published = [[at for at, _ in self._original.pages[path] if at <= then] for path in paths]
        changes = [max(0, len(times) - 1) for times in published]
        observed = [then - times[0] if times else 0.0 for times in published]
        return posterior_rates(changes, observed, site_prior(changes, observed)) / self._pace
