"""Speed of the optimal capture schedule and its distance from the upper bound, compared with SOLAR-offline.

The large sites follow several laws of change rates, without weights and with Pareto weights.

Times are CPU times of all threads; NumPy's linear algebra may use several.
"""

from __future__ import annotations

import numpy as np

from bench.figures import Figure, cpu_seconds
from webstrata.lab.sharp.laws import RATE_LAWS, pareto_weights
from webstrata.lab.sharp.tables import DATASETS
from webstrata.sharp.optimal import SlotPlan, optimal
from webstrata.sharp.rates import Numbers
from webstrata.sharp.schedule import expected_sharp, whole_lengths_of
from webstrata.sharp.solar import solar_offline

_SMALL = 1_000
_LARGE = 100_000


def run(quick: bool) -> list[Figure]:
    figures: list[Figure] = []
    for dataset in DATASETS:
        figures += _small(dataset, repeats=3 if quick else 9)
    if not quick:
        weights = pareto_weights(_LARGE, np.random.default_rng(1))
        for law in RATE_LAWS:
            figures += _large(law, None) + _large(law, weights)
    return figures


def _small(dataset: str, repeats: int) -> list[Figure]:
    rates = DATASETS[dataset](_SMALL)
    weights = pareto_weights(_SMALL, np.random.default_rng(1))
    plain = [cpu_seconds(lambda: optimal(rates)) for _ in range(repeats)]
    weighted = [cpu_seconds(lambda: optimal(rates, weights)) for _ in range(repeats)]
    solar = [cpu_seconds(lambda: solar_offline(whole_lengths_of(rates))) for _ in range(repeats)]
    gain = expected_sharp(optimal(rates)[0], rates) / expected_sharp(solar_offline(whole_lengths_of(rates)), rates)
    return [
        _figure(f"{dataset}, 1,000 pages: optimal schedule", [1e3 * time for time in plain], "ms", at_most=50.0),
        _figure(f"{dataset}, 1,000 pages, weighted", [1e3 * time for time in weighted], "ms", at_most=200.0),
        _figure(f"{dataset}: time, SOLAR-offline : optimal", [b / a for a, b in zip(plain, solar, strict=True)], "x"),
        _figure(f"{dataset}: E, optimal : SOLAR-offline", [gain], "x", at_least=1.0),
    ]


def _large(law: str, weights: Numbers | None) -> list[Figure]:
    rates = RATE_LAWS[law](_LARGE, np.random.default_rng(2))
    name = f"{law}, 100,000 pages{', weighted' if weights is not None else ''}"
    plans: list[SlotPlan] = []
    seconds = cpu_seconds(lambda: plans.append(optimal(rates, weights)[1]))
    expected: list[float] = []
    solar = cpu_seconds(lambda: expected.append(expected_sharp(solar_offline(whole_lengths_of(rates)), rates, weights)))
    plan = plans[0]
    return [
        _figure(f"{name}: optimal schedule", [seconds], "s", at_most=30.0),
        _figure(f"{name}: gap to the bound", [100.0 * (plan.bound - plan.worth) / plan.bound], "%", at_most=0.01),
        _figure(f"{name}: time of SOLAR-offline", [solar], "s"),
        _figure(f"{name}: E, optimal : SOLAR-offline", [plan.worth / expected[0]], "x", at_least=1.0),
    ]


def _figure(
    name: str, values: list[float], unit: str, at_most: float | None = None, at_least: float | None = None
) -> Figure:
    return Figure(bench="sharp", name=name, values=values, unit=unit, at_most=at_most, at_least=at_least)
