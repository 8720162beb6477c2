"""Accept headers: media types and ranges read, qualities, the best of what is on offer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conformance.verdict import Verdict
from webstrata.fetch.handlers.negotiate import best_match, media_range, media_type, quality

FAMILY = "conneg-mimeparse"


def run(folder: Path) -> Verdict:
    """The same parts, qualities and choices as the source's."""
    verdict = Verdict()
    for case in json.loads((folder / "cases.json").read_text("utf-8")):
        verdict.check(f"{case['id']} {case['input']}", case["expected"], _answer(case["op"], case["input"]))
    return verdict


def _answer(operation: str, given: Any) -> object:
    if operation == "parse_media_range":
        return list(media_range(given))
    if operation == "parse_mime_type":
        return list(media_type(given))
    return quality(*given) if operation == "quality" else best_match(*given)
