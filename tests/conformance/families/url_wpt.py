"""URL parsing and link resolution, by the web-platform-tests.

We refuse by choice what the standard can parse but nobody can visit: other schemes, credentials and hosts of dots
(docs/decisions/0003-page-key.md).
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.conformance.verdict import Verdict
from webstrata.errors import BadUrl
from webstrata.urls import canonical, join

FAMILY = "url-wpt"
_REFUSED = "refused"


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    for case in json.loads((folder / "cases.json").read_text()):
        if case.get("failure"):
            verdict.check(case["id"], _REFUSED, _canonical(case["input"], case["base"]))
            continue
        expected = case["href"].partition("#")[0]
        actual = _canonical(case["input"], case["base"])
        by_choice = (
            case["protocol"] not in ("http:", "https:")
            or bool(case["username"] or case["password"])
            or not case["hostname"].strip(".")
        )
        if by_choice and actual != _REFUSED:
            verdict.failed.append(f"{case['id']}: {actual!r} should have been refused")
        else:
            verdict.check(case["id"], expected, actual, contested=by_choice)
    return verdict


def _canonical(url: str, base: str | None) -> str:
    try:
        found = canonical(url, base)
    except BadUrl:
        found = _REFUSED
    if base is not None and (join(base, url) or _REFUSED) != found:
        return f"join says {join(base, url)!r}, canonical {found!r}"
    return found
