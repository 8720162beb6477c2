"""A planned round as a picture: a row for each host, a bar for each request (datamonitor's Figure 7)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from webstrata.clock import span
from webstrata.errors import UsageError

Bar = tuple[int, float, float]
"""(host, start, end)."""

MOST_ROWS = 40
MOST_BARS = 20_000
"""A picture with more bars shows no more; further ones are left out."""
KINDS = (".svg", ".png", ".pdf")

_INK = "#334155"
_FILL = "#0f766e"
_LAST = "#b45309"


def draw(hosts: Sequence[str], bars: Sequence[Bar], file: Path, *, title: str) -> None:
    """Hosts that end last stand on top; the last one is marked. The file's ending says what kind it is."""
    if file.suffix.lower() not in KINDS:
        raise UsageError(f"{file.name} is no picture that can be drawn. End its name with {', '.join(KINDS)}.")
    ends: dict[int, float] = {}
    for host, _, end in bars:
        ends[host] = max(end, ends.get(host, 0.0))
    shown = sorted(ends, key=lambda host: (-ends[host], hosts[host]))[:MOST_ROWS]
    figure = Figure(figsize=(10, 1.4 + 0.26 * max(4, len(shown))), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    row = {host: place for place, host in enumerate(shown)}
    spans: list[list[tuple[float, float]]] = [[] for _ in shown]
    for host, start, end in bars[:MOST_BARS]:
        if host in row:
            spans[row[host]].append((start, end - start))
    for place, own in enumerate(spans):
        axes.broken_barh(own, (place - 0.36, 0.72), facecolors=_LAST if place == 0 else _FILL, lw=0)
    axes.set_yticks(range(len(shown)), [_short(hosts[host]) for host in shown], fontsize=8)
    axes.set_ylim(max(3.5, len(shown) - 0.5), -0.5)
    axes.set_xlim(0, max(ends.values(), default=1.0) * 1.01)
    axes.set_xlabel(f"seconds from the start ({span(max(ends.values(), default=0.0))} in all)", color=_INK)
    left_out = f"; {len(ends) - len(shown)} hosts that end earlier are not shown" if len(ends) > len(shown) else ""
    axes.set_title(title + left_out, fontsize=10, color=_INK, loc="left")
    axes.grid(axis="x", lw=0.4, color="#cbd5e1")
    axes.set_axisbelow(True)
    with mpl.rc_context({"svg.hashsalt": "webstrata", "svg.fonttype": "none"}):
        figure.savefig(file, metadata={"Date": None} if file.suffix.lower() == ".svg" else None, dpi=120)


def _short(name: str) -> str:
    """Names are others' words: matplotlib must not read mathematics in them."""
    return (name if len(name) <= 36 else f"{name[:35]}…").replace("$", r"\$")
