"""The pages that changed most before the window."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lab.policies.made_histories import DAY
from webstrata.errors import UsageError
from webstrata.lab.policies.histories import Histories, make_histories
from webstrata.lab.policies.liveliest import liveliest

WINDOW = 100


def _page(corpus: str, name: str, before: int, inside: int, first: float = 0.0) -> dict[str, object]:
    """A page of 300 days with so many changes in the 100 days before the window, and so many inside."""
    changes = np.concatenate([np.linspace(101, 199, before), np.linspace(201, 299, inside)]) * DAY
    return {"corpus": corpus, "page": name, "first": first * DAY, "until": 300 * DAY, "changes": changes}


def _histories() -> Histories:
    rows = [_page("c", f"{name}", before=name, inside=20 - name) for name in range(10)]
    return make_histories([*rows, _page("d", "only", 0, 5), _page("c", "young", 0, 50, first=200.5)])


def test_the_window_does_not_decide() -> None:
    """The pages with the most changes before the window are taken, of each corpus the same share, in their order."""
    taken = liveliest(_histories(), 0.3, WINDOW)

    assert list(zip(taken.corpus, taken.page, strict=True)) == [("c", "7"), ("c", "8"), ("c", "9"), ("d", "only")]


@pytest.mark.parametrize("share", [0.0, -1.0, 1.5])
def test_a_share_outside(share: float) -> None:
    """A share is above 0 and at most 1."""
    with pytest.raises(UsageError, match="--liveliest"):
        liveliest(_histories(), share, WINDOW)


def test_a_window_that_no_page_covers() -> None:
    """The message says what to ask for."""
    with pytest.raises(UsageError, match="--years"):
        liveliest(_histories(), 0.5, 1000)
