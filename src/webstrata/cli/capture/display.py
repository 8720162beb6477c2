"""The progress of captures: a live line for each site on a terminal, a line for each download in a pipe."""

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

    def on_event(self, capture: SiteCapture, event: Event) -> None:
        """Receive an event of a capture."""


class CaptureLines(NoCaptureDisplay):
    """Writes one line to stderr for each requested page or requisite."""

    def on_event(self, capture: SiteCapture, event: Event) -> None:
        from webstrata.flows.capture.events import PageDownloaded, RequisiteDownloaded

        if isinstance(event, PageDownloaded):
            own = [seen for entry in event.observations if entry.url == event.url for seen in entry.observations]
            result = f"{iso(own[-1].started)} {own[-1].status}" if own and own[-1].status else f"- {event.why}"
            sys.stderr.write(f"{capture.phase} {printable(result)} {printable(event.url)}\n")
        elif isinstance(event, RequisiteDownloaded):
            sys.stderr.write(f"{capture.phase} {printable(event.why) or 'got'} {printable(event.url)}\n")
        sys.stderr.flush()


class CaptureScreen(NoCaptureDisplay):
    """Shows a live line for each site."""

    def __init__(self) -> None:
        self._captures: dict[int, SiteCapture] = {}

    def on_event(self, capture: SiteCapture, event: Event) -> None:
        self._captures[id(capture)] = capture

    def __rich__(self) -> Text:
        from rich.text import Text

        lines = (_line(capture) for capture in self._captures.values())
        return Text("\n".join(lines), no_wrap=True, overflow="ellipsis")


def _line(capture: SiteCapture) -> str:
    """The phase, the progress, the expected number of sharp pages, and the remaining time."""
    state = capture.state
    visited = state.visited()
    parts = [f"{len(visited)}/{len(state.pages)} visited"]
    if state.pass_number:
        parts.append(f"{sum(len(page.contents) > state.pass_number for page in visited)} revisited")
    if capture.phase == "requisites":
        parts.append(
            f"{sum(bool(succeeded) for succeeded in state.requisites.values())}/{len(state.requisites)} requisites"
        )
    parts.append(f"{state.expected():.1f} sharp expected")
    if capture.phase not in ("requisites", "done") and (requests := state.remaining_requests()):
        parts.append(f"{span(_remaining_s(capture, requests))} left")
    return f"{capture.phase}: {', '.join(parts)}  {printable(state.started.order.url)}"


def _remaining_s(capture: SiteCapture, requests: int) -> float:
    """The time for the remaining requests of this pass and, during the visits, for the revisits."""
    state = capture.state
    if state.pass_number == 0 and state.started.order.sharp:
        requests = 2 * requests + len(state.visited())
    return requests * state.pace_s()


@contextmanager
def capture_display(*, quiet: bool) -> Iterator[NoCaptureDisplay]:
    """The display for stderr: none with `quiet`, live lines on a terminal, plain lines in a pipe."""
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
