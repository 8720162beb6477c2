"""Turtle: what is read and what is refused (W3C's RDF 1.1 tests)."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.rdf_cases import run_cases
from tests.conformance.verdict import Verdict

FAMILY = "rdf-turtle"


def run(folder: Path) -> Verdict:
    return run_cases(folder, "turtle")
