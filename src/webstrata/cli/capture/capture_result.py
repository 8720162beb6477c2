"""How a capture ended, for exit codes: complete, partial or failed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from webstrata.flows.capture.proof import FinishedCapture
    from webstrata.flows.capture.site_capture import SiteCapture

CaptureResult = Literal["complete", "partial", "failed"]

EXIT_CODES: dict[CaptureResult, int] = {"complete": 0, "partial": 3, "failed": 1}
_MOST = 0.5
"""A capture that cannot reach more than this share of its pages failed."""


def capture_result(capture: SiteCapture, finished: FinishedCapture) -> CaptureResult:
    """`failed`: nothing was captured, no page is sharp although all were revisited, or most pages were not reached:
    the request failed, or the server answered that it cannot serve them (5xx).
    `partial`: it ended early, or pages were not reached for other reasons than robots.txt."""
    from webstrata.flows.capture.site_capture import MAX_FAILURES

    state = capture.state
    later = set(state.appeared)
    not_reached = [
        history.url
        for history, page in zip(state.pages.values(), finished.outcome.pages, strict=True)
        if page.verdict in ("unreachable", "unvisited")
        and not state.is_refused(history.url)
        and history.url not in later
    ]
    has_sharp = any(page.verdict == "sharp" for page in finished.outcome.pages)
    if not state.visited() or (state.started.order.sharp and not has_sharp):
        return "failed"
    stopped_answering = state.failures_in_a_row >= MAX_FAILURES  # then the other pages were not requested any more
    unreachable = [url for url in not_reached if stopped_answering or state.observed.get(url)]
    broken = [page for page in state.pages.values() if page.observations and page.observations[-1].status >= 500]
    if len(unreachable) + len(broken) > _MOST * len(state.pages):
        return "failed"
    return "partial" if not_reached or finished.certificate["unfinished"] is not None else "complete"


def exit_code(results: Iterable[CaptureResult]) -> int:
    """The exit code of the command for the captures of several sites: that of the worst one."""
    found = set(results)
    worst: CaptureResult = "failed" if "failed" in found else "partial" if "partial" in found else "complete"
    return EXIT_CODES[worst]
