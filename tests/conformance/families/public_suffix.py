"""Registrable domains, by the test table of the Public Suffix List."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conformance.verdict import Verdict
from webstrata.urls import registrable_domain

FAMILY = "public-suffix"


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    for case in json.loads((folder / "cases.json").read_text()):
        verdict.check(case["id"], case["registrable_domain"], registrable_domain(case["input"]))
    return verdict
