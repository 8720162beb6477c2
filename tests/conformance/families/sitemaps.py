"""Sitemaps: the entries found, and broken or hostile files."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import NamedTuple

from tests.conformance.case import Case, play_rows
from tests.conformance.verdict import Verdict, sentence_of
from webstrata.observe.data.sitemap import Sitemap, parse_sitemap

FAMILY = "sitemaps"

_PLAIN = b"<urlset><url><loc>http://e.com/a</loc></url></urlset>"


class Expected(NamedTuple):
    body: bytes
    entries: int | None
    """None: any number."""
    fault: bool
    """Whether a problem must be reported."""


_MADE = {
    "gzip body with .xml name and no Content-Encoding": Expected(gzip.compress(_PLAIN), 1, False),
    "double gzip": Expected(gzip.compress(gzip.compress(_PLAIN)), 0, True),
}
"""Bodies that the rows describe and do not hold."""


def run(folder: Path) -> Verdict:
    """As many entries as the source says; a fault is told where it expects an error."""
    verdict = Verdict()
    play_rows(folder / "cases.json", _play, verdict)
    return verdict


def _play(case: Case, verdict: Verdict) -> None:
    url, expected = case.text("url"), _expected(case)
    read = parse_sitemap(expected.body, url)
    count = len(read.entries) if expected.entries is not None else None
    rule = sentence_of((_drops_other_folders,), expected, read, url)
    is_reported = read.problem is not None or read.note is not None
    actual = (count, is_reported or not expected.fault)
    verdict.check(f"{case.id} {case.fields.get('name', '')}", (expected.entries, True), actual, contested=rule)


def _expected(case: Case) -> Expected:
    if case.has("make"):
        return _MADE[case.choice("make", _MADE)]
    return Expected(case.body("body"), case.number_or_none("expect_entries"), case.text("expect") == "error")


def _drops_other_folders(expected: Expected, read: Sitemap, url: str) -> bool:
    """Entries outside the sitemap's own folder are kept, because the scope of the watched site decides what is
    visited; the source counts only the entries inside (docs/decisions/0019-feed-and-sitemap-parsers.md)."""
    folder = url[: url.rfind("/") + 1]
    inside = [entry for entry in read.entries if entry.url.startswith(folder)]
    return len(inside) < len(read.entries) and len(inside) == expected.entries
