"""Plots of the policy experiment: recall against precision, recall against downloads, and the visits of one page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from webstrata.lab.policies.page_timeline import PageTimeline
from webstrata.lab.policies.rows import PolicyRow
from webstrata.plots.figure import GREY, INK, ORANGE, TEAL, label, new_figure, save

_FLAGSHIP = "value"
_COLOURS = (ORANGE, "#4338ca", "#be185d", "#4d7c0f", "#0369a1", INK, "#7c3aed")
_MARKERS = "osD^vPX<>"

_Style = tuple[str, str]
"""(colour, marker)."""


def draw_recall_precision(file: Path, rows: Sequence[PolicyRow]) -> Figure:
    """A panel for each corpus, a point with its 95 % intervals for each policy and budget. Both axes start at zero."""
    totals = [row for row in rows if row.bucket == "all"]
    styles = _styles(totals)
    figure, panels = _panels(totals)
    for corpus, axes in panels.items():
        for row in (row for row in totals if row.corpus == corpus):
            colour, marker = styles[row.policy]
            axes.errorbar(
                row.precision,
                row.recall,
                xerr=_error(row.precision, row.precision_interval),
                yerr=_error(row.recall, row.recall_interval),
                fmt=marker,
                ms=_size(row.policy),
                mfc="white" if row.match is None else colour,
                color=colour,
                elinewidth=0.5,
                zorder=3 if row.policy == _FLAGSHIP else 2,
            )
        axes.set(title=corpus, xlabel="precision", ylabel="recall")
        axes.set_xlim(left=0.0)
        axes.set_ylim(0.0, 1.03)
    _legend(figure, totals, styles)
    return save(figure, file)


def draw_recall_budget(file: Path, rows: Sequence[PolicyRow]) -> Figure:
    """A panel for each corpus: recall over downloads, a line for each budgeted policy, a point for each timer."""
    totals = [row for row in rows if row.bucket == "all"]
    styles = _styles(totals)
    figure, panels = _panels(totals)
    for corpus, axes in panels.items():
        for policy, (colour, marker) in styles.items():
            of_policy = [row for row in totals if row.corpus == corpus and row.policy == policy]
            line = sorted((row.downloads, row.recall) for row in of_policy if row.match is not None)
            points = [(row.downloads, row.recall) for row in of_policy if row.match is None]
            width = 2.0 if policy == _FLAGSHIP else 1.0
            if line:
                axes.plot(*zip(*line, strict=True), marker=marker, ms=_size(policy), lw=width, color=colour)
            if points:
                axes.plot(*zip(*points, strict=True), marker, ms=_size(policy), mfc="white", color=colour)
        axes.set(title=corpus, xlabel="downloads (logarithmic scale)", ylabel="recall", xscale="log")
        axes.xaxis.set_minor_formatter(NullFormatter())  # labels between powers of ten would overlap
        axes.margins(x=0.1)
        axes.set_ylim(0.0, 1.03)
    _legend(figure, totals, styles)
    return save(figure, file)


def draw_page(file: Path, timeline: PageTimeline) -> Figure:
    """The changes of a page in the first row, then a row with the visits of each policy (datamonitor's Figure 3)."""
    figure = new_figure(10, 1.5 + 0.3 * (len(timeline.visits) + 1))
    axes = figure.add_subplot()
    axes.plot(timeline.changes, [0] * len(timeline.changes), "|", color=ORANGE, ms=12, mew=1.5)
    labels = ["real changes"]
    for row, policy in enumerate(timeline.visits, start=1):
        captured = [day for day, captured in zip(policy.days, policy.captured, strict=True) if captured]
        wasted = [day for day, captured in zip(policy.days, policy.captured, strict=True) if not captured]
        axes.plot(wasted, [row] * len(wasted), "|", color=GREY, ms=6)
        axes.plot(captured, [row] * len(captured), "o", color=TEAL, ms=4)
        name = policy.policy if policy.match is None else f"{policy.policy} @ {policy.match}"
        labels.append(f"{name}: {len(captured)} of {len(timeline.changes)}, {len(policy.days)} visits")
    axes.set_yticks(range(len(labels)), labels, fontsize=7)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set(xlim=(0, timeline.days), xlabel="days", title=f"{label(timeline.page, 80)} ({timeline.corpus})")
    handles = [
        Line2D([], [], marker="|", ls="", mew=1.5, ms=10, color=ORANGE, label="change"),
        Line2D([], [], marker="o", ls="", ms=4, color=TEAL, label="visit that captured a change"),
        Line2D([], [], marker="|", ls="", ms=6, color=GREY, label="visit without a change"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return save(figure, file)


def _styles(rows: Sequence[PolicyRow]) -> dict[str, _Style]:
    """A different combination of colour and marker for each policy, budgeted policies first."""
    names = dict.fromkeys(row.policy for row in sorted(rows, key=lambda row: (row.policy != _FLAGSHIP, not row.match)))
    others = [name for name in names if name != _FLAGSHIP]
    styles = {
        name: (_COLOURS[index % len(_COLOURS)], _MARKERS[index % len(_MARKERS)]) for index, name in enumerate(others)
    }
    return {_FLAGSHIP: (TEAL, "*"), **styles} if _FLAGSHIP in names else styles


def _legend(figure: Figure, rows: Sequence[PolicyRow], styles: dict[str, _Style]) -> None:
    """One legend for all panels, right of them."""
    budgeted = {row.policy for row in rows if row.match is not None}
    handles = [
        Line2D([], [], color=colour, marker=marker, ms=_size(policy), lw=0, label=policy)
        for policy, (colour, marker) in styles.items()
    ]
    for handle in handles:
        if handle.get_label() not in budgeted:
            handle.set_markerfacecolor("white")
    columns = 1 + len(handles) // 26
    note = "filled: with the budget of another policy\nhollow: with its own intervals"
    figure.legend(
        handles=handles, loc="outside right upper", ncols=columns, frameon=False, fontsize=7, title=note
    ).get_title().set_fontsize(7)


def _size(policy: str) -> float:
    return 8.0 if policy == _FLAGSHIP else 4.0


def _error(value: float, interval: tuple[float, float]) -> list[list[float]]:
    return [[max(value - interval[0], 0.0)], [max(interval[1] - value, 0.0)]]


def _panels(rows: Sequence[PolicyRow]) -> tuple[Figure, dict[str, Axes]]:
    """A panel for each corpus, at most three in a row."""
    names = list(dict.fromkeys(row.corpus for row in rows))
    columns = min(3, max(len(names), 1))
    lines = -(-max(len(names), 1) // columns)
    figure = new_figure(4.2 * columns + 2.2, 3.8 * lines)
    return figure, {name: figure.add_subplot(lines, columns, index + 1) for index, name in enumerate(names)}
