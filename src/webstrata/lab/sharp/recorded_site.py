"""A recorded site compressed to a few hours, schedules for it, and the links by which its pages are found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webstrata.flows.capture.events import PrecomputedSchedule
from webstrata.lab.livingweb.behaviour import behaviour_of
from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.sharp.algorithms import SharpScheduleInput, schedule_by
from webstrata.observe.page import observe
from webstrata.sharp.link_tree import LinkTree, link_tree
from webstrata.sharp.rates import Numbers, posterior_rates, site_prior
from webstrata.sharp.schedule import TAU, whole_lengths_of

_SLOT_S = 1.0
"""The time between two requests, unless the site's Crawl-delay is longer."""


class CompressedSite:
    """A site whose recorded changes all happen within some hours. `recording` has the compressed times; nothing changes
    before the first change."""

    def __init__(self, original: Recording, start_at: float, hours: float) -> None:
        times = [at for versions in original.pages.values() for at, _ in versions[1:]] or [0.0]
        self._original = original
        self._start_at, self._first = start_at, min(times)
        self._scale = hours * 3600.0 / max(max(times) - self._first, 1.0)
        pages = {
            path: [(start_at + (at - self._first) * self._scale, blob) for at, blob in versions]
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
        """The schedule that an algorithm computes from the versions up to now."""
        paths = [self._path_of[url] for url in pages]
        rates = self.rates_per_s(paths, now)
        slots = rates * max(_SLOT_S, behaviour_of(self.recording.site).crawl_delay_s or 0.0)
        tree = self._links.tree(paths, now)
        schedule = schedule_by(
            algorithm, SharpScheduleInput(slots, whole_lengths_of(slots, TAU), np.ones(len(paths)), tree)
        )
        return PrecomputedSchedule(
            algorithm=algorithm,
            visits=tuple(pages[index] for index in np.argsort(-schedule.visits)),
            revisits=tuple(pages[index] for index in np.argsort(schedule.revisits)),
            rates_per_s=dict(zip(pages, rates.tolist(), strict=True)),
        )

    def rates_per_s(self, paths: Sequence[str], now: float) -> Numbers:
        """Rates per second, estimated on the original time scale, which the priors refer to, and then compressed."""
        then = self._first + (now - self._start_at) / self._scale
        published = [[at for at, _ in self._original.pages[path] if at <= then] for path in paths]
        changes = [max(0, len(times) - 1) for times in published]
        observed = [then - times[0] if times else 0.0 for times in published]
        return posterior_rates(changes, observed, site_prior(changes, observed)) / self._scale


class RecordedLinks:
    """The links of one recorded site; each content is parsed once."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._path_of = {recording.url(path): path for path in recording.pages}
        self._cache: dict[tuple[str, str], tuple[str, ...]] = {}

    def tree(self, paths: list[str], at: float) -> LinkTree:
        """The tree of first discoveries, breadth first from the home page.

        A page that no other page links to is a seed, as from a sitemap. On a site without a home page all pages are
        seeds.
        """
        row_of = {path: row for row, path in enumerate(paths)}
        home = [row_of[path] for path in ("index.html", "index.htm") if path in row_of]
        if not home:
            return link_tree({}, len(paths))
        children: dict[int, list[int]] = {}
        found = set(home)
        others = sorted(set(row_of.values()) - found, key=lambda row: (paths[row].count("/"), row))
        for root in [*home, *others]:
            if root in home or root not in found:
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
        """Follow links breadth first; `waiting` grows during the loop."""
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
        if (path, blob) not in self._cache:
            observed = observe(self._recording.contents[blob], None, self._recording.url(path))
            linked = (self._path_of.get(url) for url in observed.links)
            self._cache[path, blob] = tuple(target for target in linked if target is not None)
        return self._cache[path, blob]
