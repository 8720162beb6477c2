"""What all plots share: creating and saving a figure, file formats, colours, labels."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from webstrata.errors import UsageError

FORMATS = (".svg", ".png", ".pdf")
INK, TEAL, ORANGE, GREY = "#334155", "#0f766e", "#b45309", "#94a3b8"


def new_figure(width: float, height: float) -> Figure:
    """A figure of this size in inches, without pyplot's global state. Its layout makes room for outside legends."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def check_format(file: Path) -> None:
    """Raise `UsageError` if the file name extension is not one of `FORMATS`."""
    if file.suffix.lower() not in FORMATS:
        raise UsageError(f"{file.name} has no supported picture format. End its name with {', '.join(FORMATS)}.")


def save(figure: Figure, file: Path) -> Figure:
    """Write the figure and return it. An SVG is the same bytes every time and contains its text as text."""
    with mpl.rc_context({"svg.hashsalt": "webstrata", "svg.fonttype": "none"}):
        figure.savefig(file, metadata={"Date": None} if file.suffix.lower() == ".svg" else None, dpi=120)
    return figure


def label(name: str, max_length: int = 36) -> str:
    """A shortened label. `$` is escaped, because matplotlib would interpret it as mathematics."""
    return (name if len(name) <= max_length else f"{name[: max_length - 1]}…").replace("$", r"\$")
