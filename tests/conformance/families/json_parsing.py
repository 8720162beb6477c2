"""JSON: what is accepted, what is refused, and nothing that hangs or crashes (nst/JSONTestSuite)."""

from __future__ import annotations

import base64
import json
import time
from pathlib import Path
from typing import Any

from tests.conformance.verdict import Verdict
from webstrata.observe.data.json import json_digest

FAMILY = "json-parsing"
_LIMIT_S = 1.0

_MADE = {
    "n_structure_100000_opening_arrays.json": b"[" * 100_000,
    "n_structure_open_array_object.json": b'[{"":' * 50_000,
}


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    for case in json.loads((folder / "cases.json").read_text("utf-8")):
        begun = time.process_time()
        data = json_digest(_body(case), None, "https://example.org/data.json")
        in_time = time.process_time() - begun < _LIMIT_S
        accepted = "accept" if data.digest is not None else "reject"
        expected = accepted if case["verdict"] == "either" else case["verdict"]
        verdict.check(case["id"], (expected, True), (accepted, in_time))
    return verdict


def _body(case: dict[str, Any]) -> bytes:
    if "make" in case:
        return _MADE[case["id"]]
    return base64.b64decode(case["text_base64"]) if "text_base64" in case else case["text"].encode("utf-8")
