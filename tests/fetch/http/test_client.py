"""One request leads to one outcome, whatever the server does."""

from __future__ import annotations

import asyncio
import gzip
import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.fetch.conftest import AGENT, QUICK, Conversation, PlayedServer, answering, fetch, with_web
from webstrata.clock import JumpingClock, ManualClock
from webstrata.coding import decode
from webstrata.fetch.http.client import HttpWeb
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.request import FetchLimits
from webstrata.records import Exchange, FailureKind, Permit, Validators

Play = Callable[..., PlayedServer]

OK = b"HTTP/1.1 200 OK\r\n"
HELLO = OK + b"Content-Length: 5\r\n\r\nhello"

# ── responses ───────────────────────────────────────────────────────────────────────────────────────────────

RESPONSES = {
    "length": (HELLO, OK + b"Content-Length: 5\r\n\r\n", b"hello", None),
    "chunks": (
        OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nTrailer: z\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n",
        b"hello",
        None,
    ),
    "until the end": (OK + b"\r\nhello", OK + b"\r\n", b"hello", None),
    "version 1.0": (b"HTTP/1.0 200 OK\r\n\r\nhello", b"HTTP/1.0 200 OK\r\n\r\n", b"hello", None),
    "unusual white space": (
        b"HTTP/1.1 200\r\nX-ODD:\t  a  \r\nX-Odd: b\r\n\r\nhello",
        b"HTTP/1.1 200\r\nX-ODD:\t  a  \r\nX-Odd: b\r\n\r\n",
        b"hello",
        None,
    ),
    "bare line feeds": (b"HTTP/1.1 200 OK\nA: b\n\nhello", b"HTTP/1.1 200 OK\nA: b\n\n", b"hello", None),
    "early hints": (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + HELLO, HELLO[:-5], b"hello", None),
    "content coding kept": (
        OK + b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nxyz",
        OK + b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\n",
        b"xyz",
        None,
    ),
    "more than announced": (HELLO + b" and more", HELLO[:-5], b"hello", None),
    "another response follows": (HELLO + b"HTTP/1.1 404 No\r\n\r\n", HELLO[:-5], b"hello", None),
    "less than announced": (
        OK + b"Content-Length: 9\r\n\r\nhello",
        OK + b"Content-Length: 9\r\n\r\n",
        b"hello",
        "disconnect",
    ),
    "chunks without end": (
        OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n",
        b"hello",
        "disconnect",
    ),
    "half a chunk": (
        OK + b"Transfer-Encoding: chunked\r\n\r\n9\r\nhello",
        OK + b"Transfer-Encoding: chunked\r\n\r\n",
        b"hello",
        "disconnect",
    ),
}


@pytest.mark.parametrize("name", RESPONSES)
def test_responses(play: Play, name: str) -> None:
    """The head is kept as received, transfer coding is removed, and truncation is recorded."""
    raw, head, body, truncated = RESPONSES[name]
    exchange = fetch(play(raw).permit())

    assert exchange.failure is None
    assert exchange.status == 200
    assert exchange.response_head == head
    assert exchange.body == body
    assert exchange.truncated == truncated


@pytest.mark.parametrize("status", [204, 301, 304, 404, 410, 429, 500, 503])
def test_other_statuses(play: Play, status: int) -> None:
    """Every status is an outcome; no redirect is followed and nothing is retried."""
    server = play(b"HTTP/1.1 %d X\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n" % status)
    exchange = fetch(server.permit())

    assert (exchange.status, exchange.failure, exchange.body) == (status, None, b"")
    assert exchange.header("location") == "/elsewhere"
    assert len(server.requests) == 1


def test_parsed_headers(play: Play) -> None:
    """Names are in lower case, order and repetition are kept, and values are decoded as UTF-8, else as Latin-1."""
    lines = b"Set-Cookie: a=1\r\nSET-COOKIE: b=2\r\nX-Utf: \xc3\xbc\r\nX-Latin: \xfc\r\nContent-Length: 0\r\n\r\n"
    exchange = fetch(play(OK + lines).permit())

    assert exchange.headers == (
        ("set-cookie", "a=1"),
        ("set-cookie", "b=2"),
        ("x-utf", "ü"),
        ("x-latin", "ü"),
        ("content-length", "0"),
    )


def test_large_body(play: Play) -> None:
    """A large body is received completely."""
    body = bytes(range(256)) * 20_000
    exchange = fetch(play(OK + b"Content-Length: %d\r\n\r\n" % len(body) + body).permit())
    assert exchange.body == body


