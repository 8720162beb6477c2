"""HTTP-date and Retry-After values of RFC 9110."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conformance.verdict import Verdict
from webstrata.clock import iso
from webstrata.permit.backoff import MAX_RETRY_AFTER_S, parse_http_date, parse_retry_after

FAMILY = "http-dates"


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    for case in json.loads((folder / "cases.json").read_text()):
        text, expect = case["text"], case["expect"]
        if expect.endswith(" seconds"):
            verdict.check(case["id"], float(expect.split()[0]), parse_retry_after(text, 0.0))
        elif expect == "clamped":
            verdict.check(case["id"], MAX_RETRY_AFTER_S, parse_retry_after(text, 0.0))
        elif expect == "ignored":
            verdict.check(case["id"], None, parse_retry_after(text, 0.0))
        elif expect == "reject":
            verdict.check(case["id"], None, parse_http_date(text))
        elif expect == "accept or reject":
            parse_http_date(text)
            verdict.passed += 1
        else:
            at = parse_http_date(text)
            verdict.check(case["id"], expect, None if at is None else iso(at))
    return verdict
