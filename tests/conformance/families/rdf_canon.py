"""RDFC-1.0: canonical N-Quads to the byte, the names given to blank nodes, and graphs made to last for ever."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.conformance.case import Case, UnplayableError, play_rows
from tests.conformance.verdict import Verdict
from webstrata.observe.data.rdf.graph import NotAGraphError, quads_of
from webstrata.observe.data.rdf.quads import split
from webstrata.observe.data.rdf.rdfc import MAX_WORK, TooHardError, WorkLimit, canonical_lines, canonical_names

FAMILY = "rdf-canon"


_HASHES = ("sha256", "sha384")


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    play_rows(folder / "cases.json", _play, verdict)
    return verdict


def _play(case: Case, verdict: Verdict) -> None:
    kind = case.text("type")
    if not kind.endswith(("EvalTest", "MapTest")):
        raise UnplayableError(f"the runner does not know the type {kind!r}")
    expected = _expected(case, kind)
    try:
        actual = _canonical(case)
    except TooHardError:
        actual = "stopped"
    except NotAGraphError as error:
        actual = f"refused: {error}"
    verdict.check(f"{case.id} {case.fields.get('name', '')}", expected, actual)


def _expected(case: Case, kind: str) -> Any:
    if kind.endswith("NegativeEvalTest"):
        return "stopped"
    return case.part("expected_map").fields if kind.endswith("MapTest") else case.text("expected_canonical_nquads")


def _canonical(case: Case) -> Any:
    body, algorithm = case.body("input_nquads"), case.text("hash").lower()
    if algorithm not in _HASHES:
        raise UnplayableError(f"the runner does not know the hash {algorithm!r}")
    lines = quads_of(body, None, "", syntax="nquads")
    budget = WorkLimit(MAX_WORK)
    if case.has("expected_map"):
        names = canonical_names(split(set(lines))[1], budget, algorithm=algorithm)
        return {node[2:].decode(): name[2:].decode() for node, name in names.items()}
    return "".join(line.decode("utf-8") + "\n" for line in canonical_lines(lines, budget, algorithm=algorithm))
