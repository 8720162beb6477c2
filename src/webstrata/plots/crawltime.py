"""Estimated against actual crawl times, both estimators, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from webstrata.lab.crawltime import CrawlMeasurement

_OURS, _PAPER, _INK = "#0f766e", "#b45309", "#334155"


def draw(crawls: Sequence[CrawlMeasurement], file: Path) -> None:
    """A point for each crawl and estimator; on the line they are right, in the band within 10 %."""
    actual = [max(one.actual_s, 1e-3) / 60 for one in crawls] or [1.0]
    figure = Figure(figsize=(6.4, 6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    ends = [min(actual) / 3, max(actual) * 3]
    axes.fill_between(ends, [end * 0.9 for end in ends], [end * 1.1 for end in ends], color="#cbd5e1", lw=0)
    axes.plot(ends, ends, color=_INK, lw=0.8)
    for name, colour, marker, minutes in (
        ("the paper's", _PAPER, "x", [max(one.paper_s, 1e-3) / 60 for one in crawls]),
        ("simulated", _OURS, "o", [max(one.ours_s, 1e-3) / 60 for one in crawls]),
    ):
        axes.plot(actual[: len(minutes)], minutes, marker, color=colour, label=name, ms=4, alpha=0.8)
    axes.set(xscale="log", yscale="log", xlim=ends, xlabel="actual crawl time (minutes)", ylabel="estimated (minutes)")
    axes.legend(frameon=False)
    with mpl.rc_context({"svg.hashsalt": "webstrata", "svg.fonttype": "none"}):
        figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