MALFORMED = {
    "HTTP/0.9": b"<html>hello</html>",
    "another protocol": b"SSH-2.0-OpenSSH_9.6\r\n",
    "TLS": b"\x15\x03\x01\x00\x02\x02\x28",
    "version 0.9": b"HTTP/0.9 200 OK\r\n\r\nhello",
    "version 2": b"HTTP/2.0 200 OK\r\n\r\nhello",
    "ICE": b"ICE/1.1 200 OK\r\n\r\nhello",
    "no status": b"HTTP/1.1 OK\r\n\r\n",
    "upgrade": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n\x81\x00",
    "two lengths": OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
    "length and chunks": OK + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "bad length": OK + b"Content-Length: five\r\n\r\nhello",
    "bad chunk": OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
    "NUL in a header": OK + b"X: a\x00b\r\n\r\nhello",
    "noise": bytes(range(256)) * 10,
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed(play: Play, name: str) -> None:
    """A response that is not HTTP/1 is a failure, never an exception."""
    exchange = fetch(play(MALFORMED[name]).permit())
    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.MALFORMED


def test_malformed_chunk_after_valid_ones(play: Play) -> None:
    """A malformed chunk makes the response malformed, even if it arrives later than the head."""

    def script(peer: Conversation) -> None:
        peer.request()
        peer.send(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        peer.pause(0.05)
        peer.send(b"not a length\r\n")
        peer.wait_for_close()

    exchange = fetch(play(script).permit())
    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.MALFORMED


# ── requests ────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_request_is_recorded_as_sent(play: Play) -> None:
    """`request_head` is identical to what the server received."""
    server = play(HELLO)
    exchange = fetch(
        server.permit("/a//b?c=%41&d='", host="site.test"),
        accept="text/html,*/*;q=0.5",
        validators=Validators(etag='W/"x"', last_modified="Sun, 15 Nov 2026 08:30:00 GMT"),
    )

    assert server.requests == [exchange.request_head]
    assert (
        exchange.request_head
        == (
            f"GET /a//b?c=%41&d=' HTTP/1.1\r\nHost: site.test:{server.port}\r\nUser-Agent: {AGENT}\r\n"
            "Accept: text/html,*/*;q=0.5\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n"
            'If-None-Match: W/"x"\r\n\r\n'
        ).encode()
    )


def test_no_cookies_no_environment(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cookies are not sent back, and proxies of the environment are not used."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    server = play(answering(OK + b"Set-Cookie: a=1\r\nContent-Length: 0\r\n\r\n"))

    async def use(web: HttpWeb) -> None:
        for _ in range(2):
            await web.fetch(server.permit(host="site.test"))

    with_web(use)
    assert len(server.requests) == 2
    assert b"ookie" not in server.requests[1]


def test_not_modified_without_a_copy(play: Play) -> None:
    """A 304 is returned unchanged; the caller interprets it."""
    exchange = fetch(play(b'HTTP/1.1 304 Not Modified\r\nETag: W/"b"\r\n\r\n').permit())
    assert (exchange.status, exchange.header("etag"), exchange.failure) == (304, 'W/"b"', None)


@pytest.mark.parametrize("url", ["http://127.0.0.1/\r\nX: y", "http://a@127.0.0.1/", "ftp://127.0.0.1/", "junk"])
def test_unusable_urls(play: Play, url: str) -> None:
    """An unusable URL is a failure, and no connection is made."""
    server = play(HELLO)
    exchange = fetch(server.permit(url=url))
    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.BAD_URL
    assert server.connections == 0


# ── connections ─────────────────────────────────────────────────────────────────────────────────────────────


def test_address_of_the_permit(play: Play) -> None:
    """The connection goes to the address and port of the permit; the name is not resolved."""
    server = play(HELLO, address="127.0.0.2")
    permit = server.permit(url="http://unknown-name.invalid/x")
    exchange = fetch(permit)

    assert (exchange.status, exchange.address) == (200, "127.0.0.2")
    assert server.requests[0].startswith(b"GET /x HTTP/1.1\r\nHost: unknown-name.invalid\r\n")


def test_forbidden_address(play: Play) -> None:
    """A permit for a forbidden address is refused before a socket is created."""
    server = play(HELLO)
    exchange = fetch(server.permit(), allow=("127.0.0.1:9",))

    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.BLOCKED
    assert server.connections == 0


def test_the_guard_checks_every_socket(play: Play) -> None:
    """The guard is asked again where sockets are created, independently of the first check."""
    server = play(HELLO)

    class AllowsOnce(AddressGuard):
        calls = 0

        def allows(self, address: str, port: int) -> bool:
            self.calls += 1
            return self.calls == 1 or super().allows(address, port)

    async def main() -> Exchange:
        web = HttpWeb(ManualClock(), AllowsOnce(), QUICK)
        try:
            return await web.fetch(server.permit())
        finally:
            await web.close()

    exchange = asyncio.run(main())
    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.BLOCKED
    assert server.connections == 0


def test_ipv6(play: Play) -> None:
    """Connections to IPv6 addresses work."""
    try:
        server = play(HELLO, address="::1")
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    assert fetch(server.permit()).body == b"hello"


def test_resolve_uses_the_table(play: Play) -> None:
    """A name in the host table is resolved to its address and port."""
    server = play(HELLO)

    async def use(web: HttpWeb) -> Any:
        return await web.resolve("boost.test", 80)

    endpoint = (server.address, server.port)
    assert with_web(use, hosts={"boost.test": f"{server.address}:{server.port}"}) == endpoint


# ── limits and failures ─────────────────────────────────────────────────────────────────────────────────────


def test_body_over_the_limit(play: Play) -> None:
    """A body above the limit is truncated and marked; a body of exactly that length is not."""
    endless = play(OK + b"\r\n" + b"x" * 300_000)
    limits = FetchLimits(body_bytes=100_000, total_s=2.0)
    cut = fetch(endless.permit(), limits=limits)
    whole = fetch(play(OK + b"\r\n" + b"x" * 100_000).permit(), limits=limits)

    assert (len(cut.body), cut.truncated) == (100_000, "length")
    assert (len(whole.body), whole.truncated) == (100_000, None)


def test_endless_body(play: Play) -> None:
    """A body without end stops at the size limit, long before the time limit."""

    def script(peer: Conversation) -> None:
        peer.request()
        peer.send(OK + b"Transfer-Encoding: chunked\r\n\r\n")
        while True:
            peer.send(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")

    exchange = fetch(play(script).permit(), limits=FetchLimits(body_bytes=2_000_000, total_s=20.0))
    assert (len(exchange.body), exchange.truncated) == (2_000_000, "length")


@pytest.mark.parametrize(
    "lines", [b"X: " + b"a" * 70_000, b"X: a\r\n" * 1000, b"X" * 70_000 + b": a", b"X: " + b"a\r\n " * 30_000]
)
@pytest.mark.parametrize("ending", [b"\r\n\r\n", b""])
def test_heads_above_the_limits(play: Play, lines: bytes, ending: bytes) -> None:
    """A head that is too long or has too many lines is refused, whether or not it is complete."""
    exchange = fetch(play(OK + lines + ending).permit())
    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.HEADERS_TOO_LARGE


def test_endless_head(play: Play) -> None:
    """A head without end stops at the limit."""

    def script(peer: Conversation) -> None:
        peer.request()
        peer.send(OK)
        while True:
            peer.send(b"X-Again: and again\r\n" * 100)

    exchange = fetch(play(script).permit())
    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.HEADERS_TOO_LARGE


def test_long_but_allowed_header(play: Play) -> None:
    """A single header may be as long as the limit of the head."""
    exchange = fetch(play(OK + b"X: " + b"a" * 60_000 + b"\r\nContent-Length: 0\r\n\r\n").permit())
    assert exchange.failure is None
    assert len(exchange.header("x") or "") == 60_000


def test_refused_connection() -> None:
    """A refused connection is a failure."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    exchange = fetch(_permit_for("127.0.0.1", port))
    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.REFUSED


def test_connection_that_is_never_accepted() -> None:
    """A connection that is never accepted fails after the time limit for connecting."""
    with socket.socket() as listener:  # further attempts wait while the backlog is full
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address, port = listener.getsockname()
        waiting = [_start_connecting(address, port) for _ in range(4)]
        exchange = fetch(_permit_for(address, port), limits=FetchLimits(connect_s=0.3))
        for sock in waiting:
            sock.close()
    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.TIMEOUT_CONNECT


def _start_connecting(address: str, port: int) -> socket.socket:
    sock = socket.socket()
    sock.setblocking(False)
    sock.connect_ex((address, port))
    return sock


def _permit_for(address: str, port: int) -> Permit:
    url = f"http://{address}:{port}/"
    return Permit(url=url, origin=url, host=address, address=address, port=port, agent=AGENT, granted_at=0.0)


def test_reset_before_a_response(play: Play) -> None:
    """A reset is a failure, and the request is not repeated."""

    def script(peer: Conversation) -> None:
        peer.request()
        peer.reset()

    server = play(script)
    exchange = fetch(server.permit())
    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.RESET
    assert len(server.requests) == 1


def test_close_without_a_response(play: Play) -> None:
    """A connection closed without a response is a failure, and the request is not repeated."""
    server = play(b"")
    exchange = fetch(server.permit())
    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.RESET
    assert len(server.requests) == 1


@pytest.mark.parametrize("framing", [b"", b"Content-Length: 99\r\n"])
def test_reset_in_the_body(play: Play, framing: bytes) -> None:
    """A reset in the body marks it as truncated, even if the body has no announced length."""

    def script(peer: Conversation) -> None:
        peer.request()
        peer.send(OK + framing + b"\r\nhello")
        peer.pause(0.05)
        peer.reset()

    exchange = fetch(play(script).permit())
    assert (exchange.status, exchange.body, exchange.truncated) == (200, b"hello", "disconnect")


def test_no_response(play: Play) -> None:
    """If no data arrives, the exchange fails after the time limit for the first byte."""

    def script(peer: Conversation) -> None:
        peer.request()
        peer.wait_for_close()

    exchange = fetch(play(script).permit(), limits=FetchLimits(first_byte_s=0.2))
    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.TIMEOUT_FIRST_BYTE


def _send_slowly(before: bytes) -> Callable[[Conversation], None]:
    def script(peer: Conversation) -> None:
        peer.request()
        peer.send(before)
        while peer.pause(0.02):
            peer.send(b"a")

    return script


def test_slow_head(play: Play) -> None:
    """A head that arrives byte by byte fails after the total time limit."""
    exchange = fetch(play(_send_slowly(OK + b"X: ")).permit(), limits=FetchLimits(first_byte_s=1.0, total_s=1.5))
    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.TIMEOUT_TOTAL


def test_slow_body(play: Play) -> None:
    """A body that arrives byte by byte is truncated at the total time limit, and the received part is kept."""
    exchange = fetch(play(_send_slowly(OK + b"\r\n")).permit(), limits=FetchLimits(first_byte_s=1.0, total_s=1.5))
    assert (exchange.failure, exchange.truncated) == (None, "time")
    assert exchange.body.strip(b"a") == b""
    assert len(exchange.body) > 2


def test_stalled_body(play: Play) -> None:
    """A body that stops arriving is truncated after `first_byte_s` without data, before the total time limit."""

    def script(peer: Conversation) -> None:
        peer.request()
        peer.send(OK + b"Content-Length: 99\r\n\r\nhello")
        peer.wait_for_close()

    exchange = fetch(play(script).permit(), limits=FetchLimits(first_byte_s=1.0, total_s=60.0))
    assert (exchange.body, exchange.truncated) == (b"hello", "time")


def test_a_slow_host_does_not_slow_others(play: Play) -> None:
    """While one host responds slowly, another responds twenty times."""
    slow, fast = play(_send_slowly(OK + b"\r\n")), play(answering(HELLO))

    async def use(web: HttpWeb) -> bool:
        slow_fetch = asyncio.create_task(web.fetch(slow.permit()))
        for _ in range(20):
            assert (await web.fetch(fast.permit())).body == b"hello"
        is_done = slow_fetch.done()
        slow_fetch.cancel()
        await asyncio.gather(slow_fetch, return_exceptions=True)
        return is_done

    assert not with_web(use, limits=FetchLimits(first_byte_s=20.0, total_s=20.0))


def test_wrong_content_encoding(play: Play) -> None:
    """A body with a wrong or doubled content coding is kept as sent, and decoding tolerates it."""
    for body, coding, text in (
        (b"plain text", "gzip", b"plain text"),
        (gzip.compress(b"plain text"), "gzip, gzip", b"plain text"),
    ):
        raw = OK + f"Content-Encoding: {coding}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        exchange = fetch(play(raw).permit())
        decoded = decode(exchange.body, exchange.header("content-encoding"), max_bytes=10**6, max_ratio=100.0)

        assert exchange.body == body
        assert decoded.body == text
        assert decoded.problem == "not gzip data"


# ── time and cancelling ─────────────────────────────────────────────────────────────────────────────────────


def test_times_come_from_the_clock(play: Play) -> None:
    """`at` and `duration_s` come from the clock, which does not jump during the exchange."""
    server = play(HELLO)

    async def main() -> tuple[Exchange, float]:
        clock = JumpingClock(1_000_000.0)
        web = HttpWeb(clock, AddressGuard(["127.0.0.0/8:*"]), QUICK)
        sleeper = asyncio.create_task(clock.sleep_until(2_000_000.0))
        exchange = await web.fetch(server.permit())
        during = clock.now()
        await sleeper
        await web.close()
        return exchange, during

    exchange, during = asyncio.run(main())
    assert (exchange.at, exchange.duration_s, during) == (1_000_000.0, 0.0, 1_000_000.0)
    assert exchange.failure is None


def test_cancelling(play: Play) -> None:
    """A cancelled fetch frees its connection slot."""
    requested = threading.Event()

    def script(peer: Conversation) -> None:
        if peer.request().startswith(b"GET /slow"):
            requested.set()
            peer.wait_for_close()
        peer.send(HELLO)

    server = play(script)

    async def use(web: HttpWeb) -> Exchange:
        task = asyncio.create_task(web.fetch(server.permit("/slow")))
        await asyncio.to_thread(requested.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await web.fetch(server.permit("/"))

    assert with_web(use, connections=1).body == b"hello"
