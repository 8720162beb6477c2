"""Duration of a replay: every policy of the papers over three years of all shipped histories."""

from __future__ import annotations

import time

from bench.figures import Figure
from webstrata.lab.policies.histories import shipped_histories
from webstrata.lab.policies.replay_log import judge
from webstrata.lab.policies.replay_timer import replay_oracle, replay_timer
from webstrata.lab.policies.truth import Truth
from webstrata.schedule.registry import oracle, policy

PAPERS = ("week", "fix", "dyn", "window", "state-1", "state-2", "historic", "bayesian", "threshold")


def run(quick: bool) -> list[Figure]:
    truth = Truth(shipped_histories(), 365 if quick else 1095)
    start = time.perf_counter()
    for name in PAPERS:
        judge(replay_timer(policy(name), truth), truth)
    judge(replay_oracle(oracle("gold"), truth), truth)
    seconds = time.perf_counter() - start
    title = f"{len(PAPERS) + 1} policies of the papers over {len(truth):,} pages, {truth.days:g} days"
    return [Figure(bench="replay", name=title, values=[seconds], unit="s", at_most=10.0)]
