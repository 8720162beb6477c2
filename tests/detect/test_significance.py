"""The significance of a change, and the phrases for sizes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.detect.comparison import WordCounts
from webstrata.detect.findings import Findings
from webstrata.detect.significance import share_phrase, significance
from webstrata.records import Change, ChangeKind, Outcome


@pytest.mark.parametrize(
    ("share", "phrase"),
    [
        (0.0, "less than 0.1 %"),
        (0.0009, "less than 0.1 %"),
        (0.001, "0.1 %"),
        (0.034, "3.4 %"),
        (0.12, "12 %"),
        (0.996, "nearly 100 %"),
        (0.9999, "nearly 100 %"),
        (1.0, "100 %"),
    ],
)
def test_share_phrases(share: float, phrase: str) -> None:
    """A share has as many digits as a reader needs."""
    assert share_phrase(share) == phrase


@given(st.floats(0, 1))
def test_no_share_is_zero(share: float) -> None:
    """Beside a change no share is shown as 0 %, and only the whole is shown as 100 %."""
    phrase = share_phrase(share)

    assert phrase not in ("0 %", "0.0 %")
    assert (phrase == "100 %") == (share == 1)


def scored(
    added: int = 0, removed: int = 0, *, total: int = 10_000, new_links: int = 0, **found: object
) -> tuple[float, tuple[str, ...]]:
    words = WordCounts(removed, added, total)
    change = Change(outcome=Outcome.CHANGED, kind=ChangeKind.CONTENT, counts=True, new_links=new_links)
    return significance(change, Findings(text=True, words=words, **found), title_changed=False)  # type: ignore[arg-type]


def test_the_scale() -> None:
    """A corrected word is trivial, a line with a link is minor, a paragraph is notable."""
    assert scored(1, 1)[0] < 0.1
    assert 0.3 < scored(3, new_links=1)[0] < 0.5
    assert 0.75 < scored(60)[0] < 0.9
    assert scored(300)[0] == 1


def test_most_of_a_short_page_is_significant() -> None:
    """The share counts if it is larger than the amount says."""
    assert scored(5, 5, total=12)[0] > 0.8


def test_watched_figures_are_never_trivial() -> None:
    """A price of which one digit changed has at least one half."""
    score, reasons = scored(1, 1, is_watched=True)
    assert score == 0.5
    assert "a figure that people watch differs" in reasons


@pytest.mark.parametrize(
    ("added", "removed", "phrase"),
    [
        (14, 2, "about 14 words added, 2 removed (0.2 % of the text)"),
        (1400, 0, "about 1,400 words added (14 % of the text)"),
        (0, 3, "about 3 words removed (less than 0.1 % of the text)"),
        (1, 1, "about 1 word added, 1 removed (less than 0.1 % of the text)"),
        (0, 0, "the same words in another order"),
    ],
)
def test_sizes_in_words(added: int, removed: int, phrase: str) -> None:
    """The reasons say how many words were added and removed."""
    assert scored(added, removed)[1] == (phrase,)


@pytest.mark.parametrize(
    ("layer", "reason"),
    [
        ("selected", "only content that the rules leave out differs"),
        ("main", "only menus, header, footer or time stamps differ"),
    ],
)
def test_what_differs_without_counting(layer: str, reason: str) -> None:
    """The reason names the rules, if they decide what is compared."""
    change = Change(outcome=Outcome.SAME, kind=ChangeKind.MARKUP, text=True, raw=True, layer=layer)
    assert significance(change, Findings(), title_changed=False) == (0.0, (reason,))
