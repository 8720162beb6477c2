"""Schedules and confidence intervals."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.errors import UsageError
from webstrata.sharp.schedule import (
    SharpSchedule,
    checked_tau,
    expected_sharp,
    interval_of,
    lengths_of,
    rates_of,
    whole_lengths_of,
)
from webstrata.sharp.solar import hottest_middle, solar_offline
from webstrata.sharp.survival import survival_of_beliefs


def test_no_rate_has_length_zero() -> None:
    """A length of 0 has no finite rate; a rate of 0 has an infinite length and is never hopeless."""
    with pytest.raises(UsageError, match="length 0"):
        rates_of([1, 0])
    assert lengths_of([0.0])[0] == float("inf")
    assert solar_offline(lengths_of([0.0, 1.0, 0.0])).hopeless == ()


@pytest.mark.parametrize("shape", [None, 0.2, 3.0])
def test_interval_of_a_belief(shape: float | None) -> None:
    """Over its confidence interval a page stays unchanged with probability tau, also if its rate is uncertain."""
    for tau in (0.3, 0.7, 0.9):
        survival = survival_of_beliefs([0.01], [np.inf if shape is None else shape])
        over = np.array([interval_of(0.01, shape, tau)])
        assert survival.unchanged(np.arange(1), over)[0] == pytest.approx(tau)
    assert interval_of(0.0, shape, 0.9) == np.inf
    assert interval_of(0.01, 1e-4, 0.5) == np.inf


@pytest.mark.parametrize("tau", [0.0, 1.0, -1.0, float("nan")])
def test_bad_tau(tau: float) -> None:
    """A confidence is above 0 and below 1."""
    with pytest.raises(UsageError, match="above 0 and below 1"):
        checked_tau(tau)


def test_confidence_intervals() -> None:
    """I = ln(1/tau) / rate: the page is unchanged over it with probability tau."""
    rates = [0.5, 0.01]
    for tau in (0.7, 0.9):
        assert rates_of(lengths_of(rates, tau), tau) == pytest.approx(rates)
    assert whole_lengths_of([0.5])[0] == 0.0


def test_schedules_are_checked() -> None:
    """Two pages in one slot, and a wrong number of rates, raise an error."""
    with pytest.raises(UsageError, match="every slot"):
        SharpSchedule(hottest_middle([1, 2]).visits * 0, hottest_middle([1, 2]).visits)
    with pytest.raises(UsageError, match="3 rates"):
        expected_sharp(hottest_middle([1, 2]), [1, 2, 3])
