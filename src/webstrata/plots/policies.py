"""Pictures of the experiment on policies: recall against precision and against the budget, and one page's visits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from webstrata.lab.policies.page_timeline import PageTimeline
from webstrata.lab.policies.rows import PolicyRow

_INK, _FLAGSHIP, _OTHER, _MISSED = "#334155", "#0f766e", "#94a3b8", "#b45309"
_VALUE = "value"
_COLOURS = ("#0f766e", "#b45309", "#4338ca", "#be185d", "#4d7c0f", "#0369a1", "#7c2d12", "#6b7280")


def draw_recall_precision(file: Path, rows: Sequence[PolicyRow]) -> None:
    """A panel for each corpus, a point for each policy; the flagship stands out."""
    whole = [row for row in rows if row.bucket == "all"]
    figure, panels = _panels(list(dict.fromkeys(row.corpus for row in whole)))
    for corpus, axes in panels.items():
        for row in (row for row in whole if row.corpus == corpus):
            ours = row.policy == _VALUE
            axes.errorbar(
                row.precision,
                row.recall,
                xerr=_around(row.precision, row.precision_interval),
                yerr=_around(row.recall, row.recall_interval),
                fmt="o" if row.match is None else "s",
                ms=6 if ours else 4,
                color=_FLAGSHIP if ours else _INK if row.match is None else _OTHER,
                elinewidth=0.6,
            )
            label = row.policy if row.match is None else f"{row.policy} @ {row.match}"
            axes.annotate(label, (row.precision, row.recall), (4, 3), textcoords="offset points", fontsize=6)
        axes.set(title=corpus, xlabel="precision", ylabel="recall")
        axes.margins(x=0.2, y=0.1)  # room for the names beside the points
    _save(figure, file)


def draw_recall_budget(file: Path, rows: Sequence[PolicyRow]) -> None:
    """A panel for each corpus: recall over downloads, a line for each budgeted policy, a cross for each timer."""
    whole = [row for row in rows if row.bucket == "all"]
    budgeted = list(dict.fromkeys(row.policy for row in whole if row.match is not None))
    figure, panels = _panels(list(dict.fromkeys(row.corpus for row in whole)))
    for corpus, axes in panels.items():
        here = [row for row in whole if row.corpus == corpus]
        for place, name in enumerate(budgeted):
            line = sorted((row.downloads, row.recall) for row in here if row.policy == name and row.match is not None)
            axes.plot(*zip(*line, strict=True), "o-", ms=3, lw=1.2, label=name, color=_COLOURS[place % len(_COLOURS)])
        for row in (row for row in here if row.match is None):
            axes.plot(row.downloads, row.recall, "x", color=_INK, ms=5)
            axes.annotate(row.policy, (row.downloads, row.recall), (3, 3), textcoords="offset points", fontsize=6)
        axes.set(title=corpus, xlabel="downloads", ylabel="recall", xscale="log")
        axes.xaxis.set_minor_formatter(NullFormatter())  # the numbers between powers of ten would run together
        axes.margins(x=0.15, y=0.1)
        axes.legend(frameon=False, fontsize=6)
    _save(figure, file)


def draw_page(file: Path, picture: PageTimeline) -> None:
    """Datamonitor's Figure 3: the real changes on top, under them each policy's visits, filled where they captured."""
    figure = Figure(figsize=(10, 1.2 + 0.3 * (len(picture.visits) + 1)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.plot(picture.changes, [0] * len(picture.changes), "|", color=_MISSED, ms=12, mew=1.5)
    labels = ["real changes"]
    for place, one in enumerate(picture.visits, start=1):
        hit = [day for day, captured in zip(one.days, one.captured, strict=True) if captured]
        empty = [day for day, captured in zip(one.days, one.captured, strict=True) if not captured]
        axes.plot(empty, [place] * len(empty), "|", color=_OTHER, ms=6)
        axes.plot(hit, [place] * len(hit), "o", color=_FLAGSHIP, ms=4)
        name = one.policy if one.match is None else f"{one.policy} @ {one.match}"
        labels.append(f"{name}: {len(hit)} of {len(picture.changes)}, {len(one.days)} visits")
    axes.set_yticks(range(len(labels)), labels, fontsize=7)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set(xlim=(0, picture.days), xlabel="days", title=f"{picture.page} ({picture.corpus})")
    _save(figure, file)


def _around(value: float, ends: tuple[float, float]) -> list[list[float]]:
    return [[max(value - ends[0], 0.0)], [max(ends[1] - value, 0.0)]]


def _panels(names: Sequence[str]) -> tuple[Figure, dict[str, Axes]]:
    columns = min(3, max(len(names), 1))
    lines = -(-max(len(names), 1) // columns)
    figure = Figure(figsize=(4.2 * columns, 3.6 * lines), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, {name: figure.add_subplot(lines, columns, place + 1) for place, name in enumerate(names)}


def _save(figure: Figure, file: Path) -> None:
    with mpl.rc_context({"svg.hashsalt": "webstrata", "svg.fonttype": "none"}):
        figure.savefig(file, metadata={"Date": None})
