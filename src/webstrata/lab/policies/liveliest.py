"""The pages of each corpus that changed most often before the window of an experiment.

The window itself must not decide which pages are in it: pages that were chosen because they will change often would
favour policies that visit often.
"""

from __future__ import annotations

import numpy as np

from webstrata.clock import DAY_S
from webstrata.errors import UsageError
from webstrata.lab.policies.histories import Histories


def liveliest(histories: Histories, share: float, days: float) -> Histories:
    """This share of the pages of each corpus: those with the most changes a day in the years before the window of the
    last `days`, at most as long as the window. Pages younger than the window are left out."""
    if not 0 < share <= 1:
        raise UsageError(f"--liveliest is a share of the pages from 0 to 1, not {share:g}.")
    window = days * DAY_S
    start = histories.until - window
    begin = np.maximum(histories.first, start - window)
    page = np.repeat(np.arange(len(histories)), np.diff(histories.offsets))
    before = (histories.changes > begin[page]) & (histories.changes <= start[page])
    changes = np.bincount(page[before], minlength=len(histories))
    rate = np.where(start > begin, changes / np.maximum(start - begin, DAY_S), -1.0)
    corpora = np.array(histories.corpus)
    chosen = []
    for corpus in dict.fromkeys(histories.corpus):
        rows = np.flatnonzero((corpora == corpus) & (rate >= 0))
        count = int(np.ceil(share * len(rows)))
        chosen.append(np.sort(rows[np.argsort(-rate[rows], kind="stable")[:count]]))
    rows = np.concatenate(chosen)
    if not len(rows):
        raise UsageError(f"no page is older than {days:g} days. Ask for a shorter window with --years.")
    return histories.take(rows)
