"""W3C's cases for RDF syntaxes: parse, refuse, or parse to given quads."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from tests.conformance.case import Case, UnplayableError, play_rows
from tests.conformance.verdict import Verdict, sentence_of
from webstrata.observe.data.rdf.graph import NotAGraphError, quads_of
from webstrata.observe.data.rdf.graph_digest import graph_digest

_KINDS = ("NegativeSyntax", "NegativeEval", "PositiveSyntax", "Eval")


def run_cases(folder: Path, syntax: str, rules: Collection[Callable[[Case], bool]] = ()) -> Verdict:
    """`*Eval`: the graph expected, up to names of blank nodes; `*PositiveSyntax`: read; `*Negative*`: refused."""

    def play(case: Case, verdict: Verdict) -> None:
        expected = _expected(case)
        verdict.check(case.id, expected, _actual(case, syntax), contested=sentence_of(rules, case))

    verdict = Verdict()
    play_rows(folder / "cases.json", play, verdict)
    return verdict


def _actual(case: Case, syntax: str) -> str:
    body, base = case.body("input"), case.text("base")
    try:
        quads = quads_of(body, None, base, syntax=syntax)
    except NotAGraphError:
        return "refused"
    return graph_digest(quads) if case.has("expected_nquads") else "read"


def _expected(case: Case) -> str:
    kind = case.text("type")
    if not kind.endswith(_KINDS):
        raise UnplayableError(f"the runner does not know the type {kind!r}")
    if "Negative" in kind:
        return "refused"
    return expected_digest(case) if case.has("expected_nquads") else "read"


def expected_digest(case: Case) -> str:
    """The digest of the expected quads."""
    try:
        return graph_digest(quads_of(case.body("expected_nquads"), None, "", syntax="nquads"))
    except NotAGraphError as error:
        raise UnplayableError(f"the expected quads cannot be read: {error}") from None
