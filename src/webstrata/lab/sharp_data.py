"""The solar paper's two data sets, and what its tables say."""

from __future__ import annotations

import math

import numpy as np

from webstrata.sharp.lengths import TAU
from webstrata.sharp.rates import Numbers

PAGES = 1000


def skewed(count: int = PAGES) -> Numbers:
    """A static site with a few lively pages: rates fall by 6 % three times, by 0.1 % six times, and so on."""
    steps = np.where(np.arange(count - 1) % 9 < 3, 1.06, 1.001)
    rates = np.ones(count)
    for page in range(1, count):
        rates[page] = rates[page - 1] / steps[page - 1]
    return rates


def smooth(count: int = PAGES) -> Numbers:
    """A lively site: confidence intervals of 1, 2, 3, … slots."""
    return math.log(1.0 / TAU) / np.arange(1, count + 1)


DATASETS = {"skewed": skewed, "smooth": smooth}

PAPER: dict[str, dict[str, tuple[float, int]]] = {
    "sharc-threshold": {"skewed": (684.286, 682), "smooth": (492.864, 493)},
    "hottest-middle": {"skewed": (649.577, 647), "smooth": (492.864, 493)},
    "solar-offline": {"skewed": (704.041, 710), "smooth": (515.249, 515)},
    "hottest-middle-online": {"skewed": (672.271, 669), "smooth": (455.512, 449)},
    "solar-online": {"skewed": (680.421, 679), "smooth": (459.799, 455)},
}
"""Algorithm -> data set -> (E(##pages), ##pages of one execution) as printed."""
