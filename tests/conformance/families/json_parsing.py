"""JSON: what is accepted, what is refused, and nothing that hangs or crashes (nst/JSONTestSuite)."""

from __future__ import annotations

import time
from pathlib import Path

from tests.conformance.case import Case, play_rows
from tests.conformance.verdict import Verdict
from webstrata.observe.data.json import json_digest

FAMILY = "json-parsing"
_LIMIT_S = 1.0

_MADE = {
    "'[' * 100000": b"[" * 100_000,
    "'[{\"\":' * 50000": b'[{"":' * 50_000,
}
"""Bodies that the rows describe and do not hold."""


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    play_rows(folder / "cases.json", _play, verdict)
    return verdict


def _play(case: Case, verdict: Verdict) -> None:
    body, wanted = _body(case), case.choice("verdict", ("accept", "reject", "either"))
    begun = time.process_time()
    data = json_digest(body, None, "https://example.org/data.json")
    in_time = time.process_time() - begun < _LIMIT_S
    accepted = "accept" if data.digest is not None else "reject"
    verdict.check(case.id, (accepted if wanted == "either" else wanted, True), (accepted, in_time))


def _body(case: Case) -> bytes:
    return _MADE[case.choice("make", _MADE)] if case.has("make") else case.body("text")
