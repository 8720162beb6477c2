"""The recorded sites of the demo as change histories, with the real sizes of their pages.

A change is one of the useful content, as the crawl loop judges it. The pages are those that exist at the start of the
recording.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webstrata.lab.livingweb.behaviour import behaviour_of
from webstrata.lab.livingweb.recording import SHIPPED_WINDOW, Recording, load_shipped
from webstrata.lab.livingweb.truth import what_happened
from webstrata.lab.policies.histories import Histories, make_histories
from webstrata.schedule.byte_cost import ByteCosts

CORPUS = "recorded"


def recorded_histories(recordings: Sequence[Recording]) -> Histories:
    """The changes of all pages. Every version is fingerprinted, which takes some seconds for the shipped sites."""
    start, end = SHIPPED_WINDOW
    changes = {page: list[float]() for recording in recordings for page in _pages(recording)}
    for change in what_happened(recordings, start, end, only=changes):
        if change.counts:
            changes[change.url].append(change.at)
    sites = {page: recording.site for recording in recordings for page in _pages(recording)}
    return make_histories(
        [
            {"corpus": CORPUS, "page": page, "site": sites[page], "first": start, "until": end, "changes": instants}
            for page, instants in changes.items()
        ]
    )


def recorded_costs(histories: Histories) -> ByteCosts:
    """The mean size of each page's versions, and whether its server answers conditional requests."""
    costs: dict[str, tuple[float, bool]] = {}
    for recording in load_shipped():
        behaviour = behaviour_of(recording.site)
        for page, path in _pages(recording).items():
            sizes = [len(recording.contents[blob]) for _, blob in recording.pages[path] if blob]
            costs[page] = float(np.mean(sizes)), behaviour.etag or behaviour.last_modified
    return ByteCosts(
        size=np.array([costs[page][0] for page in histories.page], dtype=np.float32),
        conditional=np.array([costs[page][1] for page in histories.page]),
    )


def _pages(recording: Recording) -> dict[str, str]:
    """URL to path."""
    return {recording.url(path): path for path in recording.alive_at(SHIPPED_WINDOW[0])}
