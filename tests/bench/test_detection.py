"""The labelled pairs keep to the rule of their choice, and `bench.detection` counts verdicts right."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from bench.detection.__main__ import groups
from bench.detection.pairs import DISPUTED, MEANINGFUL, NOT_MEANINGFUL, LabelledPair, read_pairs
from bench.detection.scores import BIN_NAMES, Score, bin_name, misjudged, score, significances
from bench.detection.verdicts import Verdict, by_bytes, by_default_rules

FOLDER = Path(__file__).parents[1] / "data" / "labelled-pairs"
LIMIT_BYTES = 8_000_000


@pytest.fixture(scope="module")
def pairs() -> list[LabelledPair]:
    return read_pairs(FOLDER)


def rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def made(number: int, label: str, importance: str = "", kind: str = "html", draw: str = "versions") -> LabelledPair:
    return LabelledPair(
        id=f"made-{number}",
        site="made",
        split="tune",
        kind=kind,
        draw=draw,
        path="page.html",
        before=b"<p>one</p>",
        after=b"<p>two</p>",
        label=label,
        importance=importance,
        reason="made for a test",
        others=(),
    )


def test_choice_keeps_to_its_rule(pairs: list[LabelledPair]) -> None:
    """At least 200 pairs, at most 12 a site and draw, none too large; no more than two were published together."""
    of_site = Counter((pair.draw, pair.site) for pair in pairs)
    together = Counter((row["draw"], row["site"], row["at_after"]) for row in rows("pairs.csv"))

    assert len(pairs) >= 200
    assert max(number for (draw, _), number in of_site.items() if draw == "versions") <= 12
    assert max(number for (draw, _), number in of_site.items() if draw == "edits") <= 10
    assert Counter(draw for draw, _ in of_site) == {"versions": 18, "edits": 8}
    assert len({pair.id for pair in pairs}) == len(pairs)
    assert all(pair.id.startswith(f"{pair.site}-") for pair in pairs)
    assert all(pair.before != pair.after for pair in pairs)
    assert max(len(body) for pair in pairs for body in (pair.before, pair.after)) <= 300_000
    assert not [pair.path for pair in pairs if pair.path.endswith((".css", ".js"))]
    assert max(together.values()) <= 2


def test_draws_have_no_pair_in_common(pairs: list[LabelledPair]) -> None:
    """The second draw is of pages only; its ids have a mark of their own."""
    named = {(row["site"], row["path"], row["at_after"]) for row in rows("pairs.csv")}

    assert len(named) == len(pairs)
    assert {pair.kind for pair in pairs if pair.draw == "edits"} == {"html"}
    assert all((pair.draw == "edits") == pair.id.startswith(f"{pair.site}-e") for pair in pairs)


def test_split_is_by_site(pairs: list[LabelledPair]) -> None:
    """No site is both for tuning and for reporting."""
    splits = {pair.site: pair.split for pair in pairs}

    assert all(splits[pair.site] == pair.split for pair in pairs)
    assert Counter(splits.values()) == {"tune": 11, "report": 7}


def test_labels_are_complete(pairs: list[LabelledPair]) -> None:
    """Each pair has a label, a reason and, if it is meaningful, an importance; disagreements are explained."""
    labels = rows("labels.csv")

    assert [row["id"] for row in labels] == [pair.id for pair in pairs]
    for row in labels:
        assert row["label"] in (MEANINGFUL, NOT_MEANINGFUL, DISPUTED)
        assert {row["first"], row["second"]} <= {MEANINGFUL, NOT_MEANINGFUL}
        assert (row["importance"] in ("trivial", "minor", "notable")) == (row["label"] == MEANINGFUL)
        assert row["reason"]
        if row["first"] == row["second"]:
            assert row["label"] == row["first"]
        elif row["label"] != DISPUTED:
            assert "the second reading" in row["reason"]


def test_other_pages_of_the_site(pairs: list[LabelledPair]) -> None:
    """Pages have up to eight other pages beside them, data files have none."""
    for pair in pairs:
        assert len(pair.others) <= (8 if pair.kind == "html" else 0)
        assert pair.path not in {page.path for page in pair.others}
    assert sum(len(pair.others) >= 2 for pair in pairs if pair.kind == "html") >= 160


def test_data_stay_small() -> None:
    """The folder is part of every checkout."""
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < LIMIT_BYTES


def test_every_pair_has_a_media_type(pairs: list[LabelledPair]) -> None:
    """A path with an unknown ending could not be judged."""
    assert {pair.media_type for pair in pairs if pair.kind == "html"} == {"text/html"}
    assert "text/html" not in {pair.media_type for pair in pairs if pair.kind == "data"}


def test_scores_of_made_verdicts() -> None:
    """Each combination of label and verdict is counted once; a disputed pair is not counted."""
    labels = (MEANINGFUL, MEANINGFUL, MEANINGFUL, NOT_MEANINGFUL, NOT_MEANINGFUL, DISPUTED)
    changed = (True, True, False, True, False, True)
    judged = [(made(number, label), Verdict(changed[number])) for number, label in enumerate(labels)]

    counts = score(judged)

    assert counts == Score(found=2, missed=1, false_alarms=1, silent=1)
    assert counts.precision == 2 / 3
    assert counts.recall == 2 / 3
    assert [pair.id for pair, _ in misjudged(judged)] == ["made-2", "made-3"]


def test_scores_by_draw() -> None:
    """Each draw has scores of its own, and both together if there are pairs of both."""
    judged = [
        (made(1, MEANINGFUL), Verdict(True)),
        (made(2, MEANINGFUL, draw="edits"), Verdict(False)),
        (made(3, NOT_MEANINGFUL, kind="data"), Verdict(False)),
    ]

    found = {group: score(of_group) for group, of_group in groups(judged).items()}

    assert found == {
        ("tune", "html", "versions"): Score(found=1),
        ("tune", "html", "edits"): Score(missed=1),
        ("tune", "html", "both"): Score(found=1, missed=1),
        ("tune", "data", "versions"): Score(silent=1),
    }


def test_scores_without_pairs() -> None:
    """Nothing judged as changed has no precision, nothing meaningful has no recall."""
    silent = score([(made(1, NOT_MEANINGFUL), Verdict(False))])

    assert (silent.precision, silent.recall) == (None, None)


@pytest.mark.parametrize(
    ("verdict", "name"),
    [
        (Verdict(False, 0.0), "unchanged"),
        (Verdict(True, 0.0), "0-0.05"),
        (Verdict(True, 0.049), "0-0.05"),
        (Verdict(True, 0.05), "0.05-0.2"),
        (Verdict(True, 0.79), "0.5-0.8"),
        (Verdict(True, 0.8), "0.8-1"),
        (Verdict(True, 1.0), "0.8-1"),
    ],
)
def test_bins_of_significance(verdict: Verdict, name: str) -> None:
    """An edge belongs to the bin above it."""
    assert bin_name(verdict) == name


def test_significances_by_importance() -> None:
    """Pairs are counted by importance and bin; those that are not meaningful have a row of their own."""
    judged = [
        (made(1, MEANINGFUL, "notable"), Verdict(True, 0.9)),
        (made(2, MEANINGFUL, "trivial"), Verdict(True, 0.01)),
        (made(3, NOT_MEANINGFUL), Verdict(False, 0.0)),
        (made(4, DISPUTED), Verdict(True, 0.9)),
    ]

    counts = significances(judged)

    assert counts["notable"] == {**dict.fromkeys(BIN_NAMES, 0), "0.8-1": 1}
    assert counts["trivial"]["0-0.05"] == 1
    assert counts[NOT_MEANINGFUL]["unchanged"] == 1
    assert sum(count for row in counts.values() for count in row.values()) == 3


def test_verdicts_on_pairs(pairs: list[LabelledPair]) -> None:
    """The verdicts are in the order of the pairs; `compare` judges pages and data by their media types."""
    chosen = [pair for pair in pairs if pair.id in ("llvm-11", "jena-05", "oil-prices-05", "countries-03")]

    verdicts = by_default_rules(chosen)

    assert [(pair.id, verdict.changed) for pair, verdict in zip(chosen, verdicts, strict=True)] == [
        ("jena-05", False),
        ("llvm-11", True),
        ("countries-03", False),
        ("oil-prices-05", True),
    ]
    assert all((verdict.significance or 0.0) > 0 for verdict in verdicts if verdict.changed)
    assert all(verdict.why for verdict in verdicts)
    assert [verdict.changed for verdict in by_bytes(chosen)] == [True] * 4
