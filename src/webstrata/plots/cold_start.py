"""Plots of the experiment with cold starts: errors of the classifiers, and captures by where the belief starts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from webstrata.lab.cold_start.rows import ColdStartRow
from webstrata.lab.cold_start.schedule_run import POPULATION, ScheduleRow
from webstrata.plots.figure import GREY, INK, ORANGE, TEAL, new_figure, save

_TITLES = {
    "pages": "unseen pages of known sites",
    "sites": "pages of unseen sites",
}
_PANEL_WIDTH, _ROW_HEIGHT = 4.6, 0.3


def draw_errors(file: Path, rows: Sequence[ColdStartRow]) -> Figure:
    """A panel for each split (of histories: for each corpus) with a point and its 95 % interval for each combination.
    The axis begins at zero."""
    panels: dict[str, list[ColdStartRow]] = {}
    for row in rows:
        panels.setdefault(_TITLES.get(row.split, row.corpus), []).append(row)
    longest = max(map(len, panels.values()))
    figure = new_figure(_PANEL_WIDTH * len(panels), 1.4 + _ROW_HEIGHT * longest)
    right = 1.05 * max([row.high for row in rows] + [row.paper or 0.0 for row in rows])
    for number, (title, listed) in enumerate(panels.items()):
        axes = figure.add_subplot(1, len(panels), number + 1)
        heights = list(range(len(listed)))[::-1]
        errors = [row.error for row in listed]
        spread = ([row.error - row.low for row in listed], [row.high - row.error for row in listed])
        axes.errorbar(errors, heights, xerr=spread, fmt="o", ms=6, color=TEAL, elinewidth=1.2, label="error (95 %)")
        axes.plot(
            [row.balanced_error for row in listed], heights, "D", ms=4, color=GREY, label="mean of the groups' errors"
        )
        printed = [(row.paper, height) for row, height in zip(listed, heights, strict=True) if row.paper is not None]
        axes.plot(
            [paper for paper, _ in printed],
            [height for _, height in printed],
            "|",
            ms=13,
            mew=2,
            color=ORANGE,
            label="printed in the paper",
        )
        axes.set_xlim(0.0, right)
        _finish(axes, heights, [_name(row) for row in listed], title, "share of pages in the wrong group")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return save(figure, file)


def draw_schedule(file: Path, rows: Sequence[ScheduleRow]) -> Figure:
    """Captures divided by those of the start `population`, with the interval over sites: a panel for each split."""
    splits = list(dict.fromkeys(row.split for row in rows))
    shown = [row for row in rows if row.start != POPULATION]
    figure = new_figure(_PANEL_WIDTH * len(splits), 1.2 + _ROW_HEIGHT * len(shown) / len(splits))
    left, right = min([1.0] + [row.low for row in shown]), max([1.0] + [row.high for row in shown])
    for number, split in enumerate(splits):
        axes = figure.add_subplot(1, len(splits), number + 1)
        listed = [row for row in shown if row.split == split]
        heights = list(range(len(listed)))[::-1]
        for row, height in zip(listed, heights, strict=True):
            axes.errorbar(
                row.ratio,
                height,
                xerr=([row.ratio - row.low], [row.high - row.ratio]),
                fmt="o",
                ms=6,
                color=TEAL if row.start == "first-sight" else GREY,
                elinewidth=1.2,
            )
        axes.axvline(1.0, color=INK, lw=1, ls="--")
        axes.set_xlim(left - 0.02, right + 0.02)
        names = [f"{row.start}, {row.days} days, {row.match}" for row in listed]
        _finish(axes, heights, names, _TITLES[split], "captures ÷ captures without the classifier")
    return save(figure, file)


def _finish(axes: Axes, heights: list[int], names: list[str], title: str, below: str) -> None:
    axes.set_yticks(heights, names, fontsize=8)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.set_title(title, fontsize=9, color=INK, loc="left")
    axes.set_xlabel(below, color=INK, fontsize=8)
    axes.tick_params(labelsize=8)
    axes.grid(axis="x", color="#e2e8f0", lw=0.6)
    axes.set_axisbelow(True)


def _name(row: ColdStartRow) -> str:
    return row.initial if row.history == "none" else f"{row.initial} + {row.history}"
