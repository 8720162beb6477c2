"""RDFC-1.0: canonical N-Quads to the byte, the names given to blank nodes, and graphs made to last for ever."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conformance.verdict import Verdict
from webstrata.observe.data.rdf.graph import quads_of
from webstrata.observe.data.rdf.quads import split
from webstrata.observe.data.rdf.rdfc import MAX_WORK, TooHardError, WorkLimit, canonical_lines, canonical_names

FAMILY = "rdf-canon"


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    for case in json.loads((folder / "cases.json").read_text("utf-8")):
        try:
            actual = _canonical(case)
        except TooHardError:
            actual = "stopped"
        expected = case.get("expected_canonical_nquads", case.get("expected_map", "stopped"))
        verdict.check(f"{case['id']} {case['name']}", expected, actual)
    return verdict


def _canonical(case: dict[str, Any]) -> Any:
    lines = quads_of(case["input_nquads"].encode("utf-8"), None, "", syntax="nquads")
    budget, algorithm = WorkLimit(MAX_WORK), case["hash"].lower()
    if "expected_map" in case:
        names = canonical_names(split(set(lines))[1], budget, algorithm=algorithm)
        return {node[2:].decode(): name[2:].decode() for node, name in names.items()}
    return "".join(line.decode("utf-8") + "\n" for line in canonical_lines(lines, budget, algorithm=algorithm))
