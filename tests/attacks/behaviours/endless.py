"""Hosts whose answers have no end: bodies, heads, framing, redirects, lists."""

from __future__ import annotations

import zlib

from tests.attacks.behaviour import CHUNKED, PIECE, UNTIL_CLOSE, Behaviour, chunk, floods
from tests.attacks.behaviours.sparql_pages import dataset_page
from tests.attacks.caller import Caller, Request
from tests.flows.scripted_servers import reply

_START = b"HTTP/1.1 200 OK\r\n"


async def _redirects(caller: Caller, request: Request) -> None:
    caller.keep = True
    await caller.send(reply("", 302, Location=f"/{caller.number}").wire)


async def _hosts(caller: Caller, request: Request) -> None:
    """Redirects to ever new names; none of them resolves."""
    caller.keep = True
    await caller.send(reply("", 302, Location=f"http://n{caller.number}.{request.host}/").wire)


async def _sparql(caller: Caller, request: Request) -> None:
    """Every page has 500 rows, whatever is asked for."""
    caller.keep = True
    await caller.send(dataset_page(request, 500))


async def _index(caller: Caller, request: Request) -> None:
    """A sitemap index of 500 sitemap indexes, each of which lists 500 more."""
    caller.keep = True
    if request.path == "/":
        await caller.send(reply("<title>Start</title><p>start").wire)
        return
    prefix = request.path.removesuffix(".xml")
    places = "".join(f"<sitemap><loc>http://{request.host}{prefix}-{n}.xml</loc></sitemap>" for n in range(500))
    text = f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</sitemapindex>'
    await caller.send(reply(text, kind="application/xml").wire)


async def _sitemap(caller: Caller, request: Request) -> None:
    """A sitemap of 50,000 pages of this host."""
    caller.keep = True
    if request.path != "/sitemap.xml":
        await caller.send(reply(f"<title>{request.path}</title><p>page").wire)
        return
    places = "".join(f"<url><loc>http://{request.host}/{n}</loc></url>" for n in range(50_000))
    text = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</urlset>'
    await caller.send(reply(text, kind="application/xml").wire)


async def _links(caller: Caller, request: Request) -> None:
    caller.keep = True
    links = "".join(f'<a href="{request.path.rstrip("/")}/{n}">{n}</a> ' for n in range(200))
    await caller.send(reply(f"<!doctype html><title>{request.path}</title><p>{links}").wire)


async def _interim(caller: Caller, request: Request) -> None:
    while True:
        await caller.send(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n" * 500)


async def _gzip(caller: Caller, request: Request) -> None:
    """A gzip stream without end that decodes to a thousand times its size."""
    await caller.send(UNTIL_CLOSE.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n"))
    stream = zlib.compressobj(9, zlib.DEFLATED, 31)
    while True:
        await caller.send(stream.compress(b" " * 4_000_000) or b"")
        await caller.pause(0.05)


_FEED = b'<?xml version="1.0"?><rss version="2.0"><channel><title>Endless</title>'
_ITEMS = b"<item><title>Entry</title><link>http://endless-feed.test/e</link></item>\n" * 800
_SIZES = b"1;" + b"x" * 65_000

ENDLESS = (
    Behaviour("endless-body", "a body without length that does not end", floods(UNTIL_CLOSE, PIECE)),
    Behaviour("endless-chunks", "chunks without end", floods(CHUNKED, chunk(PIECE))),
    Behaviour(
        "endless-small-chunks",
        "chunks of one byte without end",
        floods(CHUNKED, b"1\r\nx\r\n" * 8000),
    ),
    Behaviour(
        "endless-length",
        "a body as long as announced: 10^15 bytes",
        floods(_START + b"Content-Length: 1000000000000000\r\n\r\n", PIECE),
    ),
    Behaviour("endless-headers", "header fields without end", floods(_START, b"X-A: b\r\n" * 8000)),
    Behaviour("endless-header", "one header field without end", floods(_START + b"X-A: ", b"a" * 65_000)),
    Behaviour("endless-status", "a status line without end", floods(b"HTTP/1.1 200 ", b"OK" * 32_000)),
    Behaviour("endless-blank", "empty lines before the status line", floods(b"", b"\r\n" * 32_000)),
    Behaviour(
        "endless-extension",
        "the extension of a chunk does not end",
        floods(CHUNKED + _SIZES, b"x" * 65_000),
    ),
    Behaviour(
        "endless-extensions",
        "each chunk of one byte has an extension of 16 KB",
        floods(CHUNKED, (b"1;" + b"e" * 16_000 + b"\r\nx\r\n") * 4),
    ),
    Behaviour("endless-zeros", "the digits of a chunk size do not end", floods(CHUNKED, b"0" * 65_000)),
    Behaviour(
        "endless-trailers",
        "trailer fields without end",
        floods(CHUNKED + b"0\r\n", b"X-Trailer: value\r\n" * 4000),
    ),
    Behaviour("endless-interim", "responses 103 without end", _interim),
    Behaviour("endless-redirects", "each redirect leads to another one", _redirects),
    Behaviour("endless-hosts", "redirects to ever new names without address", _hosts),
    Behaviour(
        "endless-sparql",
        "every page of a SPARQL dataset is full",
        _sparql,
        path="/sparql",
        handler="sparql",
    ),
    Behaviour(
        "endless-index",
        "sitemap indexes of sitemap indexes",
        _index,
        robots="Sitemap: http://endless-index.test/i.xml\n",
        site=True,
    ),
    Behaviour(
        "endless-sitemap",
        "a sitemap of 50,000 pages",
        _sitemap,
        robots="Sitemap: http://endless-sitemap.test/sitemap.xml\n",
        site=True,
    ),
    Behaviour("endless-links", "200 deeper links on every page", _links, site=True),
    Behaviour(
        "endless-feed",
        "an RSS feed without end",
        floods(_START + b"Content-Type: application/rss+xml\r\n\r\n" + _FEED, _ITEMS),
        path="/news.rss",
    ),
    Behaviour(
        "endless-json",
        "a JSON list without end",
        floods(_START + b"Content-Type: application/json\r\n\r\n[", b'{"a":[1,2,3]},' * 4500),
    ),
    Behaviour(
        "endless-line",
        "plain text in one line without end",
        floods(_START + b"Content-Type: text/plain\r\n\r\n", b"word " * 13_000),
    ),
    Behaviour("endless-gzip", "a gzip stream without end, a thousand to one", _gzip),
    Behaviour(
        "endless-robots",
        "a robots.txt without end",
        floods(_START + b"Content-Type: text/plain\r\n\r\n", b"Disallow: /something\n" * 3000),
        serves_robots=True,
    ),
    Behaviour(
        "endless-css",
        "style sheets without end, asked for as a requisite",
        floods(_START + b"Content-Type: text/css\r\n\r\n", b"p { color: red }\n" * 4000),
        path="/style.css",
    ),
)
