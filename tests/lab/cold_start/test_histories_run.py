"""The classifiers on change histories without contents."""

from __future__ import annotations

from typing import Any

from webstrata.clock import DAY_S
from webstrata.lab.cold_start.histories_run import history_rows
from webstrata.lab.policies.histories import make_histories, shipped_histories

START = 1e9


def test_window() -> None:
    """Only the first days of the last three years count: one page changes daily there, the other does so later."""
    rows: list[dict[str, Any]] = [
        {
            "corpus": "c",
            "page": name,
            "first": START,
            "until": START + 1095 * DAY_S,
            "changes": [START + (day + 0.5) * DAY_S for day in days],
        }
        for name, days in (("early", range(100)), ("late", range(100, 1095)))
    ]
    found = list(history_rows(make_histories(rows), 100.0, 3))
    assert [(row.corpus, row.split, row.initial, row.history) for row in found] == [
        ("c", "all", "random", "bayesian"),
        ("c", "all", "random", "historic"),
    ]
    assert found[0].error == 0.0
    assert found[0].pages == 2


def test_reference_values() -> None:
    """On the shipped histories over 100 days the errors of both classifiers are near those of the reference, which were
    taken on other pages of the same corpora."""
    reference = {
        "packages": (0.211, 0.206),
        "registry": (0.189, 0.180),
        "webpages": (0.168, 0.179),
        "webdata": (0.188, 0.151),
    }
    found = {(row.corpus, row.history): row for row in history_rows(shipped_histories(), 100.0, 5)}
    for corpus, (bayesian, historic) in reference.items():
        assert abs(found[corpus, "bayesian"].error - bayesian) < 0.03
        assert abs(found[corpus, "historic"].error - historic) < 0.03
