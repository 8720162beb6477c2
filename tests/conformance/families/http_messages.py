"""HTTP/1 answers, good and malformed, from a loopback server: a failure or a faithful capture, and no mixing.

Faithful: the head is there byte for byte, and the body is what Python's own `http.client` reads from the same bytes.
The bytes come twice, with the connection closed behind them and with it kept open; afterwards another request
must get its own answer. Requests (`kind` = request) are for servers and are not played.
"""

from __future__ import annotations

import asyncio
import http.client
import io
import time
from functools import partial
from pathlib import Path
from typing import Any

from tests.conformance.case import Case, UnplayableError, encoded, play_row, rows_of
from tests.conformance.verdict import Verdict
from webstrata.clock import RealClock
from webstrata.fetch.http.client import HttpWeb
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.request import FetchLimits
from webstrata.records import Exchange, Permit

FAMILY = "http-messages"

_LIMITS = FetchLimits(connect_s=10.0, first_byte_s=3.0, total_s=4.0)
_OWN_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nown answer"
_LONGEST_S = 30.0


def run(folder: Path) -> Verdict:
    """Play all answers at the same time (some wait for a time limit), then count them row by row."""
    verdict = Verdict()
    rows = list(rows_of(folder / "cases.json", verdict))
    bodies = [_raw(row) for _, row in rows]
    played = asyncio.run(_play_all([body for body in bodies if body is not None]))
    results = iter(played)
    for (name, row), body in zip(rows, bodies, strict=True):
        result = next(results) if body is not None else None
        play_row(name, row, partial(_count, result), verdict)
    return verdict


def _count(result: str | BaseException | None, case: Case, verdict: Verdict) -> None:
    kind = case.choice("kind", ("request", "response"))
    if kind == "request":
        raise UnplayableError("a request judges servers, and the product sends only its own requests")
    encoded(case.text("raw"))
    if isinstance(result, BaseException):
        raise result
    verdict.check(f"{case.id} {case.fields.get('title', '')}", None, result)


async def _play_all(bodies: list[bytes]) -> list[str | BaseException | None]:
    return await asyncio.gather(*(_play(body) for body in bodies), return_exceptions=True)


def _raw(row: Any) -> bytes | None:
    """The bytes of an answer; None if the row is none."""
    if not isinstance(row, dict) or row.get("kind") != "response" or not isinstance(row.get("raw"), str):
        return None
    for encoding in ("latin-1", "utf-8"):
        try:
            return str(row["raw"]).encode(encoding)
        except UnicodeEncodeError:
            continue
    return None


async def _play(raw: bytes) -> str | None:
    """What is wrong with the capture of these bytes, or None."""
    for keep_open in (False, True):
        server = await _serve(raw, keep_open)
        port = server.sockets[0].getsockname()[1]
        web = HttpWeb(RealClock(), AddressGuard(["127.0.0.1:*"]), _LIMITS)
        started = time.monotonic()
        first = await web.fetch(_permit(port, "/case"))
        took_s = time.monotonic() - started
        second = await web.fetch(_permit(port, "/own"))
        if second.stale:  # as the polite client does, with another permit
            second = await web.fetch(_permit(port, "/own"))
        await web.close()
        server.close()
        if took_s > _LONGEST_S:
            return f"took {took_s:.1f} s"
        if second.response_head + second.body != _OWN_ANSWER:
            return f"the next request got {second.response_head + second.body!r}, {second.failure}"
        problem = None if first.failure is not None else _unfaithful(first, raw)
        if problem is not None:
            return problem
    return None


def _permit(port: int, path: str) -> Permit:
    origin = f"http://127.0.0.1:{port}"
    return Permit(
        url=origin + path,
        origin=origin,
        host="127.0.0.1",
        address="127.0.0.1",
        port=port,
        agent="webstrata-test/1",
        granted_at=0.0,
    )


async def _serve(raw: bytes, keep_open: bool) -> asyncio.Server:
    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                is_case = head.startswith(b"GET /case ")
                writer.write(raw if is_case else _OWN_ANSWER)
                if is_case and not keep_open:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client may go at any time
        finally:
            writer.close()

    return await asyncio.start_server(converse, "127.0.0.1", 0)


def _unfaithful(exchange: Exchange, raw: bytes) -> str | None:
    start = raw.find(exchange.response_head)
    if not exchange.response_head or start < 0:
        return f"head that was not sent: {exchange.response_head!r}"
    body, is_whole = _second_opinion(raw[start:])
    if exchange.body != body:
        return f"body {exchange.body!r}, where http.client reads {body!r}"
    if not is_whole and exchange.truncated is None:
        return "a body that broke off is not marked"
    return None


class _Bytes:
    """A socket that has received these bytes and then the end."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    def makefile(self, mode: str) -> io.BytesIO:
        return io.BytesIO(self._raw)


def _second_opinion(raw: bytes) -> tuple[bytes, bool]:
    response = http.client.HTTPResponse(_Bytes(raw), method="GET")  # type: ignore[arg-type]
    try:
        response.begin()
    except (http.client.HTTPException, ValueError) as error:
        raise UnplayableError(f"http.client cannot read what the product reads: {error!r}") from None
    if response.status == 304:  # has no body; http.client looks for chunks all the same
        return b"", True
    try:
        return response.read(), True
    except http.client.IncompleteRead as error:
        return error.partial, False
