"""Prints how often 95 % intervals contain the true rate: the tables of docs/reference/estimators.md.

    python tools/interval_coverage.py [PAGES [ESTIMATOR]]

Rates are simulated (`webstrata.lab.estimators.coverage`), PAGES pages for each entry, 4,000 by default, with
ESTIMATOR, `irregular` by default.
"""

from __future__ import annotations

import sys

from webstrata.lab.estimators.coverage import SPEEDS, VISITS, Intervals, covered_at_speed
from webstrata.lab.estimators.registry import ESTIMATORS
from webstrata.predict.prior import ANY_PAGE

_SEED = 1
_ESTIMATOR = "irregular"
_KINDS: tuple[Intervals, ...] = ("regular", "irregular")


def main() -> None:
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    estimator = sys.argv[2] if len(sys.argv) > 2 else _ESTIMATOR
    for kind in _KINDS:
        print(f"\n`{estimator}`, {kind} visits, one rate for all pages (changes per mean interval):\n")
        print("| visits | " + " | ".join(f"{speed:g}" for speed in SPEEDS) + " |")
        print("|---" * (len(SPEEDS) + 1) + "|")
        for visits in VISITS:
            shares = [
                covered_at_speed(ESTIMATORS[estimator], speed, visits, kind, ANY_PAGE, pages, _SEED) for speed in SPEEDS
            ]
            print(f"| {visits} | " + " | ".join(f"{share:.3f}" for share in shares) + " |", flush=True)


if __name__ == "__main__":
    main()
