"""Hosts with ordinary messages and hostile contents: cloaking, traps, characters that deceive."""

from __future__ import annotations

import random

from tests.attacks.behaviour import PAGE, Behaviour, body, in_turn, page
from tests.attacks.caller import Caller, Request
from tests.flows.scripted_servers import reply


def _words(seed: object, count: int) -> str:
    rng = random.Random(str(seed))
    return " ".join("".join(rng.choice("abcdefghijklmnop") for _ in range(7)) for _ in range(count))


async def _new_each_time(caller: Caller, request: Request) -> None:
    caller.keep = True
    text = "".join(f"<p>{_words((caller.number, n), 40)}</p>" for n in range(200))
    await caller.send(reply(f"<!doctype html><title>{_words(caller.number, 3)}</title><main>{text}</main>").wire)


async def _clock(caller: Caller, request: Request) -> None:
    caller.keep = True
    await caller.send(reply(f"<!doctype html><title>Clock</title><main><p>It is {request.at:.6f}.</main>").wire)


async def _soft_error(caller: Caller, request: Request) -> None:
    """Every URL is an error page with status 200 that contains the URL and links to further ones."""
    caller.keep = True
    links = "".join(f'<a href="{request.path}x{n}">try this</a> ' for n in range(20))
    await caller.send(reply(f"<title>Not found</title><p>{request.path} was not found.</p>{links}").wire)


async def _calendar(caller: Caller, request: Request) -> None:
    caller.keep = True
    month = int(request.path.rpartition("=")[2] or 0) if "=" in request.path else 0
    links = "".join(f'<a href="/?month={month + n}">month {month + n}</a> ' for n in range(1, 25))
    await caller.send(reply(f"<title>Month {month}</title><p>No events in month {month}.</p>{links}").wire)


async def _sessions(caller: Caller, request: Request) -> None:
    caller.keep = True
    links = "".join(f'<a href="/p{n}?session={caller.number}{n:04}">p{n}</a> ' for n in range(50))
    await caller.send(reply(f"<title>Shop</title><p>welcome</p>{links}").wire)


async def _deeper(caller: Caller, request: Request) -> None:
    """A relative link that makes each path longer."""
    caller.keep = True
    await caller.send(reply(f'<title>a</title><p>a</p><a href="{request.path.rstrip("/")}/a/">a</a>').wire)


async def _facets(caller: Caller, request: Request) -> None:
    caller.keep = True
    links = "".join(f'<a href="/?a={a}&b={b}&c={caller.number}">{a} {b}</a> ' for a in range(30) for b in range(30))
    await caller.send(reply(f"<title>Facets</title><p>{links}").wire)


async def _subdomains(caller: Caller, request: Request) -> None:
    links = "".join(f'<a href="http://s{n}-{caller.number}.{request.host}/">s{n}</a> ' for n in range(100))
    await caller.send(reply(f"<title>Subdomains</title><p>{links}").wire)


async def _images(caller: Caller, request: Request) -> None:
    caller.keep = True
    images = "".join(f'<img src="/i{caller.number}-{n}.png">' for n in range(1000))
    await caller.send(reply(f"<title>Images</title><p>{images}").wire)


_SURROGATES = b"<title>\xed\xa0\x80\xed\xbf\xbf</title><main><p>\xed\xa0\x80 text \xf4\x90\x80\x80 \xff\xfe</main>"
_JSON_SURROGATES = b'{"title": "\\ud800", "\\udfff": ["\\ud800\\ud800", "\\u0000"]}'
_ESCAPES = (
    "<title>\x1b]0;owned\x07\x1b[2J\x1b[31mred \x9b2J</title><main><p>\x1b[8mhidden\x1b]8;;file:///etc\x07</main>"
)
_BIDI = (
    "<title>\u202egpj.exe \u2066\u2067\u200b\u200f</title><main><p>\u202eturned\u202c a\u0300\u0301" + "\u0301" * 5000
)
_ENTITIES = "<title>&#xD800;&#0;&#x110000;</title><main><p>" + "&lt;" * 200_000 + "&notit;&#99999999999;</main>"

CONTENT = (
    Behaviour("new-each-time", "another content at every visit", _new_each_time),
    Behaviour("new-clock", "the time of day as the content", _clock),
    Behaviour(
        "new-type",
        "HTML and JSON by turns",
        in_turn(
            page(), body(b'{"a": 1}', kind="application/json"), page(), body(b"[1]", kind="application/json"), page()
        ),
    ),
    Behaviour("soft-errors", "status 200 and an error page for everything", _soft_error, site=True),
    Behaviour("trap-calendar", "a calendar without end", _calendar, site=True),
    Behaviour("trap-sessions", "a session number in each link", _sessions, site=True),
    Behaviour("trap-deeper", "a relative link that makes each path longer", _deeper, site=True),
    Behaviour("trap-facets", "900 combinations of parameters on each page", _facets, site=True),
    Behaviour("trap-subdomains", "links to ever new subdomains", _subdomains, site=True),
    Behaviour("trap-images", "1,000 new images on each visit", _images, requisites=True),
    Behaviour(
        "text-escapes",
        "terminal escapes in the title",
        body(_ESCAPES.encode("latin-1"), kind="text/html; charset=latin-1"),
    ),
    Behaviour("text-bidi", "characters that change the direction of text", body(_BIDI.encode())),
    Behaviour("text-surrogates", "lone surrogates in UTF-8", body(_SURROGATES)),
    Behaviour("text-json-surrogates", "lone surrogates in JSON", body(_JSON_SURROGATES, kind="application/json")),
    Behaviour("text-nul", "NUL bytes within tags and text", body(b"<ti\0tle>n\0ul</title><p>te\0xt" + b"\0" * 9000)),
    Behaviour("text-entities", "invalid and very many entities", body(_ENTITIES.encode())),
    Behaviour("text-title", "a title of 5 MB", body(b"<title>" + b"long " * 1_000_000 + b"</title><p>x")),
    Behaviour("text-empty", "an empty body with status 200", body(b"")),
    Behaviour("text-one-byte", "a body of one byte", body(b"<")),
    Behaviour(
        "text-charsets",
        "three contradictory character sets",
        body(b'\xfe\xff<meta charset="koi8-r"><p>\xe9' + PAGE, kind="text/html; charset=shift_jis"),
    ),
)
