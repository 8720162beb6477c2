"""The visit-revisit chart (solar's Figures 1 to 3): one line per page, from visit to revisit, round the instant.

Sharp pages, blurred ones and pages given up differ in colour and in stroke, so that the picture can be read in grey.
Two panels show a schedule before and after shrinking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from webstrata.errors import UsageError

KINDS = (".svg", ".png", ".pdf")
SHARP, BLURRED, HOPELESS, PLANNED = "sharp", "blurred", "hopeless", "planned"

_MOST_NAMES = 40
"""More pages than these are drawn as thin lines without names."""
_MOST_LINES = 5000
"""Of more pages an even choice is drawn."""
_INK = "#334155"
_STYLES: dict[str, tuple[str, str]] = {
    SHARP: ("#0f766e", "-"),
    BLURRED: ("#b91c1c", "--"),
    HOPELESS: ("#94a3b8", ":"),
    PLANNED: ("#1d4ed8", "-"),
}


@dataclass(frozen=True)
class VisitLine:
    """One page: where its visit and its revisit lie from the instant (negative before it), and what became of it."""

    name: str
    visit: float
    revisit: float
    state: str = PLANNED
    """`sharp`, `blurred`, `hopeless` or `planned`."""


@dataclass(frozen=True)
class SchedulePanel:
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
    """A schedule in slots, with what an execution made of it, if there was one."""
    given_up = set(hopeless)

    def state(page: int) -> str:
        if sharp is not None:
            return SHARP if sharp[page] else BLURRED
        return HOPELESS if page in given_up else PLANNED

    pairs = enumerate(zip(visits, revisits, strict=True))
    return SchedulePanel(
        title, [VisitLine(f"p{page}", -visit, revisit, state(page)) for page, (visit, revisit) in pairs]
    )


def draw_visits(file: Path, panels: Sequence[SchedulePanel]) -> None:
    """Panels side by side on one scale. The file's ending says what kind of picture it is."""
    if file.suffix.lower() not in KINDS:
        raise UsageError(f"{file.name} is no picture that can be drawn. End its name with {', '.join(KINDS)}.")
    if not panels or not all(panel.lines for panel in panels):
        raise UsageError("There are no pages to draw: a chart needs at least one visit.")
    tallest = max(min(len(panel.lines), _MOST_NAMES) for panel in panels)
    figure = Figure(figsize=(5.2 * len(panels), 1.6 + 0.2 * max(8, tallest)), layout="constrained")
    FigureCanvasAgg(figure)
    reach = max(max(-line.visit, line.revisit) for panel in panels for line in panel.lines) or 1.0
    for place, panel in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), place + 1)
        _draw(axes, panel)
        axes.set_xlim(-1.05 * reach, 1.05 * reach)
    present = {line.state for panel in panels for line in panel.lines}
    keys = [Line2D([], [], color=_STYLES[one][0], ls=_STYLES[one][1], label=one) for one in _STYLES if one in present]
    figure.legend(handles=keys, loc="outside lower center", ncols=len(keys), frameon=False, fontsize=8)
    with mpl.rc_context({"svg.hashsalt": "webstrata", "svg.fonttype": "none"}):
        figure.savefig(file, metadata={"Date": None} if file.suffix.lower() == ".svg" else None, dpi=120)


def _draw(axes: Axes, panel: SchedulePanel) -> None:
    """The shortest spans at the bottom, as in the paper."""
    lines = sorted(panel.lines, key=lambda line: (line.revisit - line.visit, line.name))
    if len(lines) > _MOST_LINES:
        lines = [lines[place * len(lines) // _MOST_LINES] for place in range(_MOST_LINES)]
    named = len(lines) <= _MOST_NAMES
    for state, (colour, stroke) in _STYLES.items():
        rows = [(place, line) for place, line in enumerate(lines) if line.state == state]
        ends = [[(line.visit, place), (line.revisit, place)] for place, line in rows]
        axes.add_collection(LineCollection(ends, colors=colour, linestyles=stroke, linewidths=2.0 if named else 0.6))
        if named:
            axes.plot([line.visit for _, line in rows], [place for place, _ in rows], "o", ms=3, color=colour)
            axes.plot([line.revisit for _, line in rows], [place for place, _ in rows], "s", ms=3, color=colour)
    axes.axvline(0.0, color=_INK, lw=0.8)
    if named:
        axes.set_yticks(range(len(lines)), [_short(line.name) for line in lines], fontsize=7)
    else:
        axes.set_yticks([])
        axes.set_ylabel(f"{len(panel.lines):,} pages", color=_INK, fontsize=8)
    axes.set_ylim(-0.8, len(lines) - 0.2)
    axes.set_xlabel(f"{panel.unit} from the instant", color=_INK, fontsize=8)
    axes.set_title(_short(panel.title, 70), fontsize=9, color=_INK, loc="left")
    axes.tick_params(labelsize=7)
    axes.grid(axis="x", lw=0.4, color="#e2e8f0")
    axes.set_axisbelow(True)


def _short(name: str, most: int = 36) -> str:
    """Names are others' words: matplotlib must not read mathematics in them."""
    return (name if len(name) <= most else f"{name[: most - 1]}…").replace("$", r"\$")
