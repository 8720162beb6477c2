"""Strings that break programs, given as URLs, links, robots.txt lines and header values: each gets an answer."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.case import Case, play_rows
from tests.conformance.verdict import Verdict
from webstrata.errors import BadUrl
from webstrata.permit.backoff import parse_retry_after
from webstrata.permit.robots import Robots
from webstrata.urls import canonical, is_public, join, looks_like_trap, registrable_domain, surt

FAMILY = "naughty-strings"


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    play_rows(folder / "cases.json", _play, verdict)
    return verdict


def _play(case: Case, verdict: Verdict) -> None:
    verdict.check(case.id, "an answer", _answer(case.text("text")))


def _answer(text: str) -> str:
    once = "http://example.org/"
    for url in (text, once + "?" + text):
        try:
            once = canonical(url)
            break
        except BadUrl as refused:
            if not str(refused):
                return "a refusal without reason"
    link = join("http://example.org/a/", text)
    if canonical(once) != once or (link is not None and canonical(link) != link):
        return "another key the second time"
    surt(text)
    looks_like_trap(once)
    is_public(text)
    registrable_domain(text)
    parse_retry_after(text, 0.0)
    rules = f"User-agent: *\nDisallow: /{text}\n".encode("utf-8", "replace")
    Robots.parse(rules).allows("webstrata", text)
    return "an answer"
