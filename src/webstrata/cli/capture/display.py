"""What captures show while they run: a live line for each site on a terminal, a line for each download in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from webstrata.cli.output import printable
from webstrata.clock import iso, span

if TYPE_CHECKING:
    from rich.text import Text

    from webstrata.flows.capture.events import Event
    from webstrata.flows.capture.site_capture import SiteCapture


class NoCaptureDisplay:
    """Shows nothing."""

    def told(self, capture: SiteCapture, event: Event) -> None:
        """Something happened in a capture."""


class CaptureLines(NoCaptureDisplay):
    """One line on stderr for each page or requisite that was asked for."""

    def told(self, capture: SiteCapture, event: Event) -> None:
        from webstrata.flows.capture.events import PageDownloaded, RequisiteDownloaded

        if isinstance(event, PageDownloaded):
            got = f"{iso(event.download.started)} {event.download.status}" if event.download else f"- {event.why}"
            sys.stderr.write(f"{capture.phase} {printable(got)} {printable(event.url)}\n")
        elif isinstance(event, RequisiteDownloaded):
            sys.stderr.write(f"{capture.phase} {printable(event.why) or 'got'} {printable(event.url)}\n")
        sys.stderr.flush()


class CaptureScreen(NoCaptureDisplay):
    """A live line for each site."""

    def __init__(self) -> None:
        self._captures: dict[int, SiteCapture] = {}

    def told(self, capture: SiteCapture, event: Event) -> None:
        self._captures[id(capture)] = capture

    def __rich__(self) -> Text:
        from rich.text import Text

        lines = (_line(capture) for capture in self._captures.values())
        return Text("\n".join(lines), no_wrap=True, overflow="ellipsis")


def _line(capture: SiteCapture) -> str:
    """The phase, how far it is, what is expected, and how long it will take."""
    state = capture.state
    visited = state.visited()
    parts = [f"{len(visited)}/{len(state.pages)} visited"]
    if state.turn:
        parts.append(f"{sum(len(page.downloads) > state.turn for page in visited)} revisited")
    if capture.phase == "requisites":
        parts.append(f"{sum(bool(one) for one in state.requisites.values())}/{len(state.requisites)} requisites")
    parts.append(f"{state.expected():.1f} sharp expected")
    if capture.phase not in ("requisites", "done") and (left := state.to_come()):
        parts.append(f"{span(_left_s(capture, left))} left")
    return f"{capture.phase}: {', '.join(parts)}  {printable(state.began.order.url)}"


def _left_s(capture: SiteCapture, requests: int) -> float:
    """This turn's requests and, while pages are visited, the revisits to come."""
    state = capture.state
    if state.turn == 0 and state.began.order.sharp:
        requests = 2 * requests + len(state.visited())
    return requests * state.pace_s()


@contextmanager
def showing(*, quiet: bool) -> Iterator[NoCaptureDisplay]:
    """The display that fits where we are."""
    if quiet:
        yield NoCaptureDisplay()
    elif sys.stderr.isatty():
        from rich.live import Live

        from webstrata.cli.crawl.display import stderr

        screen = CaptureScreen()
        with Live(screen, console=stderr, refresh_per_second=4):
            yield screen
    else:
        yield CaptureLines()
