"""Hosts that are slow: they answer a little at a time, late, or never."""

from __future__ import annotations

import gzip

from tests.attacks.behaviour import CHUNKED, PAGE, UNTIL_CLOSE, Behaviour, Serve, body, chunk, drips, in_turn, page
from tests.attacks.behaviours.sparql_pages import dataset_page
from tests.attacks.caller import Caller, Request
from tests.flows.scripted_servers import reply

_LONG = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 1000000\r\n\r\n"


async def _chunks(caller: Caller, request: Request) -> None:
    await caller.send(CHUNKED)
    while True:
        await caller.send(chunk(b"<p>another paragraph</p>"))
        await caller.pause(1.0)


async def _redirects(caller: Caller, request: Request) -> None:
    """Each redirect has a body that takes eight seconds."""
    hop = caller.number
    await caller.send(b"HTTP/1.1 302 Found\r\nLocation: /hop-%d\r\nContent-Length: 16\r\n\r\n" % hop)
    for _ in range(16):
        await caller.pause(0.5)
        await caller.send(b".")


async def _redirect_heads(caller: Caller, request: Request) -> None:
    for byte in b"HTTP/1.1 302 Found\r\nLocation: /hop-%d\r\nContent-Length: 0\r\n\r\n" % caller.number:
        await caller.send(bytes([byte]))
        await caller.pause(0.2)


def _after(seconds: float, then: Serve) -> Serve:
    async def serve(caller: Caller, request: Request) -> None:
        await caller.pause(seconds)
        await then(caller, request)

    return serve


async def _never(caller: Caller, request: Request) -> None:
    await caller.until_closed()


async def _half(caller: Caller, request: Request) -> None:
    await caller.send(_LONG + PAGE)
    await caller.until_closed()


async def _open_end(caller: Caller, request: Request) -> None:
    """The body ends with the connection, which does not end."""
    await caller.send(UNTIL_CLOSE + PAGE)
    await caller.until_closed()


async def _interim(caller: Caller, request: Request) -> None:
    while True:
        await caller.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        await caller.pause(1.0)


async def _trailers(caller: Caller, request: Request) -> None:
    await caller.send(CHUNKED + chunk(PAGE) + b"0\r\n")
    while True:
        await caller.send(b"X-Late: 1\r\n")
        await caller.pause(1.0)


async def _sparql(caller: Caller, request: Request) -> None:
    """One more row on every page, after a second: the dataset has no end."""
    await caller.pause(1.0)
    caller.keep = True
    await caller.send(dataset_page(request, 2))


async def _site(caller: Caller, request: Request) -> None:
    """Forty pages that take ten seconds each."""
    await caller.pause(10.0 if request.path != "/" else 0.1)
    links = "".join(f'<p><a href="/page-{n}">page {n}</a></p>' for n in range(40))
    await caller.send(reply(f"<!doctype html><title>{request.path}</title>{links}").wire)


async def _bursts(caller: Caller, request: Request) -> None:
    """Ten kilobytes and then nothing for twenty seconds: each read succeeds before its own time limit."""
    await caller.send(_LONG)
    while True:
        await caller.send(PAGE * 100)
        await caller.pause(20.0)


SLOW = (
    Behaviour("slow-body", "one byte of the body every half second", drips(_LONG, PAGE, 0.5)),
    Behaviour("slow-body-10s", "one byte of the body every ten seconds", drips(_LONG, PAGE, 10.0)),
    Behaviour(
        "slow-head",
        "one byte of the head every half second",
        drips(b"", b"HTTP/1.1 200 OK\r\nX: ", 0.5),
    ),
    Behaviour(
        "slow-head-10s",
        "one byte of the head every ten seconds",
        drips(b"", b"HTTP/1.1 200 OK", 10.0),
    ),
    Behaviour("slow-chunks", "one small chunk every second, without end", _chunks),
    Behaviour("slow-chunk-size", "the digits of a chunk size, one a second", drips(CHUNKED, b"0", 1.0)),
    Behaviour("slow-redirects", "redirects without end, eight seconds each", _redirects),
    Behaviour("slow-redirect-heads", "redirects whose heads drip", _redirect_heads),
    Behaviour(
        "slow-robots",
        "robots.txt drips",
        drips(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n", b"User-agent: *\nDisallow:\n", 0.5),
        serves_robots=True,
    ),
    Behaviour(
        "slow-robots-answer",
        "robots.txt comes after 40 seconds",
        _after(40.0, body(b"User-agent: *\nDisallow:\n", kind="text/plain")),
        serves_robots=True,
    ),
    Behaviour("slow-answer", "a page comes after 50 seconds", _after(50.0, page())),
    Behaviour("slow-answers", "every page takes four seconds", _after(4.0, page())),
    Behaviour("slow-never", "the request is read and never answered", _never),
    Behaviour("slow-half", "half of a body, and then nothing", _half),
    Behaviour("slow-open-end", "a body without length whose connection stays open", _open_end),
    Behaviour("slow-interim", "a response 100 every second, never a final one", _interim),
    Behaviour("slow-trailers", "a trailer field every second, without end", _trailers),
    Behaviour(
        "slow-sparql",
        "a SPARQL dataset with another row on each page, a second each",
        _sparql,
        path="/sparql",
        handler="sparql",
    ),
    Behaviour("slow-site", "a site of 40 pages that take ten seconds each", _site, site=True),
    Behaviour("slow-bursts", "ten kilobytes every twenty seconds", _bursts),
    Behaviour(
        "slow-gzip",
        "a gzip body, one byte every half second",
        drips(_LONG.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n"), gzip.compress(PAGE * 50), 0.5),
    ),
    Behaviour(
        "slow-sometimes",
        "a good page first, then one byte every half second",
        in_turn(page(), drips(_LONG, PAGE, 0.5)),
    ),
)
