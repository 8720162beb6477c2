"""W3C's cases for RDF syntaxes: parse, refuse, or parse to given quads."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from tests.conformance.verdict import Verdict
from webstrata.observe.data.rdf.graph import NotAGraphError, quads_of
from webstrata.observe.data.rdf.graph_digest import graph_digest


def run_cases(folder: Path, syntax: str, contested: Collection[str] = ()) -> Verdict:
    """`*Eval`: the graph expected, up to names of blank nodes; `*PositiveSyntax`: read; `*Negative*`: refused."""
    verdict = Verdict()
    for case in json.loads((folder / "cases.json").read_text("utf-8")):
        try:
            quads = quads_of(case["input"].encode("utf-8"), None, case["base"], syntax=syntax)
            actual = graph_digest(quads) if "expected_nquads" in case else "read"
        except NotAGraphError:
            actual = "refused"
        verdict.check(case["id"], _expected(case), actual, contested=case["id"] in contested)
    return verdict


def _expected(case: dict[str, str]) -> str:
    if "Negative" in case["type"]:
        return "refused"
    if "expected_nquads" not in case:
        return "read"
    return graph_digest(quads_of(case["expected_nquads"].encode("utf-8"), None, case["base"], syntax="nquads"))
