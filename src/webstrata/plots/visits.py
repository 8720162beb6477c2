"""The visit-revisit chart (Figures 1 to 3 of the SOLAR paper): one line per page, from visit to revisit.

Sharp, blurred and hopeless pages differ in colour and in line style, so that the chart is legible in greyscale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from webstrata.errors import UsageError
from webstrata.plots.figure import GREY, INK, TEAL, check_format, label, new_figure, save
from webstrata.wording import counted

SHARP, BLURRED, HOPELESS, PLANNED = "sharp", "blurred", "hopeless", "planned"

_MAX_NAMED_LINES = 40
"""If there are more pages, they are drawn as thin lines without names."""
_MAX_LINES = 5000
"""If there are more pages, an evenly spaced selection is drawn."""
_VISIT_MARKER, _REVISIT_MARKER = "o", "s"
_STYLES: dict[str, tuple[str, str]] = {
    SHARP: (TEAL, "-"),
    BLURRED: ("#b91c1c", "--"),
    HOPELESS: (GREY, ":"),
    PLANNED: ("#1d4ed8", "-"),
}


@dataclass(frozen=True)
class VisitLine:
    """One page: the distances of its visit and revisit from the instant (negative before it), and its state."""

    name: str
    visit: float
    revisit: float
    state: str = PLANNED
    """`sharp`, `blurred`, `hopeless` or `planned`."""


@dataclass(frozen=True)
class SchedulePanel:
    """One chart of a figure."""

    title: str
    lines: Sequence[VisitLine]
    unit: str = "slots"


def schedule_panel(
    visits: Sequence[int],
    revisits: Sequence[int],
    hopeless: Sequence[int],
    title: str,
    sharp: Sequence[bool] | None = None,
) -> SchedulePanel:
    """The panel of a schedule in slots; `sharp` is the result of an execution, if there was one."""
    hopeless_pages = set(hopeless)

    def state(page: int) -> str:
        if sharp is not None:
            return SHARP if sharp[page] else BLURRED
        return HOPELESS if page in hopeless_pages else PLANNED

    pairs = enumerate(zip(visits, revisits, strict=True))
    return SchedulePanel(
        title, [VisitLine(f"p{page}", -visit, revisit, state(page)) for page, (visit, revisit) in pairs]
    )


def draw_visits(file: Path, panels: Sequence[SchedulePanel]) -> Figure:
    """Draw panels next to each other with one scale. The file name extension determines the format."""
    check_format(file)
    if not panels or not all(panel.lines for panel in panels):
        raise UsageError("There are no pages to draw: a chart needs at least one visit.")
    tallest = max(min(len(panel.lines), _MAX_NAMED_LINES) for panel in panels)
    figure = new_figure(5.2 * len(panels), 1.6 + 0.2 * max(8, tallest))
    reach = max(max(-line.visit, line.revisit) for panel in panels for line in panel.lines) or 1.0
    for index, panel in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), index + 1)
        _draw(axes, panel)
        axes.set_xlim(-1.05 * reach, 1.05 * reach)
    present = {line.state for panel in panels for line in panel.lines}
    handles = [
        Line2D([], [], color=colour, ls=stroke, label=state)
        for state, (colour, stroke) in _STYLES.items()
        if state in present
    ]
    if any(len(panel.lines) <= _MAX_NAMED_LINES for panel in panels):
        handles += [
            Line2D([], [], color=INK, marker=marker, ls="", ms=3, label=name)
            for marker, name in ((_VISIT_MARKER, "visit"), (_REVISIT_MARKER, "revisit"))
        ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=8)
    return save(figure, file)


def _draw(axes: Axes, panel: SchedulePanel) -> None:
    """Draw one panel; the shortest spans are at the bottom, as in the paper."""
    lines = sorted(panel.lines, key=lambda line: (line.revisit - line.visit, line.name))
    if len(lines) > _MAX_LINES:
        lines = [lines[index * len(lines) // _MAX_LINES] for index in range(_MAX_LINES)]
    named = len(lines) <= _MAX_NAMED_LINES
    for state, (colour, stroke) in _STYLES.items():
        rows = [(height, line) for height, line in enumerate(lines) if line.state == state]
        ends = [[(line.visit, height), (line.revisit, height)] for height, line in rows]
        axes.add_collection(LineCollection(ends, colors=colour, linestyles=stroke, linewidths=2.0 if named else 0.6))
        if named:
            heights = [height for height, _ in rows]
            axes.plot([line.visit for _, line in rows], heights, _VISIT_MARKER, ms=3, color=colour)
            axes.plot([line.revisit for _, line in rows], heights, _REVISIT_MARKER, ms=3, color=colour)
    axes.axvline(0.0, color=INK, lw=0.8)
    if named:
        axes.set_yticks(range(len(lines)), [label(line.name) for line in lines], fontsize=7)
    else:
        axes.set_yticks([])
        axes.set_ylabel(counted(f"{len(panel.lines):,}", "page"), color=INK, fontsize=8)
    axes.set_ylim(-0.8, len(lines) - 0.2)
    axes.set_xlabel(f"{panel.unit} from the instant", color=INK, fontsize=8)
    axes.set_title(label(panel.title, 70), fontsize=9, color=INK, loc="left")
    axes.tick_params(labelsize=7)
    axes.grid(axis="x", lw=0.4, color="#e2e8f0")
    axes.set_axisbelow(True)
