"""Progress of the demo: a bar on a terminal, a line for each tenth of the time in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import typer
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn

from webstrata.cli.crawl.display import VisitCounts, stderr
from webstrata.clock import DAY_S, iso
from webstrata.records import Visit
from webstrata.wording import counted


class _DemoCounts(VisitCounts):
    """Visit counts, and the elapsed share of the recorded time."""

    def __init__(self, start_at: float, end_at: float) -> None:
        super().__init__()
        self._start_at = start_at
        self._length_s = end_at - start_at

    @property
    def elapsed(self) -> float:
        """The elapsed share of the recorded time, up to 1."""
        return min(1.0, max(0.0, self.last_at - self._start_at) / self._length_s)

    @property
    def date(self) -> str:
        return iso(self.last_at or self._start_at)[:10]

    @property
    def counts(self) -> str:
        return f"{counted(self.visits, 'visit')}, {counted(self.changed, 'change')}, {self.per_second:.0f}/s"


class _DemoBar(_DemoCounts):
    def __init__(self, start_at: float, end_at: float) -> None:
        super().__init__(start_at, end_at)
        self._days = (end_at - start_at) / DAY_S
        self.shown = Progress(
            TextColumn("{task.fields[date]}"),
            BarColumn(bar_width=24),
            TextColumn("{task.completed:.0f}/{task.total:.0f} days"),
            TextColumn("{task.fields[counts]}"),
            console=stderr,
        )
        self._task = self.shown.add_task("", total=self._days, date=self.date, counts="")

    def visited(self, visits: Sequence[Visit]) -> None:
        super().visited(visits)
        self.update(self.elapsed)

    def update(self, elapsed: float) -> None:
        self.shown.update(self._task, completed=elapsed * self._days, date=self.date, counts=self.counts)


class _DemoLines(_DemoCounts):
    _tenths_shown = 0

    def visited(self, visits: Sequence[Visit]) -> None:
        super().visited(visits)
        if (tenths := int(self.elapsed * 10)) > self._tenths_shown:
            self._tenths_shown = tenths
            typer.echo(f"{self.date}  {self.counts}", err=True)


@contextmanager
def showing_progress(start_at: float, end_at: float) -> Iterator[VisitCounts]:
    """A bar if stderr is a terminal, else lines; nothing is written to stdout."""
    if sys.stderr.isatty():
        bar = _DemoBar(start_at, end_at)
        with Live(bar.shown, console=stderr, refresh_per_second=8):
            yield bar
            bar.update(1.0)
    else:
        typer.echo(f"crawling from {iso(start_at)} to {iso(end_at)}", err=True)
        yield _DemoLines(start_at, end_at)
