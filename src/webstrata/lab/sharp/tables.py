"""Tables 1 and 2 of the solar paper, run again: expectations, executions, and the bound that no schedule passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import numpy as np

from webstrata.lab.sharp.algorithms import ALGORITHMS, DATASETS, OFFLINE, PAPER, ScheduleInput, schedule_by, simulated
from webstrata.sharp.link_tree import paper_tree
from webstrata.sharp.optimal import optimal
from webstrata.sharp.schedule import TAU, expected_sharp, whole_lengths_of

RUNS = 1000
_CONFIDENT = 1.96
"""Standard errors on either side for 95 %."""


class TableRow(msgspec.Struct, frozen=True):
    """One algorithm on one data set."""

    table: int
    dataset: str
    algorithm: str
    expected: float
    simulated: float
    """Mean ##pages of the executions."""
    simulated_low: float
    simulated_high: float
    """95 % confidence interval of that mean."""
    simulated_sd: float
    """Of one execution."""
    runs: int
    paper: float | None
    """E(##pages) as printed."""
    paper_pages: int | None
    """##pages of the paper's one execution."""
    bound: float


def table_rows(
    datasets: tuple[str, ...] = tuple(DATASETS),
    runs: int = RUNS,
    told: Callable[[str], None] = lambda _: None,
    tau: float = TAU,
) -> Iterator[TableRow]:
    """Row by row: offline algorithms first (table 1), then online ones (table 2); with the paper's tau by default."""
    for dataset in datasets:
        rates = DATASETS[dataset]()
        site = ScheduleInput(rates, whole_lengths_of(rates, tau), np.ones(rates.size), paper_tree(rates.size), tau)
        bound = optimal(rates)[1].bound
        for name in ALGORITHMS:
            told(f"{dataset} {name}")
            yield _row(dataset, name, site, bound, runs)


def _row(dataset: str, name: str, site: ScheduleInput, bound: float, runs: int) -> TableRow:
    schedule = schedule_by(name, site)
    pages = simulated(schedule, site.rates, runs, seed=list(ALGORITHMS).index(name))
    mean, deviation = float(pages.mean()), float(pages.std(ddof=1)) if runs > 1 else 0.0
    error = _CONFIDENT * deviation / np.sqrt(runs)
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
