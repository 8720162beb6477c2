"""The ordinary crawl as a yardstick: pages in the order in which they are found, once each, or twice in that order."""

from __future__ import annotations

from collections import deque

import numpy as np

from webstrata.sharp.linktree import LinkTree
from webstrata.sharp.rates import Places


def breadth_first(tree: LinkTree) -> Places:
    """Pages in the order of their visits."""
    waiting = deque(tree.seeds)
    order: list[int] = []
    while waiting:
        page = waiting.popleft()
        order.append(page)
        waiting.extend(tree.children[page])
    return np.array(order, dtype=np.intp)
