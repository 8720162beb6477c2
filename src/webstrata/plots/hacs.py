"""Plots of the HACS experiments: Figures 3 to 6 and 8 to 11 of the paper, with a panel for each corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from webstrata.lab.hacs.distributions import UpdateDistribution, UpdateIntervals
from webstrata.lab.hacs.evaluation import HacsResults
from webstrata.lab.hacs.ranking import RANKERS
from webstrata.lab.hacs.selection import MODELS
from webstrata.lab.hacs.timeline import UpdateTimeline
from webstrata.plots.figure import GREY, INK, ORANGE, TEAL, label, new_figure, save

_COLOURS = {"hacs": TEAL, "random": GREY, "brute-force": INK, "last-obs": ORANGE}
_LINES = (":", "--", "-")
_MEASURES = {"f1": "F1", "precision": "precision", "recall": "recall"}
_MOST_PAGES = 200
"""Pages whose copies are drawn."""
_MIDDLE_WEEKS = 4
"""Windows that are drawn: the shortest, the longest, and the one nearest to this."""
_DAYS_TICKS = (0.01, 0.1, 1, 10, 100, 1000)


def draw_evaluations(folder: Path, results: HacsResults) -> list[Path]:
    """F1, precision and recall against the threshold (Figures 8 to 10), and weighted P@K against the window (11)."""
    written = [folder / f"hacs-{name}.svg" for name in _MEASURES]
    for file, (name, title) in zip(written, _MEASURES.items(), strict=True):
        _draw_thresholds(file, results, name, title)
    return [*written, _draw_ranking(folder / "hacs-ranking.svg", results)]


def draw_distributions(
    folder: Path,
    timelines: Sequence[UpdateTimeline],
    intervals: Sequence[UpdateIntervals],
    found: Sequence[UpdateDistribution],
) -> list[Path]:
    """Copies (Figure 3), 1/λ (4), 1/λ beside the median interval (5), and gaps of pages with equal 1/λ (6)."""
    names = [timeline.corpus for timeline in timelines]
    files = [folder / f"hacs-{name}.svg" for name in ("copies", "intervals", "medians", "gaps")]

    def panels(file: Path, draw: Callable[[Axes, int], None], notes: Sequence[tuple[str, str, str]]) -> None:
        figure, axes = _panels(names)
        for number, panel in enumerate(axes):
            draw(panel, number)
        _legend(figure, notes)
        save(figure, file)

    panels(files[0], lambda axes, n: _copies(axes, timelines[n]), [("copy", TEAL, "."), ("first copy", ORANGE, ".")])
    panels(
        files[1],
        lambda axes, n: _intervals(axes, intervals[n], found[n]),
        [("1/λ of the pages", TEAL, "s"), ("fitted log-normal distribution", ORANGE, "-")],
    )
    panels(
        files[2],
        lambda axes, n: _medians(axes, intervals[n]),
        [("1/λ of interpolated updates", ORANGE, "-"), ("median gap between them", TEAL, ".")],
    )
    panels(
        files[3],
        lambda axes, n: _gaps(axes, found[n]),
        [("real updates", INK, "o"), ("Poisson process, same copies", GREY, "--"), ("exponential", INK, ":")],
    )
    return files


def _draw_thresholds(file: Path, results: HacsResults, measure: str, title: str) -> None:
    weeks = sorted({row.w for row in results.rows})
    shown = sorted({weeks[0], min(weeks, key=lambda w: abs(w - _MIDDLE_WEEKS)), weeks[-1]}) if weeks else []
    lines = list(zip(shown, _LINES[len(_LINES) - len(shown) :], strict=True))
    names = list(dict.fromkeys(row.corpus for row in results.rows))
    figure, axes = _panels(names)
    for panel, corpus in zip(axes, names, strict=True):
        for model in MODELS:
            for w, line in lines:
                rows = [
                    row
                    for row in results.rows
                    if (row.corpus, row.model, row.w, row.average) == (corpus, model, w, "micro")
                ]
                values = [getattr(row, measure) for row in rows]
                panel.plot([row.theta for row in rows], values, line, color=_COLOURS[model], lw=1.4)
        panel.set(xlim=(0, 1), ylim=(0, None), xlabel="threshold θ", ylabel=title)
    models = [(model, _COLOURS[model], "-") for model in MODELS]
    _legend(figure, models + [(f"w = {w}", INK, line) for w, line in lines])
    save(figure, file)


def _draw_ranking(file: Path, results: HacsResults) -> Path:
    names = list(dict.fromkeys(row.corpus for row in results.ranking))
    figure, axes = _panels(names)
    for panel, corpus in zip(axes, names, strict=True):
        for model in RANKERS:
            rows = [row for row in results.ranking if (row.corpus, row.model) == (corpus, model)]
            panel.plot([row.w for row in rows], [row.p_at_k for row in rows], ".-", color=_COLOURS[model])
        panel.set(ylim=(0, 1), xlabel="window w (weeks)", ylabel="weighted P@K")
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    _legend(figure, [(model, _COLOURS[model], ".-") for model in RANKERS])
    save(figure, file)
    return file


def _copies(axes: Axes, timeline: UpdateTimeline) -> None:
    copies = timeline.copies
    first = np.flatnonzero(np.diff(copies.page, prepend=-1))
    pages = copies.page[first]
    drawn = np.unique(np.linspace(0, len(pages) - 1, min(_MOST_PAGES, len(pages))).astype(int))
    drawn = drawn[np.argsort(copies.at_days[first[drawn]], kind="stable")]
    row = np.full(timeline.pages, -1)
    row[pages[drawn]] = np.arange(len(drawn))
    shown = row[copies.page] >= 0
    axes.plot(copies.at_days[shown], row[copies.page[shown]], ".", color=TEAL, ms=0.8, mew=0, rasterized=True)
    axes.plot(copies.at_days[first[drawn]], np.arange(len(drawn)), ".", color=ORANGE, ms=3, mew=0, rasterized=True)
    axes.set(xlabel="days from the first date", ylabel=f"{len(drawn)} of {len(pages)}, by first copy")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))


def _intervals(axes: Axes, intervals: UpdateIntervals, found: UpdateDistribution) -> None:
    days = intervals.observed[np.isfinite(intervals.observed)]
    edges = np.geomspace(min(1.0, days.min(initial=1.0)), 3000, 30)
    axes.hist(days, edges.tolist(), weights=np.full(len(days), 1 / max(len(days), 1)), color=TEAL, alpha=0.7)
    if found.log_mean is not None and found.log_deviation is not None:
        middle = np.sqrt(edges[1:] * edges[:-1])
        standard = (np.log(middle) - found.log_mean) / found.log_deviation
        width = np.log(edges[1] / edges[0]) / found.log_deviation
        axes.plot(middle, np.exp(-(standard**2) / 2) / np.sqrt(2 * np.pi) * width, color=ORANGE)
    axes.set(xscale="log", xlabel="1/λ (days)", ylabel="share")
    _days_ticks(axes)


def _medians(axes: Axes, intervals: UpdateIntervals) -> None:
    known = np.isfinite(intervals.interpolated) & np.isfinite(intervals.median_gap)
    order = np.argsort(intervals.interpolated[known])
    number = np.arange(len(order))
    size = 3 if len(order) > _MOST_PAGES else 6
    axes.plot(intervals.median_gap[known][order], number, ".", color=TEAL, ms=size, mew=0, rasterized=True)
    axes.plot(intervals.interpolated[known][order], number, color=ORANGE, lw=1.5)
    axes.set(xscale="log", xlabel="days", ylabel="number, by 1/λ")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    _days_ticks(axes)


def _days_ticks(axes: Axes) -> None:
    shown = [days for days in _DAYS_TICKS if days >= axes.get_xlim()[0]]
    axes.set_xticks(shown, [f"{days:g}" for days in shown])


def _gaps(axes: Axes, found: UpdateDistribution) -> None:
    for one, colour in zip(found.bins, (ORANGE, TEAL, GREY), strict=True):
        if not one.gaps:
            continue
        edges = np.array(one.edges_days)
        middle = np.sqrt(edges[1:] * edges[:-1])
        for values, style in ((one.density, "o-"), (one.simulated, "--"), (one.expected, ":")):
            positive = np.array(values) > 0
            axes.plot(middle[positive], np.array(values)[positive], style, color=colour, ms=3, lw=1)
        axes.axvline(one.interval_days, color=colour, lw=0.6, label=f"1/λ about {one.interval_days:g} days")
    axes.set(xscale="log", yscale="log", xlabel="days between updates", ylabel="share per day", ylim=(1e-5, 1))
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=6, frameon=False)


def _panels(names: Sequence[str]) -> tuple[Figure, list[Axes]]:
    columns = min(3, max(len(names), 1))
    lines = -(-max(len(names), 1) // columns)
    figure = new_figure(3.6 * columns, 2.9 * lines + 0.5)
    return figure, list(_titled(figure, names, lines, columns))


def _titled(figure: Figure, names: Sequence[str], lines: int, columns: int) -> Iterator[Axes]:
    for number, name in enumerate(names):
        axes = figure.add_subplot(lines, columns, number + 1)
        axes.set_title(label(name), fontsize=10, color=INK, loc="left")
        yield axes


def _legend(figure: Figure, notes: Sequence[tuple[str, str, str]]) -> None:
    """One legend below all panels: (text, colour, line or marker)."""
    handles = [
        Line2D([], [], color=colour, ls=style.lstrip(".so") or "", marker=style.rstrip("-:"), label=text)
        for text, colour, style in notes
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=6, frameon=False, fontsize=8)
