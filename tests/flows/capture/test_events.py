"""The journal format of a capture."""

from __future__ import annotations

import json
from typing import Any

import pytest

from webstrata.flows.capture.events import (
    CaptureOrder,
    CaptureStarted,
    Event,
    FoundPage,
    PageDownloaded,
    PassPlanned,
    PrecomputedSchedule,
    RequisiteDownloaded,
    from_line,
    to_line,
)

URL = "http://a.test/"
SCHEDULE = PrecomputedSchedule(algorithm="optimal", visits=(URL,), revisits=(URL,), rates_per_s={URL: 1e-6})
STARTED = CaptureStarted(
    capture="c1",
    order=CaptureOrder(url=URL, schedule=SCHEDULE),
    at=1.0,
    slot_s=2.0,
    reversion=0.02,
    pages=(FoundPage(URL, 1e-6, "given", duration_s=0.5),),
)
EVENTS: list[tuple[Event, str, dict[str, Any]]] = [
    (STARTED, "began", {"capture": "c1", "slot_s": 2.0}),
    (PageDownloaded(url=URL, pass_number=1, permanent=True), "got", {"turn": 1, "lasting": True}),
    (PassPlanned(pass_number=2, instant=3.0, order=(URL,), chances={URL: 1.0}), "planned", {"turn": 2}),
    (RequisiteDownloaded(url=URL, why="status 404"), "fetched", {"why": "status 404"}),
]


@pytest.mark.parametrize(("event", "kind", "fields"), EVENTS, ids=[kind for _, kind, _ in EVENTS])
def test_keys_of_events(event: Event, kind: str, fields: dict[str, Any]) -> None:
    """The types and keys of events in the journal are fixed, and a line is parsed to the same event."""
    line = to_line(event)
    document = json.loads(line)
    assert document["type"] == kind
    assert fields.items() <= document.items()
    assert from_line(line) == event


def test_keys_of_the_first_event() -> None:
    """The precomputed schedule and the duration of a page have fixed keys."""
    document = json.loads(to_line(STARTED))
    assert document["order"]["ready"]["algorithm"] == "optimal"
    assert document["pages"][0]["lasts_s"] == 0.5
