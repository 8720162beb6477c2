"""The figures of the HACS experiments."""

from __future__ import annotations

from pathlib import Path

from tests.lab.policies.made_histories import made
from webstrata.lab.hacs.distributions import distribution, update_intervals
from webstrata.lab.hacs.evaluation import HacsResults, evaluate
from webstrata.lab.hacs.timeline import sampled_timelines
from webstrata.plots.hacs import draw_distributions, draw_evaluations


def test_each_figure_has_a_panel_for_each_corpus(tmp_path: Path) -> None:
    """Names are text in the files, also with dollar signs."""
    timelines = [*sampled_timelines(made(20, 300, corpus="$one$"), 1), *sampled_timelines(made(9, 300), 1)]
    results = evaluate(timelines, weeks=[1, 3], ahead_days=7.0, seed=1)
    intervals = [update_intervals(timeline) for timeline in timelines]
    found = [distribution(timeline, of, 1) for timeline, of in zip(timelines, intervals, strict=True)]

    files = [*draw_evaluations(tmp_path, results), *draw_distributions(tmp_path, timelines, intervals, found)]

    texts = [file.read_text() for file in files]
    assert len(texts) == 8
    assert all("$one$" in text and ">made<" in text for text in texts)
    assert "w = 3" in texts[0]


def test_nothing_to_draw(tmp_path: Path) -> None:
    """Without results the figures are empty."""
    assert len(draw_evaluations(tmp_path, HacsResults(rows=[], ranking=[]))) == 4
    assert len(draw_distributions(tmp_path, [], [], [])) == 4
