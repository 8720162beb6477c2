"""Tables 1 and 2 of the SOLAR paper: its data sets, its printed values, and the values computed here."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import msgspec
import numpy as np

from webstrata.lab.sharp.algorithms import ALGORITHMS, OFFLINE, SharpScheduleInput, schedule_by
from webstrata.sharp.link_tree import paper_tree
from webstrata.sharp.optimal import optimal
from webstrata.sharp.rates import Numbers
from webstrata.sharp.schedule import TAU, SharpSchedule, expected_sharp, whole_lengths_of

PAGES = 1000
RUNS = 1000
_STANDARD_ERRORS = 1.96
"""On either side of the mean, for a 95 % confidence interval."""


def skewed(count: int = PAGES) -> Numbers:
    """A static site with a few hot pages: rates fall by 6 % three times, then by 0.1 % six times, and so on."""
    steps = np.where(np.arange(count - 1) % 9 < 3, 1.06, 1.001)
    rates = np.ones(count)
    for page in range(1, count):
        rates[page] = rates[page - 1] / steps[page - 1]
    return rates


def smooth(count: int = PAGES) -> Numbers:
    """A site that changes often: confidence intervals of 1, 2, 3, … slots."""
    return math.log(1.0 / TAU) / np.arange(1, count + 1)


DATASETS = {"skewed": skewed, "smooth": smooth}

PAPER: dict[str, dict[str, tuple[float, int]]] = {
    "sharc-threshold": {"skewed": (684.286, 682), "smooth": (492.864, 493)},
    "hottest-middle": {"skewed": (649.577, 647), "smooth": (492.864, 493)},
    "solar-offline": {"skewed": (704.041, 710), "smooth": (515.249, 515)},
    "hottest-middle-online": {"skewed": (672.271, 669), "smooth": (455.512, 449)},
    "solar-online": {"skewed": (680.421, 679), "smooth": (459.799, 455)},
}
"""Algorithm -> data set -> (E(##pages), ##pages of one execution), as printed in the paper."""


class TableRow(msgspec.Struct, frozen=True):
    """The results of one algorithm on one data set."""

    table: int
    dataset: str
    algorithm: str
    expected: float
    simulated: float
    """The mean ##pages of the simulated executions."""
    simulated_low: float
    simulated_high: float
    """95 % confidence interval of that mean."""
    simulated_sd: float
    """The standard deviation of one execution."""
    runs: int
    paper: float | None
    """E(##pages) as printed."""
    paper_pages: int | None
    """##pages of the paper's one execution."""
    bound: float


def table_rows(
    datasets: tuple[str, ...] = tuple(DATASETS),
    runs: int = RUNS,
    on_progress: Callable[[str], None] = lambda _: None,
    tau: float = TAU,
) -> Iterator[TableRow]:
    """The rows of both tables: for each data set the offline algorithms (table 1), then the online ones (table 2)."""
    for dataset in datasets:
        rates = DATASETS[dataset]()
        site = SharpScheduleInput(rates, whole_lengths_of(rates, tau), np.ones(rates.size), paper_tree(rates.size), tau)
        bound = optimal(rates)[1].bound
        for name in ALGORITHMS:
            on_progress(f"{dataset} {name}")
            yield _row(dataset, name, site, bound, runs)


def _row(dataset: str, name: str, site: SharpScheduleInput, bound: float, runs: int) -> TableRow:
    schedule = schedule_by(name, site)
    pages = simulated(schedule, site.rates, runs, seed=list(ALGORITHMS).index(name))
    mean, deviation = float(pages.mean()), float(pages.std(ddof=1)) if runs > 1 else 0.0
    error = _STANDARD_ERRORS * deviation / np.sqrt(runs)
    printed = PAPER.get(name, {}).get(dataset)
    return TableRow(
        table=1 if name in OFFLINE else 2,
        dataset=dataset,
        algorithm=name,
        expected=expected_sharp(schedule, site.rates),
        simulated=mean,
        simulated_low=mean - float(error),
        simulated_high=mean + float(error),
        simulated_sd=deviation,
        runs=runs,
        paper=printed[0] if printed else None,
        paper_pages=printed[1] if printed else None,
        bound=bound,
    )


def simulated(schedule: SharpSchedule, rates: Numbers, runs: int, seed: int) -> Numbers:
    """##pages of each simulated execution: draws each page's first change after its visit, and counts the pages whose
    change comes after the revisit."""
    random = np.random.default_rng(seed)
    expected_changes = rates * schedule.spans()
    draws = (random.exponential(size=rates.size) for _ in range(runs))
    return np.array([np.count_nonzero(drawn > expected_changes) for drawn in draws], dtype=np.float64)
