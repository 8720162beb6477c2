"""The tool that fits the levels of the policy `value` to an earlier window."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

TOOL = Path(__file__).parents[2] / "tools" / "fit_levels.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fit_levels", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_fit_finds_two_levels(tool: ModuleType) -> None:
    """Rarely and frequently changing pages get different levels; no round of the fit lowers the likelihood."""
    random = np.random.default_rng(3)
    frequent = random.random(60) < 0.5
    flags = random.random((60, 200)) < np.where(frequent, 0.3, 0.01)[:, None]

    levels, likelihoods = tool.fit(flags, 25, levels=2)

    assert (np.diff(likelihoods) > -1e-9).all()
    assert levels.per_day == pytest.approx((0.01, 0.36), rel=0.35)
    assert levels.start[1] == pytest.approx(frequent.mean(), abs=0.15)
    assert all(sum(row.values()) < 0.05 for row in levels.moves)
