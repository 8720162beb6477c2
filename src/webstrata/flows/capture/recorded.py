"""Captures as their journals record them, for `--resume`: the order, the options of the command, whether it ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from webstrata.errors import UsageError
from webstrata.flows.capture.events import JOURNAL_VERSION, CaptureEnded, CaptureStarted, Event, from_line


def recorded_events(capture: str, lines: Iterable[bytes]) -> list[Event]:
    """The events of a journal. Raises UsageError if it cannot be resumed."""
    try:
        events = [from_line(line) for line in lines]
    except msgspec.DecodeError as problem:
        raise UsageError(f"the journal of {capture} cannot be parsed ({problem}). Start a new capture.") from None
    if events and isinstance(events[0], CaptureStarted) and events[0].version != JOURNAL_VERSION:
        raise UsageError(f"{capture} was begun by another version of Webstrata. Start a new capture.")
    return events


def recorded_start(capture: str, lines: Sequence[bytes]) -> CaptureStarted:
    """The first event. Raises UsageError if the capture was killed before it wrote any."""
    first = recorded_events(capture, lines[:1])
    if not first or not isinstance(first[0], CaptureStarted):
        raise UsageError("the journal does not start with a start event: it cannot be resumed. Start a new one.")
    return first[0]


def is_unfinished(lines: Sequence[bytes]) -> bool:
    """Whether a capture has begun and did not reach its end: it was killed, or stopped before."""
    try:
        first, last = (from_line(line) for line in (lines[0], lines[-1]))
    except (IndexError, msgspec.DecodeError):
        return False
    if not isinstance(first, CaptureStarted) or first.version != JOURNAL_VERSION:
        return False
    return not isinstance(last, CaptureEnded) or bool(last.stopped)
