"""The forecast of a page: the probability that it was updated since it was last seen, by time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from msgspec import Struct

from webstrata.clock import DAY_S, iso
from webstrata.plots.figure import GREY, INK, ORANGE, TEAL, check_format, label, new_figure, save


class ForecastCurve(Struct, frozen=True, kw_only=True):
    """What is drawn."""

    title: str
    subtitle: str
    curve: Sequence[tuple[float, float]]
    """(time, probability of an update until then)."""
    now: float
    by: float
    p_change: float
    quantiles: Sequence[tuple[float, float | None]]
    """(probability, time at which it is reached)."""


def draw_forecast(file: Path, drawn: ForecastCurve) -> Figure:
    """The curve from the last visit or copy on, with now, the end of the period that is asked for, and quantiles."""
    check_format(file)
    figure = new_figure(7.2, 3.6)
    axes = figure.add_subplot()
    times, chances = zip(*_shown(drawn), strict=True)
    axes.plot([_day(at) for at in times], chances, color=TEAL, lw=1.8)
    axes.fill_between([_day(at) for at in times], chances, color=TEAL, alpha=0.12, lw=0)
    axes.axvline(_day(drawn.now), color=GREY, lw=0.9, ls="--")
    axes.annotate(
        "now", (_day(drawn.now), 1.0), xytext=(3, -2), textcoords="offset points", va="top", fontsize=8, color=INK
    )
    axes.plot([_day(drawn.by)], [drawn.p_change], "o", color=ORANGE, ms=5)
    axes.annotate(
        f"{drawn.p_change:.0%} by {iso(drawn.by)[:10]}",
        (_day(drawn.by), drawn.p_change),
        xytext=(7, -11),
        textcoords="offset points",
        fontsize=8,
        color=ORANGE,
    )
    _draw_quantiles(axes, drawn, times[-1])
    axes.xaxis_date()
    axes.set_xlim(_day(times[0]), _day(times[-1]))
    axes.set_ylim(0.0, 1.03)
    axes.set_ylabel("probability of an update", color=INK, fontsize=8)
    axes.set_title(f"{label(drawn.title, 78)}\n{label(drawn.subtitle, 100)}", fontsize=9, color=INK, loc="left")
    axes.tick_params(labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)
    return save(figure, file)


def _draw_quantiles(axes: Axes, drawn: ForecastCurve, end: float) -> None:
    """A dotted line at each quantile that is in the picture."""
    for share, at in drawn.quantiles:
        if at is not None and at <= end:
            axes.vlines(_day(at), 0.0, share, color=GREY, lw=0.8, ls=":")
            axes.annotate(
                f"{share:.0%}", (_day(at), share), xytext=(4, -9), textcoords="offset points", fontsize=7,
                color=INK,
            )  # fmt: skip


def _shown(drawn: ForecastCurve) -> list[tuple[float, float]]:
    """The curve up to a little after all that is marked."""
    marks = [drawn.now, drawn.by, *(at for _, at in drawn.quantiles if at is not None)]
    begin = drawn.curve[0][0]
    end = begin + 1.1 * (max(marks) - begin)
    return [point for point in drawn.curve if point[0] <= end] or list(drawn.curve[:2])


def _day(at: float) -> float:
    """The date number of matplotlib: days since 1970."""
    return at / DAY_S
