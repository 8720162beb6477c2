"""Pairs of contents: what a reader would call a change is one, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conformance.verdict import Verdict

from webstrata.detect.verdict import judge
from webstrata.observe.fingerprint import fingerprint
from webstrata.records import Observation

FAMILY = "change-pairs"
_URL = "https://example.org/page"


def run(folder: Path) -> Verdict:
    """No change is missed, and no pair cries wolf."""
    verdict = Verdict()
    for case in json.loads((folder / "cases.json").read_text("utf-8")):
        before, now = (fingerprint(case[side].encode(), case["media"], "utf-8", _URL) for side in ("before", "after"))
        change = judge(before, False, Observation(url=_URL, at=0.0, status=200, fingerprint=now))
        verdict.check(f"{case['id']} {case['why']}", case["meaningful_change"], change.counts)
    return verdict
