"""Pairs of contents: what a reader would call a change is one, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conformance.verdict import Verdict
from webstrata.detect.layers import deciding_layer
from webstrata.detect.memory import memory_of_first_version
from webstrata.detect.verdict import judge
from webstrata.observe.page import observation_fields, observe_typed
from webstrata.records import Observation

FAMILY = "change-pairs"
_URL = "https://example.org/page"


def run(folder: Path) -> Verdict:
    """No change is missed, and no pair cries wolf."""
    verdict = Verdict()
    for case in json.loads((folder / "cases.json").read_text("utf-8")):
        before, now = (_observation(case[side], case["media"]) for side in ("before", "after"))
        assert before.fingerprint is not None
        change = judge(
            before.fingerprint, False, now, memory=memory_of_first_version(before, deciding_layer(before.fingerprint))
        )
        verdict.check(f"{case['id']} {case['why']}", case["meaningful_change"], change.counts)
    return verdict


def _observation(content: str, media_type: str) -> Observation:
    seen = observe_typed(content.encode(), media_type, "utf-8", _URL)
    lines, links, excerpts = observation_fields(seen)
    return Observation(
        url=_URL,
        at=0.0,
        status=200,
        fingerprint=seen.fingerprint,
        lines=lines,
        link_hashes=links,
        excerpts=excerpts,
    )
