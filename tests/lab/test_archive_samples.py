"""Copies as an archive would have taken them."""

from __future__ import annotations

import numpy as np

from webstrata.lab.archive_samples import archive_copies


def test_copies_are_irregular_and_within_the_time() -> None:
    """Pages have different numbers of copies, in order, after their first day and before the end."""
    first = np.array([0.0, 100.0, 365.0] + [0.0] * 200)
    page, day = archive_copies(first, 365.0, seed=1)
    counts = np.bincount(page, minlength=len(first))
    assert (day < 365.0).all()
    assert (day > first[page]).all()
    assert (np.diff(day)[np.diff(page) == 0] > 0).all()
    assert counts[2] == 0
    assert counts[3:].min() < 15
    assert counts[3:].max() > 100


def test_the_times_of_a_page_depend_on_its_number_and_the_seed() -> None:
    """Other pages do not change the sample; another seed does."""
    few, many = archive_copies(np.zeros(2), 100.0, 7), archive_copies(np.zeros(5), 100.0, 7)
    assert np.array_equal(few[1], many[1][many[0] < 2])
    assert not np.array_equal(archive_copies(np.zeros(2), 100.0, 8)[1][:3], few[1][:3])
