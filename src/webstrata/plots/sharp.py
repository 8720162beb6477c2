"""Plots of the experiments with sharp captures: expected sharp pages with their bound, and examples of schedules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from webstrata.lab.sharp.tables import DATASETS, TableRow
from webstrata.plots.figure import INK, ORANGE, TEAL, new_figure, save
from webstrata.plots.visits import SchedulePanel, draw_visits, schedule_panel
from webstrata.sharp.optimal import optimal
from webstrata.sharp.schedule import whole_lengths_of
from webstrata.sharp.solar import shrink, solar_offline

EXAMPLE = (1, 2, 5, 5, 6, 6, 9)
"""The confidence lengths of the paper's Example 4.1 (Figure 2)."""


def draw_all(folder: Path, rows: Sequence[TableRow]) -> list[Path]:
    """Write all plots of the experiment and return their files."""
    files = [folder / "sharp-expected.svg", folder / "sharp-shrinking.svg", folder / "sharp-schedules.svg"]
    draw_expected(files[0], rows)
    draw_visits(files[1], before_and_after(EXAMPLE))
    rates = DATASETS["skewed"]()
    solar = solar_offline(whole_lengths_of(rates))
    best, _ = optimal(rates)
    draw_visits(
        files[2],
        [
            schedule_panel(schedule.visits.tolist(), schedule.revisits.tolist(), schedule.hopeless, title)
            for schedule, title in ((solar, "skewed: SOLAR-offline"), (shrink(solar), "shrunk"), (best, "optimal"))
        ],
    )
    return files


def before_and_after(lengths: Sequence[float]) -> list[SchedulePanel]:
    """SOLAR-offline before and after shrinking (the paper's Figure 3)."""
    before = solar_offline(lengths)
    return [
        schedule_panel(schedule.visits.tolist(), schedule.revisits.tolist(), schedule.hopeless, title)
        for schedule, title in ((before, "before shrinking"), (shrink(before), "after shrinking"))
    ]


def draw_expected(file: Path, rows: Sequence[TableRow]) -> Figure:
    """Plot E(##pages) of every algorithm as bars from zero, the value printed in the paper, and the bound."""
    datasets = list(dict.fromkeys(row.dataset for row in rows))
    figure = new_figure(5.2 * len(datasets), 3.8)
    for index, dataset in enumerate(datasets):
        dataset_rows = [row for row in rows if row.dataset == dataset][::-1]
        axes = figure.add_subplot(1, len(datasets), index + 1)
        heights = range(len(dataset_rows))
        bars = axes.barh(heights, [row.expected for row in dataset_rows], color=TEAL, height=0.6, label="expected")
        axes.bar_label(bars, fmt="%.1f", label_type="center", color="white", fontsize=7)
        printed = [
            (height, row.paper) for height, row in zip(heights, dataset_rows, strict=True) if row.paper is not None
        ]
        axes.plot(
            [paper for _, paper in printed],
            [height for height, _ in printed],
            "|",
            ms=14,
            mew=2,
            color=ORANGE,
            label="printed in the paper",
        )
        axes.axvline(dataset_rows[0].bound, color=INK, lw=1, ls="--", label="upper bound")
        axes.set_yticks(heights, [row.algorithm for row in dataset_rows], fontsize=8)
        axes.set_xlim(0, 1.02 * dataset_rows[0].bound)
        axes.set_xlabel("expected number of sharp pages", color=INK, fontsize=8)
        axes.set_title(dataset, fontsize=9, color=INK, loc="left")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return save(figure, file)
