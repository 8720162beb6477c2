"""Generated histories for tests of the lab: pages of a few sites with their own rates and days of joint events."""

from __future__ import annotations

from typing import Any

import numpy as np

from webstrata.lab.policies.histories import Histories, make_histories

DAY = 86_400.0


def made_rows(
    pages: int = 60, days: int = 600, seed: int = 1, corpus: str = "made", fastest: float = -0.3
) -> list[dict[str, Any]]:
    random = np.random.default_rng(seed)
    sweeps = random.random((3, days)) < 0.01
    rows = []
    for page in range(pages):
        rate = 10 ** random.uniform(-2.5, fastest)
        day = np.flatnonzero((random.random(days) < rate) | (sweeps[page % 3] & (random.random(days) < 0.6)))
        changes = (day + random.uniform(0.01, 0.99, len(day))) * DAY
        rows.append(
            {
                "corpus": corpus,
                "page": f"site{page % 3}/p{page}",
                "first": 0.0,
                "until": days * DAY,
                "changes": changes[changes > 0],
            }
        )
    return rows


def made(pages: int = 60, days: int = 600, seed: int = 1, corpus: str = "made") -> Histories:
    return make_histories(made_rows(pages, days, seed, corpus))
