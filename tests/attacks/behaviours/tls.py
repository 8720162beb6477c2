"""Hosts whose TLS is wrong, slow or no TLS at all."""

from __future__ import annotations

from tests.attacks.behaviour import PAGE, Behaviour, drips, page
from tests.attacks.caller import Caller, Request
from tests.flows.scripted_servers import reply

_ALERT = bytes.fromhex("15030300020228")
_SERVER_HELLO = bytes.fromhex("160303ffff02")
"""The beginning of a record that announces 65,535 bytes."""


async def _slow(caller: Caller) -> bool:
    """A handshake of 4.8 seconds, as with a busy server."""
    await caller.pause(4.8)
    return True


async def _new_connections(caller: Caller, request: Request) -> None:
    """Every request needs a new connection."""
    content = b"User-agent: *\nCrawl-delay: 10\n" if request.path == "/robots.txt" else PAGE
    await caller.send(reply(content, Connection="close").wire)


async def _stall(caller: Caller) -> bool:
    await caller.until_closed()
    return False


async def _cut(caller: Caller) -> bool:
    await caller.wire.receive()
    await caller.send(_SERVER_HELLO)
    return False


async def _reset(caller: Caller) -> bool:
    await caller.wire.receive()
    caller.reset()
    return False


async def _alert(caller: Caller) -> bool:
    await caller.wire.receive()
    await caller.send(_ALERT)
    return False


async def _junk(caller: Caller) -> bool:
    await caller.send(bytes(range(256)) * 40)
    return False


async def _drip(caller: Caller) -> bool:
    await caller.wire.receive()
    while True:
        for byte in _SERVER_HELLO:
            await caller.send(bytes([byte]))
            await caller.pause(1.0)


async def _plain(caller: Caller) -> bool:
    await caller.send(reply(PAGE).wire)
    return False


TLS = (
    Behaviour("tls-expired", "an expired certificate", page(), scheme="https", tls="expired"),
    Behaviour("tls-other-name", "a certificate for another name", page(), scheme="https", tls="other-name"),
    Behaviour("tls-self-signed", "a certificate that nobody signed", page(), scheme="https", tls="self-signed"),
    Behaviour("tls-old", "TLS 1.1 at most", page(), scheme="https", tls="old"),
    Behaviour("tls-stall", "a handshake that never begins", page(), scheme="https", at_connect=_stall),
    Behaviour("tls-drip", "a handshake that drips", page(), scheme="https", at_connect=_drip),
    Behaviour("tls-cut", "a handshake that ends", page(), scheme="https", at_connect=_cut),
    Behaviour("tls-reset", "a handshake that is reset", page(), scheme="https", at_connect=_reset),
    Behaviour("tls-alert", "an alert instead of a handshake", page(), scheme="https", at_connect=_alert),
    Behaviour("tls-junk", "junk instead of a handshake", page(), scheme="https", at_connect=_junk),
    Behaviour("tls-plain", "a response without TLS", page(), scheme="https", at_connect=_plain),
    Behaviour(
        "tls-slow",
        "a handshake of 4.8 seconds for every request, and Crawl-delay: 10",
        _new_connections,
        serves_robots=True,
        gap_s=10.0,
        scheme="https",
        tls="good",
        at_connect=_slow,
    ),
    Behaviour(
        "tls-slow-body",
        "a body that drips through TLS",
        drips(reply(PAGE, length=100_000).wire, b"x", 0.5),
        scheme="https",
        tls="good",
    ),
)
