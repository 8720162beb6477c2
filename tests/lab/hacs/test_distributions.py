"""Distributions of intervals, and their tests."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lab.hacs.hand_made import timeline
from webstrata.lab.hacs.distributions import distribution, rank_correlation, simulated, update_intervals
from webstrata.lab.hacs.near_poisson import distance, normal_distance, poisson_check, rejects_exponential
from webstrata.lab.hacs.timeline import sampled_timelines
from webstrata.lab.policies.histories import make_histories


def test_the_distance_by_hand() -> None:
    """The largest difference from the steps of the data, above and below."""
    assert distance(np.array([0.1, 0.5, 0.9])) == pytest.approx(0.9 - 2 / 3)
    assert distance(np.array([0.5])) == 0.5


@pytest.mark.parametrize("number", [10, 30, 200])
def test_one_of_twenty_exponential_samples_is_rejected(number: int) -> None:
    """The correction for the fitted mean holds for few and many gaps, at any rate."""
    random = np.random.default_rng(3)
    rejected = [rejects_exponential(random.exponential(scale, number)) for scale in np.geomspace(0.1, 100, 2000)]

    assert 0.03 < np.mean(rejected) < 0.07


def test_one_of_twenty_normal_samples_is_rejected() -> None:
    """The correction holds for a fitted mean and deviation."""
    random = np.random.default_rng(3)
    rejected = [normal_distance(random.normal(5, 2, 40))[1] for _ in range(1000)]

    assert 0.03 < np.mean(rejected) < 0.07


def test_regular_and_clustered_gaps_are_rejected() -> None:
    """Pages with fewer than ten gaps are not tested."""
    regular, clustered = np.linspace(9, 11, 20), np.array([0.01] * 15 + [50.0] * 5)
    found = poisson_check("true", [regular, clustered, regular[:9]])

    assert (found.pages, found.rejected, found.share) == (2, 2, 1.0)
    assert poisson_check("true", [regular[:9]]).share is None


@pytest.mark.parametrize(
    ("one", "other", "correlation"),
    [
        ([1, 2, 3, 4], [10, 20, 30, 1000], 1.0),
        ([1, 2, 3, 4], [4, 3, 2, 1], -1.0),
        ([1, 2, 2, 3], [1, 2, 2, 3], 1.0),
        ([1, 2, 3], [1, 3, 2], 0.5),
        ([1, 1], [1, 2], None),
        ([1], [1], None),
    ],
)
def test_rank_correlation(one: list[float], other: list[float], correlation: float | None) -> None:
    """Equal values share their mean rank; without two different values there is none."""
    found = rank_correlation(np.array(one, dtype=float), np.array(other, dtype=float))

    assert found == pytest.approx(correlation)


def test_intervals_by_hand() -> None:
    """Observed intervals are between copies; interpolated ones between the middles before copies with an update."""
    found = update_intervals(
        timeline(
            ([(0, False), (7, False), (21, True)], []),
            ([(0, False), (4, True), (10, True), (14, False), (24, True)], []),
            ([(1, False), (3, False)], []),
            ([(1, False)], []),
        )
    )

    assert found.observed[0] == pytest.approx(14 / np.log(3))  # 14 / (exp(14 λ) - 1) = 7
    assert found.interpolated[0] == pytest.approx(7 / np.log(2))
    assert found.gaps[1].tolist() == [5.0, 12.0]
    assert found.median_gap[1] == 8.5
    assert found.copy_gap[:3].tolist() == [10.5, 5.0, 2.0]
    assert np.isnan([*found.observed[2:], *found.median_gap[2:], found.copy_gap[3]]).all()


def test_poisson_pages_are_recognised() -> None:
    """True gaps of Poisson processes pass as often as they should; as copies show them, they fail more often."""
    random, day = np.random.default_rng(5), 86_400.0
    rows = [
        {
            "corpus": "made",
            "page": f"s/{number}",
            "first": 0.0,
            "until": 1300 * day,
            "changes": np.unique(random.uniform(1, 1300, random.poisson(1300 / mean)).round(3)) * day,
        }
        for number, mean in enumerate(np.geomspace(5, 60, 150))
    ]
    (made,) = sampled_timelines(make_histories(rows), 1)
    found = distribution(made, update_intervals(made), 1)
    shares = {check.times: check.share or 0.0 for check in found.poisson}

    assert shares["true"] < 0.1
    assert shares["interpolated"] > 0.3
    assert abs(shares["interpolated"] - shares["simulated"]) < 0.1
    assert found.rank_correlation is not None
    assert found.rank_correlation > 0.8
    assert found.copy_gap_days is not None
    assert found.copy_gap_days == sorted(found.copy_gap_days)
    assert found.bins[1].gaps > 100
    widths = np.diff(found.bins[1].edges_days)
    assert 0.95 < (np.array(found.bins[1].density) * widths).sum() <= 1.0
    assert len(simulated(made, 2).updates.page) == pytest.approx(len(made.updates.page), rel=0.1)


def test_too_few_pages_have_no_fit() -> None:
    """Figures that need more pages are null."""
    found = distribution(made := timeline(([(0, False), (7, True)], [3.0]), ([], [])), update_intervals(made), 1)

    assert (found.pages, found.copies, found.estimated) == (2, 2, 1)
    assert found.log_mean is found.rank_correlation is found.log_normal_rejected is None
    empty = distribution(timeline(), update_intervals(timeline()), 1)
    assert (empty.pages, empty.copy_gap_days, empty.median_interval_days) == (0, None, None)
