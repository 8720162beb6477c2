"""The reliability diagram of expected sharp pages: expected against realised shares of blurred pages.

Almost all pages are expected to be sharp with a probability above 0.9, so the shares of blurred pages are drawn, on
logarithmic scales.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from webstrata.lab.sharp.calibration import TESTED, TUNED, CalibrationRow
from webstrata.plots.figure import GREY, INK, ORANGE, TEAL, check_format, new_figure, save

_LEAST, _MOST = 1e-4, 1.3
_Z = 1.96
"""Half-width of a 95 % interval in standard deviations."""


def draw_calibration(file: Path, rows: Sequence[CalibrationRow]) -> Figure:
    """One panel for each variant of the sites, with a point for each bin of expected probabilities."""
    check_format(file)
    variants = list(dict.fromkeys(row.variant for row in rows)) or [""]
    figure = new_figure(3.9 * len(variants), 4.3)
    for index, variant in enumerate(variants):
        axes = figure.add_subplot(1, len(variants), index + 1)
        axes.plot([_LEAST, 1.0], [_LEAST, 1.0], color=GREY, lw=0.8, label="calibrated")
        for part, colour, marker in ((TUNED, ORANGE, "s"), (TESTED, TEAL, "o")):
            bins = [row for row in rows if (row.variant, row.part) == (variant, part) and row.low is not None]
            _draw_bins(axes, bins, colour, marker, f"{part} sites")
        axes.set(xscale="log", yscale="log", xlim=(_LEAST, _MOST), ylim=(_LEAST, _MOST), aspect="equal")
        axes.set_xlabel("expected share of blurred pages (logarithmic scale)", color=INK, fontsize=8)
        axes.set_ylabel("realised share (logarithmic scale)", color=INK, fontsize=8)
        axes.set_title(variant, fontsize=9, color=INK, loc="left")
        axes.tick_params(labelsize=7)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return save(figure, file)


def _draw_bins(axes: Axes, bins: Sequence[CalibrationRow], colour: str, marker: str, name: str) -> None:
    """The bins with 95 % intervals (Wilson) for independent pages."""
    pages = np.array([row.pages for row in bins], dtype=np.float64)
    expected = 1.0 - np.array([row.expected for row in bins]) / pages
    realised = 1.0 - np.array([row.sharp for row in bins]) / pages
    centre = (realised + _Z**2 / (2 * pages)) / (1 + _Z**2 / pages)
    half = _Z / (1 + _Z**2 / pages) * np.sqrt(realised * (1 - realised) / pages + _Z**2 / (4 * pages**2))
    low, high = np.minimum(realised, centre - half), np.maximum(realised, centre + half)
    axes.vlines(expected, np.maximum(low, _LEAST), high, color=colour, lw=1)
    axes.plot(expected, np.maximum(realised, _LEAST), marker, color=colour, ms=4, label=name)
