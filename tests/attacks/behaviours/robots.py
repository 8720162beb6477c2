"""Hosts whose robots.txt is hostile."""

from __future__ import annotations

from tests.attacks.behaviour import PAGE, Behaviour, Serve, body, in_turn, moves, page, sends
from tests.attacks.behaviours.compressed import repeated_gzip
from tests.attacks.caller import Caller, Request
from tests.flows.scripted_servers import reply


def _robots(answer: Serve) -> Serve:
    """Requests for robots.txt get this answer, all others a page."""

    async def serve(caller: Caller, request: Request) -> None:
        await (answer if request.path.startswith("/robots") else page())(caller, request)

    return serve


def _text(content: bytes | str, status: int = 200, **headers: str) -> Serve:
    raw = content.encode() if isinstance(content, str) else content
    return _robots(body(raw, kind="text/plain", status=status, **headers))


async def _chain(caller: Caller, request: Request) -> None:
    caller.keep = True
    await caller.send(reply("", 302, Location=f"{request.path}-").wire)


async def _refused(caller: Caller, request: Request) -> None:
    caller.hold_s = 20.0
    await caller.send(reply("later", 429, Retry_After="20").wire)


async def _reset(caller: Caller, request: Request) -> None:
    caller.reset()


_RULES = b"User-agent: *\nDisallow: /private\n"
_flips = 0


async def _flip(caller: Caller, request: Request) -> None:
    """The first robots.txt permits everything, later ones nothing."""
    global _flips
    _flips += 1
    await caller.send(reply("User-agent: *\nDisallow: /\n" if _flips > 1 else "", kind="text/plain").wire)


def _bomb() -> bytes:
    return repeated_gzip(b"\n" * 1_000_000, 100)


def _delay(value: str) -> str:
    return f"User-agent: *\nCrawl-delay: {value}\n"


ROBOTS = (
    Behaviour("robots-huge", "20 MB of rules", _text(_RULES + b"Disallow: /a\n" * 1_500_000), serves_robots=True),
    Behaviour("robots-line", "one line of 2 MB", _text(_RULES + b"Disallow: /" + b"x" * 2_000_000), serves_robots=True),
    Behaviour("robots-loop", "redirects to itself", _robots(moves("/robots.txt")), serves_robots=True),
    Behaviour("robots-chain", "redirects without end", _robots(_chain), serves_robots=True),
    Behaviour("robots-500", "status 500", _text("sorry", 500), serves_robots=True),
    Behaviour("robots-503", "status 503 with Retry-After: 0", _text("sorry", 503, Retry_After="0"), serves_robots=True),
    Behaviour("robots-429", "status 429 with Retry-After: 20", _robots(_refused), serves_robots=True),
    Behaviour("robots-401", "status 401", _text("who?", 401), serves_robots=True),
    Behaviour("robots-disallow", "everything is forbidden", page(), robots="User-agent: *\nDisallow: /\n"),
    Behaviour("robots-flip", "everything is permitted first and forbidden later", _robots(_flip), serves_robots=True),
    Behaviour("robots-reset", "a reset instead of an answer", _robots(_reset), serves_robots=True),
    Behaviour(
        "robots-cut",
        "the file ends before its length",
        _robots(sends(b"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\nUser-agent: *\n")),
        serves_robots=True,
    ),
    Behaviour("robots-delay-10", "Crawl-delay: 10", page(), robots=_delay("10"), gap_s=10.0),
    Behaviour("robots-delay-huge", "Crawl-delay: 10^9", page(), robots=_delay("1000000000"), gap_s=300.0),
    Behaviour("robots-delay-nan", "Crawl-delay: NaN", page(), robots=_delay("NaN")),
    Behaviour("robots-delay-infinite", "Crawl-delay: 1e999", page(), robots=_delay("1e999")),
    Behaviour("robots-delay-negative", "Crawl-delay: -1", page(), robots=_delay("-1")),
    Behaviour("robots-delay-junk", "Crawl-delay: often", page(), robots=_delay("often")),
    Behaviour(
        "robots-bom", "a byte order mark before the first line", _text(b"\xef\xbb\xbf" + _RULES), serves_robots=True
    ),
    Behaviour("robots-nul", "NUL bytes", _text(b"User-agent: *\0\nDisallow: /\0private\n\0\0"), serves_robots=True),
    Behaviour("robots-utf-16", "UTF-16", _text(_RULES.decode().encode("utf-16")), serves_robots=True),
    Behaviour("robots-html", "a page instead of rules", _robots(body(PAGE)), serves_robots=True),
    Behaviour("robots-bits", "bytes without meaning", _text(bytes(range(256)) * 100), serves_robots=True),
    Behaviour(
        "robots-bomb",
        "gzip that decodes to 100 MB",
        _robots(body(_bomb, kind="text/plain", Content_Encoding="gzip")),
        serves_robots=True,
    ),
    Behaviour(
        "robots-patterns",
        "rules that need much backtracking",
        page(),
        robots="User-agent: *\n" + "".join(f"Disallow: /{'*a' * 100}{n}$\n" for n in range(300)),
        path="/" + "a" * 1000,
    ),
    Behaviour(
        "robots-groups",
        "30,000 groups",
        _text("".join(f"User-agent: bot{n}\nDisallow: /\n\n" for n in range(30_000))),
        serves_robots=True,
    ),
    Behaviour(
        "robots-sitemaps",
        "10,000 sitemaps, watched as a site",
        page(),
        robots="".join(f"Sitemap: http://robots-sitemaps.test/s{n}.xml\n" for n in range(10_000)),
        site=True,
    ),
    Behaviour(
        "robots-soft",
        "permits by turns",
        _robots(in_turn(body(_RULES, kind="text/plain"), body(b"", kind="text/plain"))),
        serves_robots=True,
    ),
)
