"""SPARQL results: every document is read, and its rows in another order under other blank names are the same."""

from __future__ import annotations

import random
from pathlib import Path

from msgspec.structs import replace

from tests.conformance.case import Case, play_rows
from tests.conformance.verdict import Verdict
from webstrata.observe.data.sparql.canonical import canonical_results
from webstrata.observe.data.sparql.results import (
    CSV,
    JSON,
    TSV,
    XML,
    NotResultsError,
    Results,
    Row,
    Term,
    parse_results,
)

FAMILY = "sparql-results"

_TYPES = {"srj": JSON, "srx": XML, "csv": CSV, "tsv": TSV}


def run(folder: Path) -> Verdict:
    """Two cases of each document: what is in it, and that shuffling it changes nothing."""
    verdict = Verdict()
    play_rows(folder / "cases.json", _play, verdict)
    return verdict


def _play(case: Case, verdict: Verdict) -> None:
    body, media_type = case.body("text"), _TYPES[case.choice("format", _TYPES)]
    try:
        results = parse_results(body, media_type)
    except NotResultsError as why:
        verdict.failed.append(f"{case.id}: {why}")
        return
    verdict.check(case.id, _expected(case, results), _counted(results))
    verdict.check(f"{case.id} shuffled", canonical_results(results), canonical_results(_shuffled(results)))


def _counted(results: Results) -> tuple[object, ...]:
    return (results.boolean, len(results.rows), list(results.vars))


def _expected(case: Case, results: Results) -> tuple[object, ...]:
    """The source counted names only where they are in double quotes; tables in text have no counts at all."""
    if not case.has("rows"):
        return _counted(results)
    names = case.texts("vars") if case.fields.get("vars") is not None else []
    boolean = case.boolean("boolean") if case.fields.get("boolean") is not None else None
    return (boolean, case.number_or_none("rows") or 0, names or list(results.vars))


def _shuffled(results: Results) -> Results:
    rows = [tuple([_renamed(value) for value in row]) for row in results.rows]
    random.Random(1).shuffle(rows)
    order = list(range(len(results.vars)))
    random.Random(2).shuffle(order)
    moved: list[Row] = [tuple([row[place] for place in order]) for row in rows]
    return replace(results, vars=tuple(results.vars[place] for place in order), rows=tuple(moved))


def _renamed(value: Term | None) -> Term | None:
    return value._replace(value=f"other{value.value[::-1]}") if value is not None and value.kind == "bnode" else value
