"""JSON-LD 1.1 to RDF. The data hold no remote contexts: a case that needs one is not played."""

from __future__ import annotations

import re
from pathlib import Path

from tests.conformance.case import Case, UnplayableError, play_rows
from tests.conformance.rdf_cases import expected_digest
from tests.conformance.verdict import Verdict, sentence_of
from webstrata.observe.data.rdf.graph_digest import graph_digest
from webstrata.observe.data.rdf.jsonld import expanded_jsonld, jsonld_quads

FAMILY = "jsonld-tordf"
_KINDS = ("PositiveEvaluationTest", "NegativeEvaluationTest", "PositiveSyntaxTest", "NegativeSyntaxTest")


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    play_rows(folder / "cases.json", _play, verdict)
    return verdict


def _play(case: Case, verdict: Verdict) -> None:
    body, base = case.body("input"), _base(case)
    rule = sentence_of(_RULES, case)
    expected = _expected(case, rule)
    needed = expanded_jsonld(body, base, {}).missing
    if needed is not None:
        raise UnplayableError(f"needs the context {needed}, which the data do not hold")
    name = f"{case.id} {case.fields.get('name', '')}"
    verdict.check(name, expected, _actual(case, body, base), contested=rule)


def _base(case: Case) -> str:
    option = case.part("option")
    return option.text("base") if option.has("base") else case.text("base")


def _actual(case: Case, body: bytes, base: str) -> str:
    try:
        quads = jsonld_quads(body, base, {})
    except ValueError:
        return "refused"
    return graph_digest(quads) if case.has("expected_nquads") else "read"


def _expected(case: Case, rule: str | None) -> str:
    kinds = [kind.rpartition(":")[2] for kind in case.texts("type")]
    if not set(kinds) & set(_KINDS):
        raise UnplayableError(f"the runner does not know the types {kinds}")
    if any("Negative" in kind for kind in kinds):
        return "refused"
    if not case.has("expected_nquads"):
        return "read"
    return "generalized RDF" if rule and _is_generalized(case) else expected_digest(case)


def _is_generalized(case: Case) -> bool:
    """Generalized RDF (a blank node as a predicate) is not produced, because RDF 1.1 graphs and N-Quads have none
    (docs/decisions/0017-rdf-parsing.md)."""
    option = case.part("option")
    return option.has("produceGeneralizedRdf") and option.boolean("produceGeneralizedRdf")


def _is_old(case: Case) -> bool:
    """A case for processors of JSON-LD 1.0 only, where 1.1 says otherwise; documents are read as 1.1
    (docs/decisions/0017-rdf-parsing.md)."""
    option = case.part("option")
    return any(option.fields.get(name) == "json-ld-1.0" for name in ("specVersion", "processingMode"))


def _has_direction(case: Case) -> bool:
    """The direction of a text is kept in its literal, as in RDF 1.2; the source drops it, or writes it in one of two
    other ways that are not normative (docs/decisions/0017-rdf-parsing.md)."""
    return _DIRECTION.search(case.text("input")) is not None


_DIRECTION = re.compile(r'"@direction"\s*:')
_RULES = (_is_generalized, _is_old, _has_direction)
