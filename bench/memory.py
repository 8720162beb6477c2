"""Memory of the crawling process while a long crawl goes on: it must not grow with the visits made.

Pages are watched and visited 5,000 at a time, every content a new one.
Counted from the first quarter on, when caches and buffers have their size.
"""

from __future__ import annotations

import json
import subprocess
import sys

from bench.figures import Figure
from bench.origin import serving

_VISITS = 100_000
_VISITS_QUICK = 20_000
_MOST_GROWTH_MB = 10.0
"""Per 10,000 visits; a process that kept 1 KB of each would pass it."""


def run(quick: bool) -> list[Figure]:
    with serving() as (port, _, _):
        command = [sys.executable, "-m", "bench.contenders.long_crawl", str(port)]
        visits = _VISITS_QUICK if quick else _VISITS
        ran = subprocess.run([*command, str(visits)], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(f"the long crawl failed:\n{ran.stderr[-2000:]}")
    found = json.loads(ran.stdout)
    figures = [
        Figure(bench="memory", name=f"resident after {int(share * found['visits']):,} visits", values=[mb], unit="MB")
        for share, mb in zip((0.25, 0.5, 0.75, 1.0), found["quarters_mb"], strict=True)
    ]
    slope = found["slope_mb_per_10000"]
    name = "growth per 10,000 visits from the first quarter on"
    return [*figures, Figure(bench="memory", name=name, values=[slope], unit="MB", at_most=_MOST_GROWTH_MB)]
