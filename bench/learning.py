"""Learning from copies in archives: a year of copies of many pages, with the events of their sites.

The comparison replays each page alone, as the states of visited pages are restored: pages do not learn from each other
there, so that all first copies are one step, whatever their times, all second ones the next, and so on.
"""

from __future__ import annotations

import time

import numpy as np

from bench.figures import Figure
from webstrata.clock import DAY_S
from webstrata.lab.archive_samples import archive_copies
from webstrata.schedule.page_table import replayed
from webstrata.schedule.past_copies import PastSightings, learn_sightings
from webstrata.schedule.registry import budgeted_policy, policy_state

_PAGES, _PAGES_QUICK = 20_000, 2_000
_PAGES_OF_SITE = 50
_DAYS = 365.0


def run(quick: bool) -> list[Figure]:
    pages = _PAGES_QUICK if quick else _PAGES
    random = np.random.default_rng(1)
    page, day = archive_copies(np.zeros(pages), _DAYS, seed=1)
    changed = random.random(len(page)) < (10 ** random.uniform(-2.0, -0.3, pages))[page]
    sightings = PastSightings(page=page, at=day, result=changed.astype(np.int8))
    log = list(zip(page.tolist(), (day * DAY_S).tolist(), changed.tolist(), strict=True))
    learned, alone = [], []
    for _ in range(1 if quick else 3):
        table = policy_state("value", np.arange(pages) // _PAGES_OF_SITE, now=_DAYS)
        start = time.process_time()
        learn_sightings(table, sightings)
        learned.append(pages / (time.process_time() - start))
        start = time.process_time()
        replayed(budgeted_policy("value"), log)
        alone.append(pages / (time.process_time() - start))
    about = f"{pages:,} pages, {len(page) / pages:.0f} copies each"
    return [
        Figure(
            bench="learning",
            name=f"with the events of sites of {_PAGES_OF_SITE} pages ({about})",
            values=learned,
            unit="pages/s",
        ),
        Figure(bench="learning", name=f"each page alone ({about})", values=alone, unit="pages/s"),
    ]
