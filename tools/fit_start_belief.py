"""Tests what the other pages of a site say about a new page: for numbers of pages that weigh as much as all else.

An archive has a year of copies of a share of the pages, drawn at random; of the others nothing is known before day 0:
their beliefs begin there as `predict.start_belief` mixes them. Two measures: the mean log score of forecasts for 7, 30
and 120 days, of the pages that the archive does not have; with `--captures` also the captures at the downloads of other
policies, divided by theirs, of all pages. The window ends `--before` days before the end of the histories: other years
than those in which policies are compared. Needs longer histories than the shipped ones.

    python tools/fit_start_belief.py FILE... [--before 1095] [--share 0.5] [--weights 0,1,10] [--seeds 1,2,3]
        [--captures]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from webstrata.clock import DAY_S
from webstrata.columns import Rows
from webstrata.lab.policies.histories import Histories, read_histories
from webstrata.lab.policies.past_histories import past_sightings
from webstrata.lab.policies.replay_budget import learn_past, replay_budget
from webstrata.lab.policies.replay_log import judge
from webstrata.lab.policies.replay_timer import replay_timer
from webstrata.lab.policies.truth import Truth
from webstrata.predict import start_belief
from webstrata.schedule.past_copies import PastSightings
from webstrata.schedule.policy_state import PolicyState
from webstrata.schedule.registry import policy, policy_state

_DAYS, _PAST = 1095.0, 365.0
_MATCHED = ("state-2", "dyn")


def ended_earlier(histories: Histories, days: float) -> Histories:
    """The histories without their last days."""
    old = histories.take(np.flatnonzero(histories.first < histories.until - days * DAY_S))
    until = old.until - days * DAY_S
    parts = [old.changes[begin:end] for begin, end in zip(old.offsets[:-1], old.offsets[1:], strict=True)]
    parts = [part[part <= end] for part, end in zip(parts, until, strict=True)]
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return Histories(
        corpus=old.corpus,
        page=old.page,
        bucket=old.bucket,
        site=old.site,
        first=old.first,
        until=until,
        offsets=offsets,
        changes=np.concatenate(parts),
    )


def begun(truth: Truth, share: float, weight: float, seed: int) -> tuple[PolicyState, Rows]:
    """The pages on day 0, and those of them that the archive does not have. `weight` 0: the site says nothing."""
    past = past_sightings(truth, seed=seed)
    kept = (np.random.default_rng(seed).random(len(truth)) < share)[past.page]
    past = PastSightings(page=past.page[kept], at=past.at[kept], result=past.result[kept])
    site = np.unique(np.array(truth.histories.site), return_inverse=True)[1].astype(np.intp)
    start_belief.SITE_PAGES = weight or 1e12
    pages = policy_state("value", site)
    learn_past(pages, truth, past)
    return pages, np.setdiff1d(pages.rows, past.page)


def log_score(pages: PolicyState, new: Rows, truth: Truth) -> float:
    """The mean log probability that the forecasts of new pages give to what happened."""
    scores = []
    for days in (7.0, 30.0, 120.0):
        age = np.full(len(new), days)
        unchanged = pages.policy.forecast(pages.state, new, age).unchanged_at(age)
        changed = truth.changed(new, np.zeros(len(new)), age) > 0
        scores.append(np.log(np.where(changed, 1.0 - unchanged, unchanged)).mean())
    return float(np.mean(scores))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("histories", nargs="+", type=Path)
    parser.add_argument("--before", type=float, default=1095.0)
    parser.add_argument("--share", type=float, default=0.5)
    parser.add_argument("--weights", default="0,1,10")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--captures", action="store_true", help="also replay, which takes minutes")
    options = parser.parse_args()
    histories = ended_earlier(read_histories(options.histories), options.before)
    corpora = np.array(histories.corpus)
    truths = [
        Truth(histories.take(np.flatnonzero(corpora == corpus)), _DAYS, _PAST)
        for corpus in dict.fromkeys(histories.corpus)
    ]
    names = _MATCHED if options.captures else ()
    matched = {name: [judge(replay_timer(policy(name), truth), truth) for truth in truths] for name in names}
    print("weight  log score  " + "  ".join(f"captures / {name}" for name in names))
    for weight in map(float, options.weights.split(",")):
        scores: list[float] = []
        ratios: dict[str, list[float]] = {name: [] for name in names}
        for seed in map(int, options.seeds.split(",")):
            for number, truth in enumerate(truths):
                scores.append(log_score(*begun(truth, options.share, weight, seed), truth))
                for name in names:
                    other = matched[name][number]
                    pages, _ = begun(truth, options.share, weight, seed)
                    log = replay_budget(pages, truth, int(other.downloads.sum()))
                    ratios[name].append(judge(log, truth).captured.sum() / other.captured.sum())
        captures = "  ".join(f"{np.exp(np.mean(np.log(ratios[name]))):.4f}" for name in names)
        print(f"{weight:6g}  {np.mean(scores):9.4f}  {captures}", flush=True)


if __name__ == "__main__":
    main()
