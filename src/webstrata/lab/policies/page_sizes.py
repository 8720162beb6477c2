"""Sizes of pages and their answers to conditional requests, simulated: histories of changes have neither.

Sizes are log-normal, with the median and the spread of the 197 pages of the demo's recorded sites (18 kB; the logarithm
has a standard deviation of 1.45). Half of the sites, drawn by the seed, answer conditional requests with 304.
"""

from __future__ import annotations

import numpy as np

from webstrata.lab.policies.histories import Histories
from webstrata.schedule.byte_cost import ByteCosts

MEDIAN_BYTES = 18_000.0
SPREAD = 1.45
CONDITIONAL = 0.5


def simulated_sizes(histories: Histories, seed: int) -> ByteCosts:
    """The costs of the pages. They depend on the number of pages and the seed, not on the changes."""
    random = np.random.default_rng([seed, 304])
    pages = len(histories)
    sites, site = np.unique(np.array(histories.site), return_inverse=True)
    size = np.clip(random.lognormal(np.log(MEDIAN_BYTES), SPREAD, pages), 200.0, 20e6)
    # A corpus that is one site has pages of both kinds, as if it had two servers.
    group = site if len(sites) > 1 else np.arange(pages)
    groups = int(group.max()) + 1
    conditional = (random.permutation(groups) < CONDITIONAL * groups)[group]
    return ByteCosts(size=size.astype(np.float32), conditional=conditional)
