"""Precision and recall of sources of signals, and how fast they change."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.clock import DAY_S
from webstrata.predict.source_trust import (
    KEEP,
    MAX_TRUST,
    SourceChecks,
    is_trusted,
    precision,
    reach,
    recall,
    source_counts,
)


def checks(*rows: tuple[int, bool, bool, float], late: bool = False) -> SourceChecks:
    """(source, announced, changed, delay)"""
    sources, announced, changed, delays = zip(*rows, strict=True) if rows else ((), (), (), ())
    return SourceChecks(
        source=np.array(sources, dtype=np.int64),
        announced=np.array(announced, dtype=bool),
        changed=np.array(changed, dtype=bool),
        delay_s=np.array(delays, dtype=np.float64),
        late=np.full(len(rows), late),
    )


def lived(*proofs: bool, right: float = 0.0, wrong: float = 0.0) -> tuple[float, float]:
    """The counts after right and wrong signals, one after the other."""
    for proof in proofs:
        (found,) = source_counts(checks((1, True, proof, 0.0)))
        right, wrong = right * found.keep + found.right, wrong * found.keep + found.wrong
    return right, wrong


@pytest.mark.parametrize(
    ("proofs", "trusted"),
    [
        ((), False),
        ((True,), True),
        ((False,), False),
        ((True, False), False),
        ((False, True, True, True), True),
        ((False,) * 30, False),
        ((True,) * 200, True),
        ((True,) * 200 + (False,) * 25, False),
        ((False,) * 200 + (True,) * 25, True),
    ],
    ids=["unknown", "one", "one wrong", "even", "mending", "never", "always", "turned bad", "turned good"],
)
def test_trust_is_earned_and_lost(proofs: tuple[bool, ...], trusted: bool) -> None:
    """No source is trusted without checks; twenty-five visits are enough to lose or gain trust."""
    assert is_trusted(*lived(*proofs)) is trusted


def test_precision_and_recall_are_bounded() -> None:
    """Columns give columns between 0 and the maximum; the recall starts at 0."""
    right, wrong = np.array([0.0, 1e9, 0.0]), np.array([0.0, 0.0, 1e9])
    assert precision(right, wrong) == pytest.approx([1 / 3, MAX_TRUST, 0.0], abs=1e-8)
    assert recall(right, wrong) == pytest.approx([0.0, MAX_TRUST, 0.0])


def test_the_tally_of_a_batch() -> None:
    """The counts are summed by source; checks without announcement and without change do not count."""
    found = {
        one.source: one
        for one in source_counts(
            checks(
                (1, True, True, 60.0),
                (1, False, True, 5.0),
                (1, False, False, 5.0),
                (2, True, False, 60.0),
                (3, False, False, 0.0),
            )
        )
    }
    assert set(found) == {1, 2}
    one, weight = found[1], (1 - KEEP**2) / (2 * (1 - KEEP))
    assert one.keep == KEEP**2
    assert (one.right, one.wrong, one.announced, one.silent) == pytest.approx((weight, 0, weight, weight))
    assert (one.delay_s, one.delays) == pytest.approx((60 * weight, weight))
    assert (found[2].right, found[2].wrong, found[2].silent) == (0, 1, 0)
    assert source_counts(checks()) == []


def test_a_late_word_announces_nothing() -> None:
    """A late announcement proves the source right or wrong, and does not change its recall."""
    (found,) = source_counts(checks((1, True, True, 60.0), (1, True, False, 60.0), late=True))
    assert found.right == found.wrong > 0
    assert (found.announced, found.silent, found.delays) == (0, 0, 0)


def test_many_checks_at_once_weigh_as_many_in_a_row() -> None:
    """Ten thousand checks in one batch give the counts of ten thousand single checks."""
    (found,) = source_counts(checks(*[(1, True, True, 0.0)] * 10_000))
    assert found.keep * 123.0 + found.right == pytest.approx(lived(*[True] * 2_000)[0])


@pytest.mark.parametrize(
    ("given_at", "expected"),
    [
        (None, None),
        (10 * DAY_S + 5, 10 * DAY_S + 5),
        (10 * DAY_S, 11 * DAY_S),
        (20 * DAY_S + 5, 20 * DAY_S + 5),
        (21 * DAY_S + 7, None),
        (1e300, None),
        (-1e300, -1e300),
    ],
)
def test_how_far_a_time_reaches(given_at: float | None, expected: float | None) -> None:
    """A date means its whole day; no time, or a time after tomorrow, announces nothing."""
    found = reach(given_at, 20 * DAY_S + 6)
    assert found == (pytest.approx(expected) if expected is not None else None)
