"""Copies from before a window, with what they show of the true changes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lab.policies.made_histories import DAY, made_rows
from webstrata.errors import UsageError
from webstrata.lab.policies.histories import make_histories
from webstrata.lab.policies.past_histories import COPY_TIMES, CopyTimes, copy_times, past_sightings
from webstrata.lab.policies.truth import Truth

DAYS, PAST = 100, 200


def truth_with_young_pages() -> Truth:
    """Every fifth page appears 50 days before the window."""
    rows = made_rows(40, 400)
    for row in rows[::5]:
        row["first"] = (400 - DAYS - 50) * DAY
        row["changes"] = row["changes"][row["changes"] > row["first"]]
    return Truth(make_histories(rows), DAYS, PAST)


@pytest.mark.parametrize("kind", COPY_TIMES)
def test_copies_show_what_changed_between_them(kind: CopyTimes) -> None:
    """Copies are on whole days before day 0, at most one of a page on a day, and none before the page exists; each says
    whether the page changed since the one before it."""
    truth = truth_with_young_pages()
    past = past_sightings(truth, kind)
    assert (past.at == np.floor(past.at)).all()
    assert past.at.max() < 0
    assert past.at.min() >= -PAST
    assert (past.at >= truth.first_day[past.page]).all()
    same_page = np.diff(past.page) == 0
    assert (np.diff(past.at)[same_page] > 0).all()
    assert (np.diff(past.page) >= 0).all()
    for index in np.flatnonzero(same_page) + 1:
        row, since, at = past.page[index : index + 1], past.at[index - 1 : index], past.at[index : index + 1]
        assert bool(past.result[index]) == bool(truth.changed(row, since, at)[0] > 0)
    assert past.at[past.page == 0].min() >= -50


def test_weekly_and_irregular_copies() -> None:
    """Weekly copies are seven days apart; those of an archive are irregular, and depend on the seed."""
    truth = truth_with_young_pages()
    weekly = past_sightings(truth, "weekly")
    assert set(np.diff(weekly.at)[np.diff(weekly.page) == 0].tolist()) == {7.0}
    archive = past_sightings(truth)
    assert len(set(np.diff(archive.at)[np.diff(archive.page) == 0].tolist())) > 20
    assert past_sightings(truth, seed=2).at.tolist() != archive.at.tolist()
    assert past_sightings(truth).at.tolist() == archive.at.tolist()


def test_an_unknown_kind_is_an_error() -> None:
    """The message names the kinds."""
    with pytest.raises(UsageError, match="archive, weekly"):
        copy_times("daily")
