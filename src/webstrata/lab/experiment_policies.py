"""The experiment on policies: histories and options in, rows out."""

from __future__ import annotations

from msgspec import Struct

from webstrata.lab.histories import Histories
from webstrata.lab.replay_timer import replay_timer
from webstrata.lab.rows import Row, summarise
from webstrata.lab.truth import Truth
from webstrata.lab.visits import judge
from webstrata.schedule.registry import names, policy


class Experiment(Struct, frozen=True, kw_only=True):
    """What is asked."""

    policies: list[str] = []
    """None named: all."""
    days: float = 1095.0


class Result(Struct, frozen=True, kw_only=True):
    """What was found."""

    rows: list[Row]


def run(histories: Histories, asked: Experiment) -> Result:
    """Replay every policy asked for over the last days of the histories."""
    truth = Truth(histories, asked.days)
    rows: list[Row] = []
    for name in asked.policies or names():
        outcome = judge(replay_timer(policy(name), truth), truth)
        rows += summarise(name, None, outcome, truth.histories)
    return Result(rows=rows)
