"""Where beliefs begin: a mixture of what is expected of the page and of the mean of its site's other pages."""

from __future__ import annotations

import numpy as np

from webstrata.predict.start_belief import SITE_PAGES, start_beliefs


def test_a_page_of_an_unknown_site_begins_with_its_own_expectation() -> None:
    """Without other pages the belief is exactly what was expected."""
    expected = np.array([[0.25, 0.75], [0.5, 0.5]], dtype=np.float32)
    found = start_beliefs(expected, np.array([0, 1]), np.zeros((2, 2)), np.zeros(2, dtype=np.intp))
    assert found.tolist() == expected.tolist()


def test_other_pages_of_the_site_weigh_by_their_number() -> None:
    """n pages weigh n / (n + SITE_PAGES); each row stays a distribution."""
    expected = np.array([[1.0, 0.0]] * 3, dtype=np.float32)
    counts = np.array([1, 9], dtype=np.intp)
    sums = np.array([[0.0, 1.0], [0.0, 9.0]])
    found = start_beliefs(expected, np.array([0, 1, 1]), sums, counts)
    weights = counts / (counts + SITE_PAGES)
    np.testing.assert_allclose(found[:, 1], weights[[0, 1, 1]], rtol=1e-6)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-6)
