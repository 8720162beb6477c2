"""Do the flagship's parameters hold when they are learned on an earlier window?

Fits the ten levels of `predict.activity` to the first half of the histories' window alone, by EM from a start that
knows nothing (levels evenly spaced, rare moves to neighbours), and replays `value` over the second half with these and
with the shipped ones, at the downloads of `state-2`. No date, no page and nothing of the second half is in the fit.

    python tools/fit_levels.py [--histories FILE ...] [--days 1095] [--rounds 40]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from webstrata.lab.policies.histories import Histories, read_histories, shipped_histories
from webstrata.lab.policies.replay_budget import replay_budget
from webstrata.lab.policies.replay_log import judge
from webstrata.lab.policies.replay_timer import replay_timer
from webstrata.lab.policies.truth import Truth
from webstrata.predict.activity import POOLED, Activity, Levels
from webstrata.predict.siblings import Siblings
from webstrata.schedule.policy_state import PolicyState
from webstrata.schedule.registry import policy
from webstrata.schedule.value import Value

Reals = NDArray[np.float64]
_TOGETHER = 512
"""Pages whose days are held in memory at once."""


def daily_flags(truth: Truth, days: int) -> NDArray[np.bool_]:
    """Pages by the first days of the window: whether each changed on it."""
    page, at = truth.events(0.0, float(days))
    flags = np.zeros((len(truth), days), dtype=bool)
    flags[page, np.minimum(at.astype(np.intp), days - 1)] = True
    return flags


def fit(flags: NDArray[np.bool_], rounds: int, levels: int = 10) -> tuple[Levels, list[float]]:
    """The likeliest levels, and the log likelihood of a page's day after each round."""
    chance = np.geomspace(1e-4, 0.5, levels)
    start = np.full(levels, 1.0 / levels)
    moves = np.eye(levels) + 0.002 * (np.eye(levels, k=1) + np.eye(levels, k=-1))
    moves /= moves.sum(axis=1, keepdims=True)
    likelihoods = []
    for _ in range(rounds):
        parts = [flags[begin : begin + _TOGETHER] for begin in range(0, len(flags), _TOGETHER)]
        counted = [_expected(part, chance, start, moves) for part in parts]
        likelihood, first, moved, lived, changed = (sum(one) for one in zip(*counted, strict=True))
        likelihoods.append(float(likelihood) / flags.size)
        start, chance = first / first.sum(), np.clip(changed / lived, 1e-6, 0.99)
        moves = moved / moved.sum(axis=1, keepdims=True)
    return _levels(chance, start, moves), likelihoods


def _expected(
    flags: NDArray[np.bool_], chance: Reals, start: Reals, moves: Reals
) -> tuple[float, Reals, Reals, Reals, Reals]:
    """Of some pages: log likelihood; what is expected of their first level, of moves, of days and changes by level."""
    pages, days = flags.shape
    seen = np.where(flags.T[:, :, None], chance, 1.0 - chance)  # day, page, level
    forward, scale = np.empty((days, pages, len(chance))), np.empty((days, pages, 1))
    belief = np.broadcast_to(start, (pages, len(chance)))
    for day in range(days):
        belief = (belief @ moves) * seen[day]
        scale[day] = belief.sum(axis=1, keepdims=True)
        belief = belief / scale[day]
        forward[day] = belief
    backward = np.ones((pages, len(chance)))
    moved = np.zeros_like(moves)
    lived, changed = np.zeros(len(chance)), np.zeros(len(chance))
    for day in range(days - 1, -1, -1):
        share = forward[day] * backward
        lived += share.sum(axis=0)
        changed += share[flags[:, day]].sum(axis=0)
        ahead = seen[day] * backward / scale[day]
        before = forward[day - 1] if day else np.broadcast_to(start, (pages, len(chance)))
        moved += (before.T @ ahead) * moves
        backward = ahead @ moves.T
    return float(np.log(scale).sum()), (start * backward).sum(axis=0), moved, lived, changed


def _levels(chance: Reals, start: Reals, moves: Reals) -> Levels:
    order = np.argsort(chance)
    moves = moves[np.ix_(order, order)]
    return Levels(
        chance=tuple(chance[order].tolist()),
        start=tuple(start[order].tolist()),
        moves=tuple(
            {to: float(row[to]) for to in range(len(row)) if to != level and row[to] > 1e-6}
            for level, row in enumerate(moves)
        ),
    )


def captures(histories: Histories, days: float, levels: Levels) -> dict[str, float]:
    """Captured changes over those of state-2 at its downloads in the last days, by corpus."""
    found = {}
    corpora = np.array(histories.corpus)
    for corpus in dict.fromkeys(histories.corpus):
        truth = Truth(histories.take(np.flatnonzero(corpora == corpus)), days)
        theirs = judge(replay_timer(policy("state-2"), truth), truth)
        site = np.unique(np.array(truth.histories.site), return_inverse=True)[1].astype(np.intp)
        pages = PolicyState(Value(Activity(levels), siblings=Siblings()), site)
        mine = judge(replay_budget(pages, truth, float(theirs.downloads.sum())), truth)
        found[corpus] = float(mine.captured.sum()) / float(theirs.captured.sum())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--histories", type=Path, nargs="+", help="without: the extract of the package")
    parser.add_argument("--days", type=int, default=1095, help="the whole window; its first half is for the fit")
    parser.add_argument("--rounds", type=int, default=40)
    asked = parser.parse_args()
    histories = read_histories(asked.histories) if asked.histories else shipped_histories()
    half = asked.days // 2
    levels, likelihoods = fit(daily_flags(Truth(histories, asked.days), half), asked.rounds)
    print(f"log likelihood of a page's day: {likelihoods[0]:.5f} to {likelihoods[-1]:.5f} in {asked.rounds} rounds")
    print("chances:", " ".join(f"{one:.3g}" for one in levels.chance))
    for title, used in (("fitted to the first half", levels), ("shipped", POOLED)):
        found = captures(histories, asked.days - half, used)
        mean = float(np.exp(np.mean(np.log(list(found.values())))))
        print(f"{title}: {mean:.3f}", " ".join(f"{corpus} {ratio:.3f}" for corpus, ratio in found.items()))


if __name__ == "__main__":
    main()
