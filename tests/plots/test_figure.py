"""All plots: axes start at zero or name their scale, and legends do not cover the data."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from webstrata.errors import UsageError
from webstrata.lab.crawl_time.experiment import CrawlMeasurement
from webstrata.lab.policies.page_timeline import PageTimeline, PolicyVisits
from webstrata.lab.policies.rows import PolicyRow
from webstrata.lab.sharp.calibration import CalibrationRow
from webstrata.lab.sharp.tables import TableRow
from webstrata.plots.calibration import draw_calibration
from webstrata.plots.crawl_time import draw_estimates, draw_round
from webstrata.plots.figure import check_format, label, new_figure, save
from webstrata.plots.policies import draw_page, draw_recall_budget, draw_recall_precision
from webstrata.plots.sharp import before_and_after, draw_expected
from webstrata.plots.visits import draw_visits


def _row(policy: str, corpus: str, match: str | None, downloads: int) -> PolicyRow:
    recall = 0.5 + downloads / 10_000
    return PolicyRow(
        policy=policy,
        corpus=corpus,
        bucket="all",
        match=match,
        downloads=downloads,
        captured=downloads // 3,
        changes=1000,
        recall=recall,
        precision=0.6,
        freshness=0.9,
        delay_days=1.0,
        recall_interval=(recall - 0.1, recall + 0.1),
        precision_interval=(0.55, 0.65),
        freshness_interval=(0.9, 0.9),
        outdated_days=1.0,
        unnecessary=1,
        undetected=1,
        quarters=[],
    )


ROWS = [
    _row(policy, corpus, match, downloads)
    for corpus in ("first", "second")
    for policy, match, downloads in (
        ("value", "week", 900),
        ("value", "dyn", 3000),
        ("uniform", "week", 900),
        *((f"timer-{n}", None, 500 + 100 * n) for n in range(30)),
    )
]
CRAWLS = [
    CrawlMeasurement(
        crawl=n,
        visits=1,
        hosts=1,
        unknown_hosts=0,
        delay_s=1.0,
        threads=1,
        actual_s=600.0 * n,
        ours_s=610.0 * n,
        low_s=500.0 * n,
        high_s=700.0 * n,
        paper_s=200.0 * n,
        informed_s=605.0 * n,
    )
    for n in (1, 2, 3)
]
TIMELINE = PageTimeline(
    page="p.html",
    corpus="first",
    days=30.0,
    changes=[3.0, 9.0],
    visits=[PolicyVisits(policy="value", match="week", days=[4.0, 8.0], captured=[True, False])],
)
EXPECTED = [
    TableRow(1, dataset, algorithm, 600.0, 600.0, 590.0, 610.0, 1.0, 9, 595.0, None, 700.0)
    for dataset in ("skewed", "smooth")
    for algorithm in ("solar-offline", "optimal")
]
CALIBRATION = [
    CalibrationRow(variant=variant, part=part, pages=100, expected=95.0, sharp=sharp, low=0.9, high=1.0)
    for variant in ("as recorded", "fast")
    for part, sharp in (("tuned", 100), ("tested", 93))
]
PLOTS: dict[str, Callable[[Path], Figure]] = {
    "recall-precision": lambda file: draw_recall_precision(file, ROWS),
    "recall-budget": lambda file: draw_recall_budget(file, ROWS),
    "page": lambda file: draw_page(file, TIMELINE),
    "crawl-time": lambda file: draw_estimates(CRAWLS, file),
    "round": lambda file: draw_round(["a.example", "b.example"], [(0, 0.0, 1.0), (1, 2.0, 9.0)], file, title="Round"),
    "sharp-expected": lambda file: draw_expected(file, EXPECTED),
    "calibration": lambda file: draw_calibration(file, CALIBRATION),
    "visits": lambda file: draw_visits(file, before_and_after([1, 2, 5, 5, 6, 6, 9])),
}


@pytest.fixture(scope="module", params=PLOTS)
def figure(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Figure:
    """Each plot, drawn once; saving it computes the layout."""
    return PLOTS[request.param](tmp_path_factory.mktemp("plots") / "plot.svg")


def test_axes_start_at_zero_or_name_their_scale(figure: Figure) -> None:
    """A linear axis contains zero, a logarithmic one says so in its label, and a numeric axis has a label."""
    for axes in figure.axes:
        for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            if isinstance(axis.get_major_locator(), FixedLocator):
                continue  # names, not numbers
            assert axis.get_label_text()
            if axis.get_scale() == "log":
                assert "logarithmic scale" in axis.get_label_text()
            else:
                assert min(limits) <= 0.0 <= max(limits)


def test_legends_are_outside_the_axes(figure: Figure) -> None:
    """Each plot has one legend, which is inside the figure and covers no part of any axes."""
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert figure.bbox.padded(1).containsx(box.x0)
    assert figure.bbox.padded(1).containsx(box.x1)
    assert figure.bbox.padded(1).containsy(box.y0)
    assert figure.bbox.padded(1).containsy(box.y1)
    for axes in figure.axes:
        assert axes.get_legend() is None
        assert not box.overlaps(axes.get_window_extent())


def test_tick_labels_do_not_overlap(figure: Figure) -> None:
    """Neighbouring labels of an axis do not overlap."""
    for axes in figure.axes:
        for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
            boxes = [text.get_window_extent() for text in labels if text.get_text()]
            assert not any(left.overlaps(right) for left, right in pairwise(boxes))


def test_every_policy_has_its_own_style(tmp_path: Path) -> None:
    """No two policies share both colour and marker."""
    handles = draw_recall_precision(tmp_path / "plot.svg", ROWS).legends[0].legend_handles
    styles = [(handle.get_color(), handle.get_marker()) for handle in handles]  # type: ignore[union-attr]
    assert len(set(styles)) == len(styles) == 32


def test_formats_and_labels(tmp_path: Path) -> None:
    """An unknown file extension is refused; labels are shortened and never interpreted as mathematics."""
    with pytest.raises(UsageError, match=r"\.svg"):
        check_format(tmp_path / "plot.doc")
    assert label("x" * 40, 10) == "x" * 9 + "…"
    assert label("$x$") == r"\$x\$"
    save(new_figure(1, 1), tmp_path / "plot.PNG")
    assert (tmp_path / "plot.PNG").read_bytes().startswith(b"\x89PNG")
