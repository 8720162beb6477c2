"""Measured figures with targets, the table that prints them, and the helpers to measure them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from msgspec import Struct


class Figure(Struct, frozen=True, kw_only=True):
    """One line of the report. If there is a target, the median of the values must reach it."""

    bench: str
    name: str
    values: list[float]
    unit: str = "x"
    at_least: float | None = None
    at_most: float | None = None

    @property
    def median(self) -> float:
        return median(self.values)

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None if there is none."""
        if self.at_least is not None:
            return self.median >= self.at_least
        if self.at_most is not None:
            return self.median <= self.at_most
        return None


def table(figures: list[Figure]) -> str:
    lines = [f"{'bench':11} {'figure':52} {'median':>10} {'spread':>21}  target"]
    for figure in figures:
        spread = f"{_short(min(figure.values))} – {_short(max(figure.values))}" if len(figure.values) > 1 else ""
        shown = f"{_short(figure.median)} {figure.unit}"
        lines.append(f"{figure.bench:11} {figure.name:52} {shown:>10} {spread:>21}  {_target(figure)}")
    return "\n".join(lines)


def as_builtins(figures: list[Figure]) -> list[dict[str, object]]:
    return [
        {
            "bench": figure.bench,
            "figure": figure.name,
            "median": figure.median,
            "min": min(figure.values),
            "max": max(figure.values),
            "repeats": len(figure.values),
            "unit": figure.unit,
            "at_least": figure.at_least,
            "at_most": figure.at_most,
            "met": figure.met,
        }
        for figure in figures
    ]


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


def _target(figure: Figure) -> str:
    if figure.met is None:
        return ""
    target = f"≥ {figure.at_least:g}" if figure.at_least is not None else f"≤ {figure.at_most:g}"
    return f"{target} {'met' if figure.met else 'MISSED'}"


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time that this process uses for the work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def compiling_once(folder: Path) -> dict[str, str]:
    """The environment of this process, with compiled modules kept in `folder`, as after an installation."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def command_seconds(arguments: list[str], folder: Path) -> list[float]:
    """Durations of several runs of a command, without the first one, which compiles the modules."""
    command = [sys.executable, "-c", "from webstrata.cli import main; main()", *arguments]
    environment = compiling_once(folder)
    durations = []
    for _ in range(6):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
        durations.append(time.perf_counter() - start)
    return durations[1:]
