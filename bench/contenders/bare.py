"""A bare aiohttp loop that downloads pages and discards them: the limit that the HTTP client sets."""

from __future__ import annotations

import asyncio
import sys

import aiohttp
import uvloop

from bench.contenders.stopwatch import Stopwatch
from bench.pages import urls

CONNECTIONS = 64


async def main(port: int, pages: int) -> None:
    watch = Stopwatch()
    waiting = iter(urls(pages, port))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=CONNECTIONS)) as session:

        async def worker() -> None:
            for url in waiting:
                async with session.get(url) as response:
                    await response.read()
                watch.finished()

        await asyncio.gather(*(worker() for _ in range(CONNECTIONS)))
    watch.report()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]), int(sys.argv[2])))
