"""A recorded site in a hurry: all its changes within some hours, and schedules for it by what happened before.

In which order a crawler finds the pages of a recorded site: by the links in the pages as they were.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webstrata.flows.capture.events import PrecomputedSchedule
from webstrata.lab.livingweb.behaviour import behaviour_of
from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.sharp.algorithms import ScheduleInput, schedule_by
from webstrata.observe.page import observe
from webstrata.sharp.link_tree import LinkTree, link_tree
from webstrata.sharp.rates import Numbers, posterior_rates, site_prior
from webstrata.sharp.schedule import TAU, whole_lengths_of

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


class RecordedLinks:
    """The links of one recorded site; each content is read once."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._path_of = {recording.url(path): path for path in recording.pages}
        self._known: dict[tuple[str, str], tuple[str, ...]] = {}

    def tree(self, paths: list[str], at: float) -> LinkTree:
        """First discoveries, breadth first from the front page; what no page links is a seed, as from a sitemap. A site
        without a front page is known by its list of pages."""
        row_of = {path: row for row, path in enumerate(paths)}
        front = [row_of[path] for path in ("index.html", "index.htm") if path in row_of]
        if not front:
            return link_tree({}, len(paths))
        children: dict[int, list[int]] = {}
        found = set(front)
        others = sorted(set(row_of.values()) - found, key=lambda row: (paths[row].count("/"), row))
        for root in [*front, *others]:
            if root in front or root not in found:
                found.add(root)
                self._follow([root], paths, row_of, at, found, children)
        return link_tree(children, len(paths))

    def _follow(
        self,
        waiting: list[int],
        paths: list[str],
        row_of: dict[str, int],
        at: float,
        found: set[int],
        children: dict[int, list[int]],
    ) -> None:
        """Breadth first: `waiting` grows while it is walked along."""
        for row in waiting:
            for path in self._links(paths[row], at):
                linked = row_of.get(path)
                if linked is not None and linked not in found:
                    found.add(linked)
                    children.setdefault(row, []).append(linked)
                    waiting.append(linked)

    def _links(self, path: str, at: float) -> tuple[str, ...]:
        version = self._recording.version_at(path, at)
        blob = version[1] if version else None
        if blob is None:
            return ()
        if (path, blob) not in self._known:
            seen = observe(self._recording.contents[blob], None, self._recording.url(path))
            linked = (self._path_of.get(url) for url in seen.links)
            self._known[path, blob] = tuple(one for one in linked if one is not None)
        return self._known[path, blob]
