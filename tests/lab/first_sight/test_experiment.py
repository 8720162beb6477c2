"""Figure 2 and Table 1 on small data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from webstrata.cli.lab.groups import _show
from webstrata.lab.first_sight.experiment import compare_groups
from webstrata.plots.first_sight import draw_groups
from webstrata.predict.first_sight.training_pages import TrainingPages, regular_visits


def test_groups_and_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Groups from 2 to 6; two thirds of a balanced sample are learned from; the text and the picture have all rows."""
    random = np.random.default_rng(4)
    means = np.exp(random.uniform(np.log(2), np.log(300), 120))
    pages = TrainingPages(
        site=tuple(f"s{number % 6}" for number in range(120)),
        page=tuple(f"p{number}" for number in range(120)),
        names=("size", "is_page"),
        features=np.column_stack([means * 10, np.arange(120) % 2]),
        history=regular_visits([np.cumsum(random.exponential(mean, 400)) for mean in means], np.full(120, 300.0), 1.0),
    )

    result = compare_groups(pages, k=3, methods=("tree-unpruned", "nearest-1"))
    draw_groups(tmp_path / "groups.svg", result.figure2, result.folds.methods, result.random_error)
    _show(result)

    assert [len(sizes.pages) for sizes in result.figure2] == [2, 3, 4, 5, 6]
    assert all(sum(sizes.pages) == 120 for sizes in result.figure2)
    assert np.diff([sizes.explained for sizes in result.figure2]).min() > 0
    assert result.learned == pytest.approx(2 * result.tested, abs=2)
    assert {row.method: row.error < 0.4 for row in result.table1} == {"tree-unpruned": True, "nearest-1": True}
    assert (result.web_pages, result.data_files, result.sites) == (60, 60, 6)
    printed = capsys.readouterr().out
    assert all(name in printed for name in result.names)
    assert "nearest-1" in (tmp_path / "groups.svg").read_text()
