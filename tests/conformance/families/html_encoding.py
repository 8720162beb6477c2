"""Charset sniffing of HTML (after html5lib's encoding tests)."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from tests.conformance.verdict import Verdict
from webstrata.observe.html.charset import decode, encoding_of, sniff

FAMILY = "html-encoding"


def run(folder: Path) -> Verdict:
    """Every body is read in the encoding that its source names, and can be decoded in it."""
    verdict = Verdict()
    for case in json.loads((folder / "cases.json").read_text("utf-8")):
        body = base64.b64decode(case["html_base64"]) if "html_base64" in case else case["html"].encode("utf-8")
        verdict.check(case["id"], encoding_of(case["expected_encoding"]), sniff(body, None))
        decode(body, None, html=True)
    return verdict
