"""Spans that share an instant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.errors import UsageError
from webstrata.sharp.proof.coherence import CoveredInstant, UnchangedSpan, best_instant, instants


def spans(*ends: tuple[float, float]) -> list[UnchangedSpan]:
    return [UnchangedSpan(page=i, start=start, end=end) for i, (start, end) in enumerate(ends)]


CASES: list[tuple[list[UnchangedSpan], CoveredInstant | None]] = [
    ([], None),
    (spans((5, 5)), CoveredInstant(start=5, end=5, weight=1, pages=(0,))),
    (spans((0, 10), (2, 8), (4, 12)), CoveredInstant(start=4, end=8, weight=3, pages=(0, 1, 2))),
    (spans((0, 4), (4, 9)), CoveredInstant(start=4, end=4, weight=2, pages=(0, 1))),  # both ends belong to a span
    (spans((0, 1), (5, 9)), CoveredInstant(start=5, end=9, weight=1, pages=(1,))),  # among equal ones, the longest
    (spans((3, 1)), None),  # an end before the start proves nothing
]


@pytest.mark.parametrize(("given_spans", "expected"), CASES)
def test_best_instant(given_spans: list[UnchangedSpan], expected: CoveredInstant | None) -> None:
    """The span that most pages share, and these pages."""
    assert best_instant(given_spans) == expected


def test_weights_decide() -> None:
    """One heavy page outweighs two light ones."""
    found = best_instant(spans((0, 1), (0, 1), (5, 6)), [1.0, 1.0, 3.0])
    assert found is not None
    assert found.pages == (2,)


def test_more_instants_serve_the_rest() -> None:
    """Further instants are for the pages that no earlier one serves."""
    found = instants(spans((0, 10), (1, 9), (20, 30), (21, 29), (22, 23), (40, 41)))
    assert [one.pages for one in found] == [(2, 3, 4), (0, 1), (5,)]


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), -1.0])
def test_weights_are_numbers(weight: float) -> None:
    """Weights that are negative, infinite or NaN raise an error."""
    with pytest.raises(UsageError, match="weights"):
        best_instant(spans((0, 1)), [weight])


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 10)), min_size=1, max_size=12))
def test_no_instant_covers_more_pages(ends: list[tuple[int, int]]) -> None:
    """No instant is covered by more pages than the one returned."""
    made = spans(*[(float(start), float(start + length)) for start, length in ends])
    found = best_instant(made)
    assert found is not None
    moments = [end for span in made for end in (span.start, span.end)]
    largest = max(sum(span.start <= moment <= span.end for span in made) for moment in moments)
    assert len(found.pages) == largest
    assert all(made[page].start <= found.start and found.end <= made[page].end for page in found.pages)
