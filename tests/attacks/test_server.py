"""The hostile hosts themselves: each answers, and each is bounded."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from tests.attacks import caller as caller_module
from tests.attacks.behaviour import Behaviour, Serve, drips, floods
from tests.attacks.caller import BoundError, Caller, Request, SocketWire, Throttle
from tests.attacks.crawler import ROOT
from tests.attacks.events import Places, read_events
from tests.attacks.figures import met
from tests.attacks.healthy import HEALTHY
from tests.attacks.served_hosts import serving
from tests.attacks.zoo import BEHAVIOURS, GROUPS

PATIENCE_S = 60.0
SILENT = {
    "slow-body-10s",
    "slow-head-10s",
    "slow-never",
    "slow-robots-answer",
    "slow-answer",
    "conn-full",
    "conn-stall",
    "tls-stall",
}
"""Hosts that send nothing at first."""


def test_the_table() -> None:
    """There are at least 120 behaviours with names and descriptions of their own; the documentation counts them."""
    assert len(BEHAVIOURS) >= 120
    assert len({one.name for one in BEHAVIOURS}) == len(BEHAVIOURS)
    assert len({one.summary for one in BEHAVIOURS}) == len(BEHAVIOURS)
    page = (ROOT / "docs" / "why" / "reliability.md").read_text(encoding="utf-8")
    assert all(f"\n| {name} | {len(group)} | " in page for name, group in GROUPS.items())


async def _answer(behaviour: Behaviour, place: str) -> str:
    """What a request gets: `bytes`, `end`, `silence` or `refused`."""
    address, _, port = place.partition(":")
    patience_s = 1.0 if behaviour.name in SILENT else PATIENCE_S
    try:
        async with asyncio.timeout(patience_s):
            reader, writer = await asyncio.open_connection(address, int(port))
            try:
                writer.write(f"GET {behaviour.path} HTTP/1.1\r\nHost: {behaviour.host}\r\n\r\n".encode())
                return "bytes" if await reader.read(100) else "end"
            finally:
                writer.transport.abort()
    except TimeoutError:
        return "silence"
    except ConnectionRefusedError:
        return "refused"
    except OSError:
        return "end"


async def _answers(places: Places) -> dict[str, str]:
    limit = asyncio.Semaphore(40)

    async def answer(behaviour: Behaviour) -> str:
        async with limit:
            return await _answer(behaviour, places.hosts[behaviour.host])

    found = await asyncio.gather(*map(answer, BEHAVIOURS))
    return dict(zip((one.name for one in BEHAVIOURS), found, strict=True))


def test_every_behaviour_answers(tmp_path: Path) -> None:
    """Every host sends something or ends the connection, except those whose silence is the attack."""
    with serving(tmp_path) as places:
        answers = asyncio.run(_answers(places))
        assert {name for name, answer in answers.items() if answer == "silence"} <= SILENT
        assert {name for name, answer in answers.items() if answer == "refused"} == {"conn-refused"}
        assert sum(answer == "bytes" for answer in answers.values()) >= 250
        assert set(places.hosts) >= {host.host for host in HEALTHY}
    connected = met(read_events(tmp_path))
    assert {one.host for one in BEHAVIOURS if one.listening == "open"} <= connected


@pytest.mark.parametrize("serve", [floods(b"head", b"piece" * 10), drips(b"head", b"piece", 0.0)])
def test_bytes_are_bounded(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """A behaviour without end stops after a number of bytes."""
    monkeypatch.setattr(caller_module, "MAX_BYTES", 150)

    async def play() -> int:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            caller = Caller(SocketWire(ours), Throttle(), connection=1)
            with pytest.raises(BoundError):
                await serve(caller, Request(0.0, "GET", "a.test", "/", {}))
            return len(theirs.recv(10_000))

    assert asyncio.run(play()) <= 150
