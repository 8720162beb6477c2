"""Pairs of contents: what a reader would call a change is one, and nothing else is."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.case import Case, encoded, play_rows
from tests.conformance.verdict import Verdict
from webstrata.detect.verdict import judge_alone
from webstrata.observe.page import observation_of, observe_typed
from webstrata.records import Observation

FAMILY = "change-pairs"
_URL = "https://example.org/page"


def run(folder: Path) -> Verdict:
    """No change is missed, and no pair cries wolf."""
    verdict = Verdict()
    play_rows(folder / "cases.json", _play, verdict)
    return verdict


def _play(case: Case, verdict: Verdict) -> None:
    media_type, expected = case.text("media"), case.boolean("meaningful_change")
    before, now = (_observation(case.text(side), media_type) for side in ("before", "after"))
    change = judge_alone(before, now)
    verdict.check(f"{case.id} {case.fields.get('why', '')}", expected, change.counts)


def _observation(content: str, media_type: str) -> Observation:
    seen = observe_typed(encoded(content), media_type, "utf-8", _URL)
    return observation_of(seen, _URL, 0.0)
