from __future__ import annotations

import pytest

from webstrata.detect.verdict import judge
from webstrata.records import Fingerprint, Observation, Outcome


def mark(raw: str, text: str | None = None, links: str | None = None) -> Fingerprint:
    return Fingerprint(raw=raw, size=1, text=text, links=links)


A = mark("a", "words", "links")
A_MARKUP = mark("b", "words", "links")
A_LINKS = mark("c", "words", "other links")
B = mark("d", "other words", "links")
DATA, DATA_2 = mark("e"), mark("f")

CASES = [
    # before, was gone, now, outcome, (raw, text, links), counts, layer
    (None, False, A, Outcome.NEW, (False, False, False), False, "text"),
    (None, False, DATA, Outcome.NEW, (False, False, False), False, "raw"),
    (None, False, None, Outcome.GONE, (False, False, False), False, "status"),
    (A, False, A, Outcome.SAME, (False, False, False), False, "text"),
    (A, False, A_MARKUP, Outcome.SAME, (True, False, False), False, "text"),
    (A, False, A_LINKS, Outcome.SAME, (True, False, True), False, "text"),
    (A, False, B, Outcome.CHANGED, (True, True, False), True, "text"),
    (DATA, False, DATA, Outcome.SAME, (False, False, False), False, "raw"),
    (DATA, False, DATA_2, Outcome.CHANGED, (True, False, False), True, "raw"),
    (A, False, DATA, Outcome.CHANGED, (True, False, False), True, "raw"),
    (DATA, False, A, Outcome.CHANGED, (True, False, False), True, "raw"),
    (A, False, None, Outcome.GONE, (False, False, False), True, "status"),
    (A, True, None, Outcome.SAME, (False, False, False), False, "status"),
    (None, True, None, Outcome.SAME, (False, False, False), False, "status"),
    (A, True, A, Outcome.BACK, (False, False, False), True, "status"),
    (A, True, B, Outcome.BACK, (True, True, False), True, "status"),
    (None, True, A, Outcome.BACK, (False, False, False), True, "status"),
]


@pytest.mark.parametrize(("before", "was_gone", "now", "outcome", "layers", "counts", "layer"), CASES)
def test_verdicts(
    before: Fingerprint | None,
    was_gone: bool,
    now: Fingerprint | None,
    outcome: Outcome,
    layers: tuple[bool, bool, bool],
    counts: bool,
    layer: str,
) -> None:
    """The table of verdicts, row by row."""
    seen = Observation(url="https://a.test/", at=0.0, status=200 if now else 404, fingerprint=now)
    change = judge(before, was_gone, seen)
    assert change.outcome is outcome
    assert (change.raw, change.text, change.links) == layers
    assert change.counts is counts
    assert change.layer == layer


def test_the_body_of_a_404_is_no_content() -> None:
    """A page that answers 404 with a friendly body is gone all the same."""
    seen = Observation(url="https://a.test/", at=0.0, status=404, fingerprint=B)
    assert judge(A, False, seen).outcome is Outcome.GONE
    assert judge(A, True, seen).outcome is Outcome.SAME
