"""Estimated against actual crawl times, both estimators, on logarithmic axes.

A planned round as a picture: a row for each host, a bar for each request (datamonitor's Figure 7).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from webstrata.clock import span
from webstrata.errors import UsageError
from webstrata.lab.crawl_time.experiment import CrawlMeasurement

_OURS, _PAPER, _INK = "#0f766e", "#b45309", "#334155"


def draw_estimates(crawls: Sequence[CrawlMeasurement], file: Path) -> None:
    """A point for each crawl and estimator; on the line they are right, in the band within 10 %."""
    actual = [max(one.actual_s, 1e-3) / 60 for one in crawls] or [1.0]
    figure = Figure(figsize=(6.4, 6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    ends = [min(actual) / 3, max(actual) * 3]
    axes.fill_between(ends, [end * 0.9 for end in ends], [end * 1.1 for end in ends], color="#cbd5e1", lw=0)
    axes.plot(ends, ends, color=_INK, lw=0.8)
    for name, colour, marker, minutes in (
        ("the paper's", _PAPER, "x", [max(one.paper_s, 1e-3) / 60 for one in crawls]),
        ("simulated", _OURS, "o", [max(one.ours_s, 1e-3) / 60 for one in crawls]),
    ):
        axes.plot(actual[: len(minutes)], minutes, marker, color=colour, label=name, ms=4, alpha=0.8)
    axes.set(xscale="log", yscale="log", xlim=ends, xlabel="actual crawl time (minutes)", ylabel="estimated (minutes)")
    axes.legend(frameon=False)
    with mpl.rc_context({"svg.hashsalt": "webstrata", "svg.fonttype": "none"}):
        figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)


Bar = tuple[int, float, float]
"""(host, start, end)."""

MOST_ROWS = 40
MOST_BARS = 20_000
"""A picture with more bars shows no more; further ones are left out."""
KINDS = (".svg", ".png", ".pdf")

_FILL = "#0f766e"
_LAST = "#b45309"


def draw_round(hosts: Sequence[str], bars: Sequence[Bar], file: Path, *, title: str) -> None:
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
