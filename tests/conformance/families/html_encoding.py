"""Charset sniffing of HTML (after html5lib's encoding tests)."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.case import Case, UnplayableError, play_rows
from tests.conformance.verdict import Verdict
from webstrata.observe.html.charset import decode, encoding_of, sniff

FAMILY = "html-encoding"


def run(folder: Path) -> Verdict:
    """Every body is read in the encoding that its source names, and can be decoded in it."""
    verdict = Verdict()
    play_rows(folder / "cases.json", _play, verdict)
    return verdict


def _play(case: Case, verdict: Verdict) -> None:
    body, label = case.body("html"), case.text("expected_encoding")
    expected = encoding_of(label)
    if expected is None:
        raise UnplayableError(f"the WHATWG encoding standard has no label {label!r}")
    verdict.check(case.id, expected, sniff(body, None))
    decode(body, None, html=True)
