"""HTTP-date and Retry-After values of RFC 9110."""

from __future__ import annotations

import re
from pathlib import Path

from tests.conformance.case import Case, UnplayableError, play_rows
from tests.conformance.verdict import Verdict
from webstrata.clock import iso
from webstrata.permit.backoff import MAX_RETRY_AFTER_S, parse_http_date, parse_retry_after

FAMILY = "http-dates"
_SECONDS = re.compile(r"(\d+) seconds?")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    play_rows(folder / "cases.json", _play, verdict)
    return verdict


def _play(case: Case, verdict: Verdict) -> None:
    text, expect = case.text("text"), case.text("expect")
    seconds = _SECONDS.fullmatch(expect)
    if seconds:
        verdict.check(case.id, float(seconds[1]), parse_retry_after(text, 0.0))
    elif expect == "clamped":
        verdict.check(case.id, MAX_RETRY_AFTER_S, parse_retry_after(text, 0.0))
    elif expect == "ignored":
        verdict.check(case.id, None, parse_retry_after(text, 0.0))
    elif expect == "reject":
        verdict.check(case.id, None, parse_http_date(text))
    elif expect == "accept or reject":
        parse_http_date(text)
        verdict.passed += 1
    elif _INSTANT.fullmatch(expect):
        at = parse_http_date(text)
        verdict.check(case.id, expect, None if at is None else iso(at))
    else:
        raise UnplayableError(f"the runner does not know {expect!r} as 'expect'")
