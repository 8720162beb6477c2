"""A process that fetches endless bodies and small ones at the same time, and prints how much memory it needed.

`python -m tests.fetch.endless_bodies PORT`: the server's `/endless` stalls after the first part of its body until
`/release` is requested, and then sends without end.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import uvloop

from webstrata.clock import RealClock
from webstrata.fetch.http.client import HttpWeb
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.request import FetchLimits
from webstrata.records import Exchange, Permit

MAX_MEMORY = 96_000_000
BODY_BYTES = 20_000_000
CONNECTIONS = 32
ENDLESS = 24
SMALL = 20

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES


async def _watch_memory(peak: list[int]) -> None:
    while True:
        peak[0] = max(peak[0], _resident_bytes())
        await asyncio.sleep(0.005)


async def _fetch(web: HttpWeb, port: int, path: str) -> Exchange:
    origin = f"http://127.0.0.1:{port}"
    return await web.fetch(
        Permit(url=origin + path, origin=origin, host="a", address="127.0.0.1", port=port, agent="test", granted_at=0.0)
    )


async def _size_and_end(web: HttpWeb, port: int) -> tuple[int, str | None]:
    """The body is dropped at once, as by a pipeline that keeps up."""
    exchange = await _fetch(web, port, "/endless")
    return len(exchange.body), exchange.truncated


async def main(port: int) -> dict[str, Any]:
    limits = FetchLimits(body_bytes=BODY_BYTES)
    web = HttpWeb(RealClock(), AddressGuard(["127.0.0.1:*"]), limits, connections=CONNECTIONS, max_memory=MAX_MEMORY)
    await _fetch(web, port, "/small")
    base_bytes = _resident_bytes()
    peak = [base_bytes]
    watching = asyncio.create_task(_watch_memory(peak))
    endless = [asyncio.create_task(_size_and_end(web, port)) for _ in range(ENDLESS)]
    while not web._memory.is_short:  # noqa: ASYNC110 - nothing tells
        await asyncio.sleep(0.01)
    small = [len((await _fetch(web, port, "/small")).body) for _ in range(SMALL)]
    ended_before = sum(task.done() for task in endless)
    await _fetch(web, port, "/release")
    ends = await asyncio.gather(*endless)
    watching.cancel()
    await asyncio.sleep(0.05)  # the last exchanges are released
    reserved_bytes = web._memory.reserved_bytes
    await web.close()
    return {
        "grown_bytes": peak[0] - base_bytes,
        "small": small,
        "ended_before": ended_before,
        "ends": ends,
        "reserved_bytes": reserved_bytes,
    }


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(main(int(sys.argv[1])))))
