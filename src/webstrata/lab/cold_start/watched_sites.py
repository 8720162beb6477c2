"""Recorded sites as a crawler finds them that begins on one day: the pages that exist then, what each looks like, and
its changes from then on.

A change is one of the useful content, as the crawl loop judges it. The deletion of a page, and its publication after
that, count too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from msgspec import Struct

from webstrata.clock import DAY_S
from webstrata.errors import UsageError
from webstrata.lab.livingweb.recording import Recording, Window
from webstrata.lab.livingweb.site import media_type
from webstrata.lab.livingweb.truth import what_happened
from webstrata.lab.policies.histories import Histories, make_histories
from webstrata.observe.page import observe_typed
from webstrata.observe.static_features import static_features

CORPUS = "recorded"
_NO_HEADERS = ("has_last_modified",)
"""Features that a recording does not have."""


class WatchedSites(Struct, frozen=True, kw_only=True):
    """The pages of all sites; one entry of each field for a page."""

    histories: Histories
    """`first` is the day on which the crawler begins."""
    features: tuple[dict[str, float], ...]
    """Of the version on that day."""

    def covered(self, *windows: float) -> list[float]:
        """Those of these numbers of days for which a site was recorded. Raises UsageError if the first is too many."""
        longest = float((self.histories.until - self.histories.first).max(initial=0.0)) / DAY_S
        found = [days for days in dict.fromkeys(windows) if days <= longest + 1e-3]
        if windows[0] not in found:
            raise UsageError(f"no site was recorded for more than {longest:.0f} days. Ask for fewer with --days.")
        return found


def watched_sites(
    recordings: Iterable[Recording],
    days: float,
    most_pages: int,
    window: Window | None = None,
    on_site: Callable[[], object] = lambda: None,
) -> WatchedSites:
    """The crawler begins `days` before the last publication of each site, or with its first one if that is later; with
    a window, `days` before its end, or at its start. At most `most_pages` of a site, a sample with a fixed seed."""
    rows: list[dict[str, Any]] = []
    features: list[dict[str, float]] = []
    for recording in recordings:
        times = [at for versions in recording.pages.values() for at, _ in versions]
        start, end = window or (min(times), max(times))
        begin = max(end - days * DAY_S, start)
        alive = sorted(recording.alive_at(begin))
        chosen = np.sort(np.random.default_rng(1).permutation(len(alive))[:most_pages])
        paths = {recording.url(alive[row]): alive[row] for row in chosen.tolist()}
        part = recording.within((begin, end), paths.values())
        changes: dict[str, list[float]] = {url: [] for url in paths}
        for change in what_happened([part], begin, end, only=changes):
            if change.counts:
                changes[change.url].append(change.at)
        for url, path in paths.items():
            rows.append(
                {
                    "corpus": CORPUS,
                    "page": f"{recording.site}/{path}",
                    "site": recording.site,
                    "first": begin,
                    "until": end,
                    "changes": changes[url],
                }
            )
            features.append(_features(part, path, begin))
        on_site()
    return WatchedSites(histories=make_histories(rows), features=tuple(features))


def _features(recording: Recording, path: str, at: float) -> dict[str, float]:
    """Of the version that is served at an instant."""
    version = recording.version_at(path, at)
    body, url = recording.contents[str(version[1] if version else None)], recording.url(path)
    features = static_features(observe_typed(body, *media_type(path, body), url), body, url)
    return {name: value for name, value in features.items() if name not in _NO_HEADERS}
