"""Allow or disallow, as the test-suites of well-known robots.txt parsers answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from tests.conformance.case import Case, UnplayableError, play_named, play_rows, read_json
from tests.conformance.verdict import Verdict, sentence_of
from webstrata.permit.robots import Robots
from webstrata.permit.robots_match import normalised, path_and_query, product_token

FAMILY = "robots-rules"
_VENDOR_LINE_BYTES = 16_663
_NEEDLESSLY_ENCODED = re.compile(rb"%(?:2d|2e|5f|7e|3[0-9]|[46][1-9a-f]|[57][0-9a])", re.IGNORECASE)
"""Percent-encodings of letters, digits and `-._~`."""


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    play_rows(folder / "cases.json", _play, verdict)
    if (folder / "path_and_escape.json").exists():
        _check_spellings(verdict, read_json(folder / "path_and_escape.json", verdict))
    return verdict


def _play(case: Case, verdict: Verdict) -> None:
    body, agent, url, expected = case.body("robots"), case.text("agent"), case.text("url"), case.boolean("allowed")
    allowed = Robots.parse(body).allows(agent, url)
    rule = sentence_of(_RULES, case, body)
    verdict.check(f"{case.id} {case.fields.get('group', '')}", expected, allowed, contested=rule)


def _check_spellings(verdict: Verdict, document: object) -> None:
    tables = document if isinstance(document, dict) else {}
    for table, rows in tables.items():
        for number, row in enumerate(rows if isinstance(rows, list) else [rows]):
            play_named(f"{table}, row {number}", _spelling(table, row), verdict)


def _spelling(table: str, row: object) -> Callable[[Verdict], None]:
    def play(verdict: Verdict) -> None:
        if table not in _SPELLINGS:
            raise UnplayableError(f"the runner does not know the table {table!r}")
        if not isinstance(row, list) or len(row) != 2 or not isinstance(row[0], str):
            raise UnplayableError("the row is not a pair of text and result")
        verdict.check(f"{table} {row[0]!r}", row[1], _SPELLINGS[table](row[0]))

    return play


_SPELLINGS: dict[str, Callable[[str], object]] = {
    "path_params_query": path_and_query,
    "pattern_escape": normalised,
    "valid_product_token": lambda text: product_token(text) == text.lower(),
}


def _is_of_one_vendor(case: Case, body: bytes) -> bool:
    """The source marks the case as the behaviour of one vendor, which RFC 9309 does not ask for
    (docs/decisions/0001-robots-parser.md)."""
    return case.has("vendor_specific") and case.boolean("vendor_specific")


def _has_long_line(case: Case, body: bytes) -> bool:
    """A line is read to its end; the source cuts lines after 16,663 bytes
    (docs/decisions/0001-robots-parser.md)."""
    return any(len(line) > _VENDOR_LINE_BYTES for line in body.splitlines())


def _asks_for_robots_txt(case: Case, body: bytes) -> bool:
    """RFC 9309, 2.2.2: the path /robots.txt is always allowed; the source applies the rules to it."""
    return urlsplit(case.text("url")).path == "/robots.txt"


def _is_encoded_otherwise(case: Case, body: bytes) -> bool:
    """RFC 9309, 2.2.2: octets outside ASCII are percent-encoded and encoded letters and digits are decoded, in rule and
    URL before they are compared; the source compares them as they are written."""
    return not case.text("url").isascii() or _NEEDLESSLY_ENCODED.search(body) is not None


_RULES = (_is_of_one_vendor, _has_long_line, _asks_for_robots_txt, _is_encoded_otherwise)
