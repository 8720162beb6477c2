"""Plots of crawl times: estimated against actual times, and a planned round as a Gantt chart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from webstrata.clock import span
from webstrata.plots.figure import INK, ORANGE, TEAL, check_format, label, new_figure, save
from webstrata.wording import agreeing, counted

if TYPE_CHECKING:
    from webstrata.lab.crawl_time.experiment import CrawlMeasurement

Bar = tuple[int, float, float]
"""(index of the host, start, end) of a request, in seconds."""

MAX_ROWS = 40
_MAX_BARS = 20_000
"""Further bars would not be visible and are not drawn."""


def draw_estimates(crawls: Sequence[CrawlMeasurement], file: Path) -> Figure:
    """A point for each crawl and estimator. The line shows exact estimates, the band an error of 10 %."""
    actual = [max(crawl.actual_s, 1e-3) / 60 for crawl in crawls] or [1.0]
    figure = new_figure(6.4, 6)
    axes = figure.add_subplot()
    ends = [min(actual) / 3, max(actual) * 3]
    axes.fill_between(
        ends, [end * 0.9 for end in ends], [end * 1.1 for end in ends], color="#cbd5e1", lw=0, label="error up to 10 %"
    )
    axes.plot(ends, ends, color=INK, lw=0.8)
    for name, colour, marker, minutes in (
        ("estimate of the paper", ORANGE, "x", [max(crawl.paper_s, 1e-3) / 60 for crawl in crawls]),
        ("simulation", TEAL, "o", [max(crawl.ours_s, 1e-3) / 60 for crawl in crawls]),
    ):
        axes.plot(actual[: len(minutes)], minutes, marker, color=colour, label=name, ms=4, alpha=0.8)
    axes.set(xscale="log", yscale="log", xlim=ends)
    axes.set_xlabel("actual crawl time in minutes (logarithmic scale)")
    axes.set_ylabel("estimated crawl time in minutes (logarithmic scale)")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return save(figure, file)


def draw_round(hosts: Sequence[str], bars: Sequence[Bar], file: Path, *, title: str) -> Figure:
    """A row for each host, a bar for each request (datamonitor's Figure 7). The host that ends last is at the top."""
    check_format(file)
    ends: dict[int, float] = {}
    for host, _, end in bars:
        ends[host] = max(end, ends.get(host, 0.0))
    shown = sorted(ends, key=lambda host: (-ends[host], hosts[host]))[:MAX_ROWS]
    figure = new_figure(10, 1.4 + 0.26 * max(4, len(shown)))
    axes = figure.add_subplot()
    rows = {host: row for row, host in enumerate(shown)}
    spans: list[list[tuple[float, float]]] = [[] for _ in shown]
    for host, start, end in bars[:_MAX_BARS]:
        if host in rows:
            spans[rows[host]].append((start, end - start))
    for row, row_spans in enumerate(spans):
        axes.broken_barh(row_spans, (row - 0.36, 0.72), facecolors=ORANGE if row == 0 else TEAL, lw=0)
    axes.set_yticks(range(len(shown)), [label(hosts[host]) for host in shown], fontsize=8)
    axes.set_ylim(max(3.5, len(shown) - 0.5), -0.5)
    total_s = max(ends.values(), default=0.0)
    axes.set_xlim(0, (total_s or 1.0) * 1.01)
    axes.set_xlabel(f"seconds from the start (total: {span(total_s)})", color=INK)
    rest = len(ends) - len(shown)
    that_end = agreeing(rest, "that ends earlier is", "that end earlier are")
    hidden = f"; {counted(rest, 'host')} {that_end} not shown" if rest > 0 else ""
    axes.set_title(title + hidden, fontsize=10, color=INK, loc="left")
    axes.grid(axis="x", lw=0.4, color="#cbd5e1")
    axes.set_axisbelow(True)
    handles = [
        Line2D([], [], color=colour, lw=5, label=name)
        for colour, name in ((TEAL, "request"), (ORANGE, "request to the host that ends last"))
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    return save(figure, file)
