"""SPARQL results: every document is read, and its rows in another order under other blank names are the same."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from msgspec.structs import replace

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
    for case in json.loads((folder / "cases.json").read_text("utf-8")):
        try:
            results = parse_results(case["text"].encode(), _TYPES[case["format"]])
        except NotResultsError as why:
            verdict.failed.append(f"{case['id']}: {why}")
            continue
        verdict.check(case["id"], _expected(case, results), _counted(results))
        verdict.check(f"{case['id']} shuffled", canonical_results(results), canonical_results(_shuffled(results)))
    return verdict


def _counted(results: Results) -> tuple[object, ...]:
    return (results.boolean, len(results.rows), list(results.vars))


def _expected(case: dict[str, Any], results: Results) -> tuple[object, ...]:
    """The source counted names only where they are in double quotes; tables in text have no counts at all."""
    if "rows" not in case:
        return _counted(results)
    return (case["boolean"], case["rows"] or 0, case["vars"] or list(results.vars))


def _shuffled(results: Results) -> Results:
    rows = [tuple([_renamed(value) for value in row]) for row in results.rows]
    random.Random(1).shuffle(rows)
    order = list(range(len(results.vars)))
    random.Random(2).shuffle(order)
    moved: list[Row] = [tuple([row[place] for place in order]) for row in rows]
    return replace(results, vars=tuple(results.vars[place] for place in order), rows=tuple(moved))


def _renamed(value: Term | None) -> Term | None:
    return value._replace(value=f"other{value.value[::-1]}") if value is not None and value.kind == "bnode" else value
