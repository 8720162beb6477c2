"""Sitemaps: the entries found, and broken or hostile files."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

from tests.conformance.verdict import Verdict
from webstrata.observe.data.sitemap import parse_sitemap

FAMILY = "sitemaps"

# Entries may have any address; the scope decides what is visited (docs/decisions/0019-feed-and-sitemap-parsers.md).
_CONTESTED = {"testLenientParser"}
_PLAIN = b"<urlset><url><loc>http://e.com/a</loc></url></urlset>"
_MADE = {
    "gzip body with .xml name and no Content-Encoding": (gzip.compress(_PLAIN), 1, False),
    "double gzip": (gzip.compress(gzip.compress(_PLAIN)), 0, True),
}


def run(folder: Path) -> Verdict:
    """As many entries as the source says; a fault is told where it expects an error."""
    verdict = Verdict()
    for case in json.loads((folder / "cases.json").read_text("utf-8")):
        name = f"{case['id']} {case['name']}"
        body, entries, fault = _expected(case)
        read = parse_sitemap(body, case["url"])
        actual = (len(read.entries) if entries is not None else None, read.problem is not None or not fault)
        verdict.check(name, (entries, True), actual, contested=case["name"] in _CONTESTED)
    return verdict


def _expected(case: dict[str, Any]) -> tuple[bytes, int | None, bool]:
    """(body, entries or None for any number, whether a fault must be told)."""
    if "make" in case:
        return _MADE[case["make"]]
    body = base64.b64decode(case["body_base64"]) if "body_base64" in case else case["body"].encode("utf-8")
    return body, case["expect_entries"], case["expect"] == "error"
