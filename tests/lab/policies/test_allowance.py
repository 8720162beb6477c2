"""The number of downloads of a budgeted policy."""

from __future__ import annotations

import pytest

from webstrata.errors import UsageError
from webstrata.lab.policies.allowance import parse_allowance


@pytest.mark.parametrize(
    ("text", "label", "downloads"),
    [
        ("9000", "9000", 9000.0),
        ("2/day", "60", 60.0),
        ("4/page/day", "4/page/day", 4.0 * 30 * 7),
        ("3/page", "3/page", 3.0 * 7),
        ("0.5x:dyn", "0.5x:dyn", 50.0),
        ("1x", "state-2", 100.0),
    ],
)
def test_downloads_of_a_corpus(text: str, label: str, downloads: float) -> None:
    """A number, a rate, a rate for each of seven pages, and a share of the 100 downloads of another policy."""
    allowance = parse_allowance(text, days=30.0)

    assert allowance.label == label
    assert allowance.downloads(matched=100, pages=7) == pytest.approx(downloads)


@pytest.mark.parametrize("text", ["", "4/page/hour", "/page/day", "x:dyn", "many"])
def test_other_texts_are_refused(text: str) -> None:
    """The message lists what can be written."""
    with pytest.raises(UsageError, match="4/page/day"):
        parse_allowance(text, days=30.0)
