"""A long crawl that measures its own memory. Arguments: `PORT VISITS`; output: one line of JSON."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import uvloop

from bench.contenders.whole_loop import flags, watch_pages
from bench.pages import urls
from webstrata import settings
from webstrata.flows.crawl.visit_batcher import CrawlProgress
from webstrata.home import Home
from webstrata.node import Node
from webstrata.records import Visit

_PAGES_AT_A_TIME = 5_000
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES / 2**20


class Memory(CrawlProgress):
    """Resident memory after each stored batch of visits."""

    def __init__(self) -> None:
        self.visits = 0
        self.samples: list[tuple[int, float]] = []

    def visited(self, visits: Sequence[Visit]) -> None:
        self.visits += len(visits)
        self.samples.append((self.visits, resident_mb()))


async def main(port: int, visits: int, folder: Path) -> None:
    home, _ = Home.create(folder)
    loaded, _ = settings.load(folder, flags=[*flags(port), "archive.max_file_size=200MB"])
    node = Node(home, loaded)
    memory = Memory()
    addresses = urls(visits, port)
    async with node.crawling(memory) as loop:
        for start in range(0, visits, _PAGES_AT_A_TIME):
            await watch_pages(node, addresses[start : start + _PAGES_AT_A_TIME])
            await loop.crawl()
    counts, sizes = np.array(memory.samples).T
    late = counts >= visits / 4
    slope = float(np.polyfit(counts[late], sizes[late], 1)[0])
    quarters = [float(sizes[np.searchsorted(counts, share * memory.visits)]) for share in (0.25, 0.5, 0.75, 1.0)]
    print(json.dumps({"visits": memory.visits, "quarters_mb": quarters, "slope_mb_per_10000": slope * 10_000}))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        uvloop.run(main(int(sys.argv[1]), int(sys.argv[2]), Path(name)))
