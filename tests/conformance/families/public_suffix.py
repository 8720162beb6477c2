"""Registrable domains, by the test table of the Public Suffix List."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.case import Case, play_rows
from tests.conformance.verdict import Verdict
from webstrata.urls import registrable_domain

FAMILY = "public-suffix"


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    play_rows(folder / "cases.json", _play, verdict)
    return verdict


def _play(case: Case, verdict: Verdict) -> None:
    expected = case.text_or_none("registrable_domain")
    verdict.check(case.id, expected, registrable_domain(case.text("input")))
