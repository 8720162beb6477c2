"""A process in a network namespace without any route: `python -m tests.fetch.no_network` prints its failures."""

from __future__ import annotations

import asyncio
import json

from webstrata.clock import RealClock
from webstrata.fetch.http.client import HttpWeb
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.request import FetchLimits
from webstrata.records import Failure, Permit


async def main() -> dict[str, str]:
    web = HttpWeb(RealClock(), AddressGuard(), FetchLimits(connect_s=2.0), name_servers=["93.184.216.53"])
    kinds = {}
    for address in ("93.184.216.34", "2606:2800:220:1::1"):
        permit = Permit(
            url="http://a.test/", origin="http://a.test", host="a.test", address=address, port=80, agent="test",
            granted_at=0.0,
        )  # fmt: skip
        failure = (await web.fetch(permit)).failure
        assert failure is not None
        kinds[address] = failure.kind.value
    resolved = await web.resolve("a.test", 80)
    assert isinstance(resolved, Failure)
    kinds["a.test"] = resolved.kind.value
    await web.close()
    return kinds


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main())))
