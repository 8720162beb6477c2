"""The rules of the scoreboard, case by case."""

from __future__ import annotations

import msgspec
import pytest

from webstrata.lab.livingweb.truth import TrueChange
from webstrata.lab.scoreboard import score
from webstrata.records import Outcome, Visit

# A visit in one word: time, then n(ew) s(ame) c(hanged) r(aw only) g(one) b(ack) e(rror).
_OUTCOMES = {
    "n": Outcome.NEW,
    "s": Outcome.SAME,
    "c": Outcome.CHANGED,
    "r": Outcome.SAME,
    "g": Outcome.GONE,
    "b": Outcome.BACK,
    "e": Outcome.ERROR,
}


def log(text: str, url: str = "u") -> list[Visit]:
    return [
        Visit(
            page_id=1,
            url=url,
            at=float(word[:-1]),
            outcome=_OUTCOMES[word[-1]],
            raw_changed=word[-1] in "cr",
            counts=word[-1] == "c",
            bytes=100,
        )
        for word in text.split()
    ]


def truth(text: str, url: str = "u") -> list[TrueChange]:
    """Changes at these instants; a trailing minus marks a change that does not count."""
    return [
        TrueChange(url=url, at=float(word.strip("-")), kind="changed", counts=not word.endswith("-"))
        for word in text.split()
    ]


# (log, truth) -> raw (changes, captured, visits), counting layer the same
CASES = [
    ("", "", (0, 0, 0), (0, 0, 0)),
    ("", "1 2", (2, 0, 0), (2, 0, 0)),
    ("0n", "", (0, 0, 0), (0, 0, 0)),
    ("0n 5s", "", (0, 0, 1), (0, 0, 1)),
    ("0n 5c", "3", (1, 1, 1), (1, 1, 1)),
    ("0n 5c", "1 2 3", (3, 1, 1), (3, 1, 1)),
    ("0n 5c", "5", (1, 1, 1), (1, 1, 1)),
    ("5n 6s", "5", (1, 0, 1), (1, 0, 1)),
    ("0n 5r", "3-", (1, 1, 1), (0, 0, 1)),
    ("0n 5c", "3- 4", (2, 1, 1), (1, 1, 1)),
    ("0n 5s", "3 4", (2, 0, 1), (2, 0, 1)),
    ("0n 5c", "", (0, 0, 1), (0, 0, 1)),
    ("0n 5e 6c", "3", (1, 1, 2), (1, 1, 2)),
    ("0e 5n 6s", "3", (1, 0, 2), (1, 0, 2)),
    ("0n 5g 7s 9b", "4 8", (2, 2, 3), (2, 2, 3)),
    ("0g 5b", "4", (1, 1, 1), (1, 1, 1)),
    ("5c 0n", "3", (1, 1, 1), (1, 1, 1)),
]


@pytest.mark.parametrize(("visits", "changes", "raw", "counts"), CASES)
def test_rules(visits: str, changes: str, raw: tuple[int, int, int], counts: tuple[int, int, int]) -> None:
    """Baseline, captured, wasted and missed are counted according to the rules, in both layers."""
    board = score(log(visits), truth(changes))
    for result, expected in ((board.raw, raw), (board.counts, counts)):
        assert (result.changes, result.captured, result.visits) == expected
        assert result.missed == result.changes - result.captured
        assert result.wasted == result.visits - result.captured


def test_totals_of_several_pages() -> None:
    """A change of one page never makes a visit to another page a capture; recall and precision are over all pages."""
    visits = log("0n 5c 6s", "u") + log("0n 5c", "v")
    board = score(visits, truth("3 4", "u") + truth("9", "v") + truth("1", "w"), politeness_violations=3)
    assert msgspec.to_builtins(board.counts) == {
        "changes": 4,
        "captured": 1,
        "missed": 3,
        "visits": 3,
        "wasted": 2,
        "bytes": 500,
        "politeness_violations": 3,
        "recall": 0.25,
        "precision": pytest.approx(1 / 3),
    }
