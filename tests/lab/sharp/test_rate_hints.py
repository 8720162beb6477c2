"""Hints of URLs about change rates: which a path has, and factors from the recorded sites."""

from __future__ import annotations

import math

import pytest

from webstrata.lab.livingweb.recording import load_shipped
from webstrata.lab.sharp.rate_hints import FIRST, OTHER_PAGES, hint_report, hints, rate_factor

PATHS = [
    ("index.html", ("page", "depth 0")),
    ("about/index.html", ("page", "depth 0")),
    ("blog/2015/talk.html", ("page", "depth 2+", "year", "listing")),
    ("data/prices.CSV", ("data", "depth 1")),
    ("users/history/version_1_11_2.html", ("page", "depth 2+", "old")),
    ("contact", ("page", "depth 0")),
    ("p/20151.html", ("page", "depth 1")),
]


@pytest.mark.parametrize(("path", "expected"), PATHS)
def test_hints(path: str, expected: tuple[str, ...]) -> None:
    """Type by extension, depth in folders, years and words."""
    assert hints(path) == expected


def test_factor() -> None:
    """The factors of all hints are multiplied; a hint without a factor has no effect."""
    assert rate_factor("news/2015.html", {"year": 0.5, "listing": 0.4, "data": 9.0}) == pytest.approx(0.2)
    assert rate_factor("news/2015.html", {}) == 1.0


def test_hints_do_not_help_first_captures() -> None:
    """Fitted on the tuned sites, the hints are better there; on the tested sites they are much worse for a first
    capture, which is why captures do not use them."""
    report = hint_report(load_shipped())
    rows = {(row.part, row.known): row.with_hints - row.without_hints for row in report.rows}
    assert rows["tuned", FIRST] > 0
    assert rows["tuned", OTHER_PAGES] > 0
    assert rows["tested", FIRST] < -100
    assert all(math.isfinite(factor) and factor > 0 for known in report.factors.values() for factor in known.values())
    assert report.factors[OTHER_PAGES]["year"] < 1.0
