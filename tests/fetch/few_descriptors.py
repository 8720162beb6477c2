"""A process with few file descriptors that fetches from many hosts, then without any free one, and then again.

`python -m tests.fetch.few_descriptors PORT` prints the results; run it under `ulimit -n 64`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from contextlib import ExitStack, suppress
from typing import Any

import uvloop

from webstrata.clock import RealClock
from webstrata.fetch.http.client import HttpWeb
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.request import FetchLimits
from webstrata.records import Failure, Permit

HOSTS = 200
OTHER_FILES = 30


def _use(files: ExitStack, count: int) -> None:
    """Use up to `count` descriptors until the operating system refuses."""
    with suppress(OSError):
        for _ in range(count):
            files.callback(os.close, os.dup(0))


async def _outcome(web: HttpWeb, port: int, host: str) -> str:
    origin = f"http://{host}:{port}"
    permit = Permit(
        url=f"{origin}/", origin=origin, host=host, address="127.0.0.1", port=port, agent="test", granted_at=0.0
    )
    exchange = await web.fetch(permit)
    return exchange.failure.kind if exchange.failure else str(exchange.status)


async def _outcomes(web: HttpWeb, port: int, hosts: range) -> dict[str, int]:
    return Counter(await asyncio.gather(*(_outcome(web, port, f"h{number}.test") for number in hosts)))


async def main(port: int) -> dict[str, Any]:
    web = HttpWeb(
        RealClock(), AddressGuard(["127.0.0.1:*"]), FetchLimits(total_s=60.0), name_servers=[f"127.0.0.1:{port}"]
    )
    with ExitStack() as files:
        _use(files, OTHER_FILES)  # as a database, an archive and parser processes do
        many = await _outcomes(web, port, range(HOSTS))
    web._pool.close()  # it would close idle connections to open others
    await asyncio.sleep(0.1)
    with ExitStack() as files:
        _use(files, 100)
        without = await _outcomes(web, port, range(HOSTS, HOSTS + 5))
        name = await web.resolve("name.test", port)
    after = await _outcomes(web, port, range(HOSTS))
    await web.close()
    return {
        "many": many,
        "without": without,
        "name": name.kind if isinstance(name, Failure) else name,
        "after": after,
    }


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(main(int(sys.argv[1])))))
