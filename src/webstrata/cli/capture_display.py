"""What captures show while they run: a row for each site on a terminal, a line for each download in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from webstrata.cli.output import printable
from webstrata.clock import iso, span

if TYPE_CHECKING:
    from rich.table import Table

    from webstrata.flows.capture import SiteCapture
    from webstrata.flows.capture_events import Event


class Silence:
    """Shows nothing."""

    def told(self, capture: SiteCapture, event: Event) -> None:
        """Something happened in a capture."""


class Lines(Silence):
    """One line on stderr for each page or requisite that was asked for."""

    def told(self, capture: SiteCapture, event: Event) -> None:
        from webstrata.flows.capture_events import Fetched, Got

        if isinstance(event, Got):
            got = f"{iso(event.download.started)} {event.download.status}" if event.download else f"- {event.why}"
            sys.stderr.write(f"{capture.phase} {printable(got)} {printable(event.url)}\n")
        elif isinstance(event, Fetched):
            sys.stderr.write(f"{capture.phase} {printable(event.why) or 'got'} {printable(event.url)}\n")
        sys.stderr.flush()


class Screen(Silence):
    """A live table."""

    def __init__(self) -> None:
        self._captures: dict[int, SiteCapture] = {}

    def told(self, capture: SiteCapture, event: Event) -> None:
        self._captures[id(capture)] = capture

    def __rich__(self) -> Table:
        from rich.markup import escape
        from rich.table import Table

        grid = Table.grid(padding=(0, 2))
        for capture in self._captures.values():
            state = capture.state
            visited = state.visited()
            again = sum(len(page.downloads) > 1 for page in visited)
            had = sum(bool(one) for one in state.requisites.values())
            left = state.to_come() if capture.phase not in ("requisites", "done") else 0
            grid.add_row(
                f"[bold]{capture.phase}[/]",
                f"{len(state.pages)} found",
                f"{len(visited)} visited",
                f"{again} revisited",
                f"{had}/{len(state.requisites)} requisites" if capture.phase == "requisites" else "",
                f"[green]{state.expected():.1f}[/] sharp expected",
                f"{span(_left_s(capture, left))} left" if left else "",
                f"[dim]{escape(printable(state.began.order.url))}[/]",
            )
        return grid


def _left_s(capture: SiteCapture, requests: int) -> float:
    """This turn's requests and, while pages are visited, the revisits to come."""
    state = capture.state
    if state.turn == 0 and state.began.order.sharp:
        requests = 2 * requests + len(state.visited())
    return requests * state.began.slot_s


@contextmanager
def showing(*, quiet: bool) -> Iterator[Silence]:
    """The display that fits where we are."""
    if quiet:
        yield Silence()
    elif sys.stderr.isatty():
        from rich.live import Live

        from webstrata.cli.display import stderr

        screen = Screen()
        with Live(screen, console=stderr, refresh_per_second=4):
            yield screen
    else:
        yield Lines()
