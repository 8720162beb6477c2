"""JSON-LD 1.1 to RDF, with contexts that are not fetched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conformance.verdict import Verdict
from webstrata.observe.data.rdf.graph import NotAGraphError, quads_of
from webstrata.observe.data.rdf.graph_digest import graph_digest

FAMILY = "jsonld-tordf"

# The reason for each is in docs/decisions/0017-rdf-parsing.md.
_CONTESTED = {
    **dict.fromkeys(("tc031", "te126", "te127"), "names contexts elsewhere"),
    **dict.fromkeys(("te062", "te091"), "dot segments of an authority's root are kept"),
    "tli12": "a base that is no IRI is refused",
}


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    for case in json.loads((folder / "cases.json").read_text("utf-8")):
        contested = case["id"] in _CONTESTED or _is_old(case) or _names_elsewhere(case) or _has_direction(case)
        verdict.check(f"{case['id']} {case['name']}", _expected(case), _actual(case), contested=contested)
    return verdict


def _is_old(case: dict[str, Any]) -> bool:
    """Cases of JSON-LD 1.0, where 1.1 says otherwise; the version that is read is 1.1."""
    option = case.get("option", {})
    return "json-ld-1.0" in (option.get("specVersion"), option.get("processingMode"))


def _names_elsewhere(case: dict[str, Any]) -> bool:
    """Contexts are handed in or not known; the data have none."""
    return "remote" in case["name"].lower() or '"@import"' in case["input"]


def _has_direction(case: dict[str, Any]) -> bool:
    """Directions of text are kept, as RDF 1.2 keeps them; the cases drop them or use other, non-normative ways."""
    return '"@direction"' in case["input"]


def _actual(case: dict[str, Any]) -> str:
    base = case.get("option", {}).get("base") or case["base"]
    try:
        quads = quads_of(case["input"].encode("utf-8"), None, base, syntax="jsonld")
        return graph_digest(quads) if "expected_nquads" in case else "read"
    except NotAGraphError:
        return "refused"


def _expected(case: dict[str, Any]) -> str:
    if "NegativeEvaluationTest" in case["type"]:
        return "refused"
    if "expected_nquads" not in case:
        return "read"
    try:
        return graph_digest(quads_of(case["expected_nquads"].encode("utf-8"), None, "", syntax="nquads"))
    except NotAGraphError:
        return "generalized RDF"
