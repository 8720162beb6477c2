"""Allow or disallow, as the test-suites of well-known robots.txt parsers answer."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from tests.conformance.verdict import Verdict
from webstrata.permit.robots import Robots
from webstrata.permit.robots_match import normalised, path_and_query, product_token

FAMILY = "robots-rules"


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    for case in json.loads((folder / "cases.json").read_text()):
        body = base64.b64decode(case["robots_base64"]) if "robots_base64" in case else case["robots"].encode()
        allowed = Robots.parse(body).allows(case["agent"], case["url"])
        contested = bool(case.get("vendor_specific") or case.get("note"))
        verdict.check(f"{case['id']} {case['group']}", case["allowed"], allowed, contested=contested)
    spellings = folder / "path_and_escape.json"
    if spellings.exists():
        _check_spellings(verdict, json.loads(spellings.read_text()))
    return verdict


def _check_spellings(verdict: Verdict, tables: dict[str, list[tuple[str, object]]]) -> None:
    for table, function in (
        ("path_params_query", path_and_query),
        ("pattern_escape", normalised),
        ("valid_product_token", lambda text: product_token(text) == text.lower()),
    ):
        for text, expected in tables[table]:
            verdict.check(f"{table} {text!r}", expected, function(text))
