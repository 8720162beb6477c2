"""The progress of a crawl: a live display on a terminal, one line per visit in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.table import Table

from webstrata.cli.history.visit_text import cut, cut_note, result_text
from webstrata.cli.output import counted, printable, size
from webstrata.clock import iso
from webstrata.flows.crawl.visit_batcher import CrawlProgress
from webstrata.records import Outcome, Visit

_MAX_FAILURES = 100
"""Failed visits that a summary keeps."""
_SHOWN_FAILURES = 20

stderr = Console(stderr=True, soft_wrap=True, highlight=False)


class VisitCounts(CrawlProgress):
    """Counts visits and shows nothing; the other displays are subclasses."""

    def __init__(self) -> None:
        self.visits = 0
        self.changed = 0
        self.failed = 0
        self.cut = 0
        self.bytes = 0
        self.pages = 0
        self.hosts = 0
        self.failures: list[Visit] = []
        """The first failed visits."""
        self.started = time.monotonic()
        self.last_at = 0.0

    def claimed(self, pages: int, hosts: int) -> None:
        self.pages, self.hosts = pages, hosts

    def host_ended(self) -> None:
        self.hosts -= 1

    def visited(self, visits: Sequence[Visit]) -> None:
        for visit in visits:
            self.visits += 1
            self.changed += visit.counts and visit.outcome is not Outcome.NEW
            self.failed += visit.outcome is Outcome.ERROR
            if visit.failure is not None and len(self.failures) < _MAX_FAILURES:
                self.failures.append(visit)
            self.cut += visit.truncated is not None
            self.bytes += visit.bytes
            self.last_at = max(self.last_at, visit.at)

    @property
    def per_second(self) -> float:
        return self.visits / max(1e-6, time.monotonic() - self.started)

    def summary(self) -> dict[str, float]:
        return {
            "visits": self.visits,
            "changed": self.changed,
            "failed": self.failed,
            "cut": self.cut,
            "bytes": self.bytes,
            "seconds": round(time.monotonic() - self.started, 3),
        }


class VisitLines(VisitCounts):
    """One line on stderr for each committed visit."""

    def visited(self, visits: Sequence[Visit]) -> None:
        super().visited(visits)
        for visit in visits:
            result = visit.failure.kind if visit.failure else visit.status
            detail = f" ({printable(visit.failure.detail)})" if visit.failure and visit.failure.detail else ""
            sys.stderr.write(f"{iso(visit.at)} {visit.outcome} {result} {printable(visit.url)}{detail}\n")
            sys.stderr.writelines(f"  {printable(phrase)}\n" for phrase in _phrases(visit))
        sys.stderr.flush()


class VisitScreen(VisitCounts):
    """A live display, with a line above it for every cut body and everything that was learned as noise."""

    def visited(self, visits: Sequence[Visit]) -> None:
        super().visited(visits)
        for visit in visits:
            for phrase in _phrases(visit):
                stderr.print(f"{printable(visit.url)}: {printable(phrase)}", markup=False)

    def print_failures(self) -> None:
        """A table of the failed visits with their reasons. A pipe has them in its lines."""
        rows = [(printable(cut(result_text(visit))), printable(visit.url)) for visit in self.failures]
        width = max((len(reason) for reason, _ in rows), default=0)
        for reason, url in rows[:_SHOWN_FAILURES]:
            stderr.print(f"{reason:<{width}}  {url}", markup=False)
        if self.failed > _SHOWN_FAILURES:
            more = self.failed - _SHOWN_FAILURES
            stderr.print(f"… {counted(more, 'more failed visit')}: `webstrata log --errors` shows them", markup=False)

    def __rich__(self) -> Table:
        grid = Table.grid(padding=(0, 2))
        grid.add_row(
            f"[bold]{self.visits}[/] done",
            f"[green]{self.changed}[/] changed",
            f"[red]{self.failed}[/] failed",
            f"{self.per_second:.0f}/s",
            f"{size(self.bytes)}",
            f"{counted(max(0, self.hosts), 'host')} waiting",
            f"[dim]{iso(float(int(self.last_at))) if self.last_at else ''}[/]",
        )
        return grid


def _phrases(visit: Visit) -> list[str]:
    """What is said about a visit besides its outcome."""
    return [*visit.learned, *filter(None, [cut_note(visit)])]


@contextmanager
def showing(*, quiet: bool) -> Iterator[VisitCounts]:
    """The display for this terminal or pipe."""
    if quiet:
        yield VisitCounts()
    elif sys.stderr.isatty():
        screen = VisitScreen()
        with Live(screen, console=stderr, refresh_per_second=5):
            yield screen
        screen.print_failures()
    else:
        yield VisitLines()
