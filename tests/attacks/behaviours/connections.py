"""Hosts that refuse, reset or close connections at each stage, or use them against the protocol."""

from __future__ import annotations

from tests.attacks.behaviour import PAGE, Behaviour, page
from tests.attacks.caller import Caller, Request
from tests.flows.scripted_servers import reply

_WHOLE = reply(PAGE).wire
_LONG = reply(PAGE, length=100_000).wire


async def _reset_now(caller: Caller) -> bool:
    caller.reset()
    return False


async def _close_now(caller: Caller) -> bool:
    return False


async def _stall(caller: Caller) -> bool:
    await caller.until_closed()
    return False


async def _answer_first(caller: Caller) -> bool:
    await caller.send(_WHOLE)
    return True


async def _talk_first(caller: Caller) -> bool:
    await caller.send(b"220 mail.example ESMTP\r\n")
    return True


async def _end_sending(caller: Caller) -> bool:
    caller.wire.end_sending()
    return True


async def _every_second(caller: Caller) -> bool:
    if caller.connection % 2:
        return True
    caller.reset()
    return False


async def _no_answer(caller: Caller, request: Request) -> None:
    """The connection is closed without a byte."""


async def _reset(caller: Caller, request: Request) -> None:
    caller.reset()


async def _reset_in_head(caller: Caller, request: Request) -> None:
    await caller.send(_WHOLE[:30])
    await caller.pause(0.05)
    caller.reset()


async def _reset_in_body(caller: Caller, request: Request) -> None:
    await caller.send(_LONG)
    await caller.pause(0.05)
    caller.reset()


async def _close_after_head(caller: Caller, request: Request) -> None:
    await caller.send(_LONG.partition(b"\r\n\r\n")[0] + b"\r\n\r\n")


async def _close_on_reuse(caller: Caller, request: Request) -> None:
    """The first request of a connection is answered, the second one is not."""
    if caller.on_connection == 1:
        caller.keep = True
        await caller.send(_WHOLE)


async def _reset_on_reuse(caller: Caller, request: Request) -> None:
    if caller.on_connection == 1:
        caller.keep = True
        await caller.send(_WHOLE)
    else:
        caller.reset()


async def _bytes_when_idle(caller: Caller, request: Request) -> None:
    """A second later a response arrives for which there was no request."""
    caller.keep = True
    await caller.send(_WHOLE)
    await caller.pause(1.0)
    await caller.send(reply("<title>Not asked for</title><p>poisoned").wire)


async def _timeout_when_idle(caller: Caller, request: Request) -> None:
    await caller.send(_WHOLE)
    await caller.pause(1.0)
    await caller.send(reply("too slow", 408, Connection="close").wire)


async def _close_header(caller: Caller, request: Request) -> None:
    """The response announces the end of the connection, which stays open."""
    caller.keep = True
    await caller.send(reply(PAGE, Connection="close").wire)


async def _refused_sometimes(caller: Caller, request: Request) -> None:
    if caller.number % 3 == 1:
        await caller.send(_WHOLE)
    else:
        caller.reset()


CONNECTIONS = (
    Behaviour("conn-refused", "no program listens", page(), listening="refused"),
    Behaviour("conn-full", "connections are neither accepted nor refused", page(), listening="full"),
    Behaviour("conn-reset", "a reset right after the connection was accepted", page(), at_connect=_reset_now),
    Behaviour("conn-close", "the end right after the connection was accepted", page(), at_connect=_close_now),
    Behaviour("conn-stall", "a connection that is accepted and never used", page(), at_connect=_stall),
    Behaviour("conn-answer-first", "a response before the request", page(), at_connect=_answer_first),
    Behaviour("conn-talk-first", "a greeting of another protocol", page(), at_connect=_talk_first),
    Behaviour("conn-half-closed", "the host ends its direction before the request", page(), at_connect=_end_sending),
    Behaviour("conn-every-second", "every second connection is reset", page(), at_connect=_every_second),
    Behaviour("conn-no-answer", "the end after the request", _no_answer),
    Behaviour("conn-reset-request", "a reset after the request", _reset),
    Behaviour("conn-reset-head", "a reset within the head", _reset_in_head),
    Behaviour("conn-reset-body", "a reset within the body", _reset_in_body),
    Behaviour("conn-close-head", "the end after the head", _close_after_head),
    Behaviour("conn-close-reused", "a reused connection ends without an answer", _close_on_reuse),
    Behaviour(
        "conn-close-reused-robots",
        "the same, for robots.txt as well",
        _close_on_reuse,
        serves_robots=True,
    ),
    Behaviour("conn-reset-reused", "a reused connection is reset", _reset_on_reuse),
    Behaviour("conn-bytes-idle", "a response without request on an idle connection", _bytes_when_idle),
    Behaviour("conn-timeout-idle", "status 408 on an idle connection", _timeout_when_idle),
    Behaviour("conn-close-header", "`Connection: close`, and the connection stays open", _close_header),
    Behaviour("conn-sometimes", "two of three requests end with a reset", _refused_sometimes),
)
