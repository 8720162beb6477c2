"""Memory of the crawl process during a long crawl: it must not grow with the number of visits.

Pages are watched and visited 5,000 at a time, each with a new content. The growth is measured after the first quarter,
when caches and buffers have reached their size.
"""

from __future__ import annotations

import json
import subprocess
import sys

from bench.figures import Figure
from bench.origin import serving

_VISITS = 100_000
_VISITS_QUICK = 20_000
_MAX_GROWTH_MB = 10.0
"""For 10,000 visits. A process that kept 1 KB of each visit would reach it."""


def run(quick: bool) -> list[Figure]:
    with serving() as (port, _, _):
        command = [sys.executable, "-m", "bench.contenders.long_crawl", str(port)]
        visits = _VISITS_QUICK if quick else _VISITS
        process = subprocess.run([*command, str(visits)], capture_output=True, text=True, check=False)
    if process.returncode:
        raise RuntimeError(f"the long crawl failed:\n{process.stderr[-2000:]}")
    result = json.loads(process.stdout)
    figures = [
        Figure(bench="memory", name=f"resident after {int(share * result['visits']):,} visits", values=[mb], unit="MB")
        for share, mb in zip((0.25, 0.5, 0.75, 1.0), result["quarters_mb"], strict=True)
    ]
    slope = result["slope_mb_per_10000"]
    name = "growth per 10,000 visits after the first quarter"
    return [*figures, Figure(bench="memory", name=name, values=[slope], unit="MB", at_most=_MAX_GROWTH_MB)]
