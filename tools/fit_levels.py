"""Tests whether the parameters of the policy `value` are overfitted: fits them to an earlier window only.

Fits ten levels of `predict.activity` to the first half of the histories' window by EM, from an uninformed start
(levels evenly spaced, rare moves to neighbours). Then replays `value` over the second half with these levels and with
the shipped ones, with the downloads of `state-2`. The fit uses no data of the second half.

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
from webstrata.predict.activity import POOLED, Activity, Levels, rates_of
from webstrata.predict.siblings import Siblings
from webstrata.schedule.policy_state import PolicyState
from webstrata.schedule.registry import policy
from webstrata.schedule.value import Value

Reals = NDArray[np.float64]
_BATCH = 512
"""Number of pages in memory at once."""


def daily_flags(truth: Truth, days: int) -> NDArray[np.bool_]:
    """Pages by days: whether the page changed on that day, for the first days of the window."""
    page, at = truth.events(0.0, float(days))
    flags = np.zeros((len(truth), days), dtype=bool)
    flags[page, np.minimum(at.astype(np.intp), days - 1)] = True
    return flags


def fit(flags: NDArray[np.bool_], rounds: int, levels: int = 10) -> tuple[Levels, list[float]]:
    """The levels of maximum likelihood, and the mean log likelihood of a day of a page after each round."""
    chance = np.geomspace(1e-4, 0.5, levels)
    start = np.full(levels, 1.0 / levels)
    moves = np.eye(levels) + 0.002 * (np.eye(levels, k=1) + np.eye(levels, k=-1))
    moves /= moves.sum(axis=1, keepdims=True)
    likelihoods = []
    for _ in range(rounds):
        batches = [flags[begin : begin + _BATCH] for begin in range(0, len(flags), _BATCH)]
        expected = [_expected(batch, chance, start, moves) for batch in batches]
        likelihoods.append(sum(likelihood for likelihood, *_ in expected) / flags.size)
        counts = zip(*(arrays for _, *arrays in expected), strict=True)
        first, transitions, days, changes = (np.sum(arrays, axis=0) for arrays in counts)
        start, chance = first / first.sum(), np.clip(changes / days, 1e-6, 0.99)
        moves = transitions / transitions.sum(axis=1, keepdims=True)
    return _levels(chance, start, moves), likelihoods


def _expected(
    flags: NDArray[np.bool_], chance: Reals, start: Reals, moves: Reals
) -> tuple[float, Reals, Reals, Reals, Reals]:
    """Log likelihood of some pages; expected first levels, transitions, and days and changes at each level."""
    pages, days = flags.shape
    emission = np.where(flags.T[:, :, None], chance, 1.0 - chance)  # day, page, level
    forward, scale = np.empty((days, pages, len(chance))), np.empty((days, pages, 1))
    belief = np.broadcast_to(start, (pages, len(chance)))
    for day in range(days):
        belief = (belief @ moves) * emission[day]
        scale[day] = belief.sum(axis=1, keepdims=True)
        belief = belief / scale[day]
        forward[day] = belief
    backward = np.ones((pages, len(chance)))
    transitions = np.zeros_like(moves)
    level_days, changes = np.zeros(len(chance)), np.zeros(len(chance))
    for day in range(days - 1, -1, -1):
        share = forward[day] * backward
        level_days += share.sum(axis=0)
        changes += share[flags[:, day]].sum(axis=0)
        ahead = emission[day] * backward / scale[day]
        before = forward[day - 1] if day else np.broadcast_to(start, (pages, len(chance)))
        transitions += (before.T @ ahead) * moves
        backward = ahead @ moves.T
    return float(np.log(scale).sum()), (start * backward).sum(axis=0), transitions, level_days, changes


def _levels(chance: Reals, start: Reals, moves: Reals) -> Levels:
    order = np.argsort(chance)
    moves = moves[np.ix_(order, order)]
    return Levels(
        per_day=rates_of(chance[order].tolist()),
        start=tuple(start[order].tolist()),
        moves=tuple(
            {to: float(row[to]) for to in range(len(row)) if to != level and row[to] > 1e-6}
            for level, row in enumerate(moves)
        ),
    )


def captures(histories: Histories, days: float, levels: Levels) -> dict[str, float]:
    """Captured changes in the last days, divided by those of state-2 with the same downloads, by corpus."""
    ratios = {}
    corpora = np.array(histories.corpus)
    for corpus in dict.fromkeys(histories.corpus):
        truth = Truth(histories.take(np.flatnonzero(corpora == corpus)), days)
        timer = judge(replay_timer(policy("state-2"), truth), truth)
        site = np.unique(np.array(truth.histories.site), return_inverse=True)[1].astype(np.intp)
        pages = PolicyState(Value(Activity(levels), siblings=Siblings()), site)
        fitted = judge(replay_budget(pages, truth, float(timer.downloads.sum())), truth)
        ratios[corpus] = float(fitted.captured.sum()) / float(timer.captured.sum())
    return ratios


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--histories", type=Path, nargs="+", help="files of histories (default: the shipped extract)")
    parser.add_argument("--days", type=int, default=1095, help="length of the window; its first half is for the fit")
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    histories = read_histories(options.histories) if options.histories else shipped_histories()
    half = options.days // 2
    levels, likelihoods = fit(daily_flags(Truth(histories, options.days), half), options.rounds)
    print(f"log likelihood of a page's day: {likelihoods[0]:.5f} to {likelihoods[-1]:.5f} in {options.rounds} rounds")
    print("changes per day:", " ".join(f"{rate:.3g}" for rate in levels.per_day))
    for title, used in (("fitted to the first half", levels), ("shipped", POOLED)):
        ratios = captures(histories, options.days - half, used)
        mean = float(np.exp(np.mean(np.log(list(ratios.values())))))
        print(f"{title}: {mean:.3f}", " ".join(f"{corpus} {ratio:.3f}" for corpus, ratio in ratios.items()))


if __name__ == "__main__":
    main()
