"""Hosts whose header fields are hostile: validators, Retry-After, cookies, media types, links."""

from __future__ import annotations

import time

from tests.attacks.behaviour import PAGE, Behaviour, Serve, body, filled, in_turn, page
from tests.attacks.caller import Caller, Request
from tests.flows.scripted_servers import reply
from webstrata.permit.backoff import parse_retry_after


def _refuses(status: int, retry_after: str, hold_s: float | None = None) -> Serve:
    """Refuses every request. `hold_s`: the pause that is promised; by default what the value says."""

    async def serve(caller: Caller, request: Request) -> None:
        value = retry_after
        if retry_after == "date":
            value = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 40))
        # The date counts whole seconds, so the pause may be shorter by one.
        stated = 39.0 if retry_after == "date" else parse_retry_after(value, 0.0) or 0.0
        caller.hold_s = stated if hold_s is None else hold_s
        caller.keep = True
        await caller.send(reply("later", status, Retry_After=value).wire)

    return serve


def _with(**headers: str) -> Serve:
    """A page whose header values may contain `{…}` (see `filled`)."""

    async def serve(caller: Caller, request: Request) -> None:
        caller.keep = True
        values = {name: filled(value, caller, request) for name, value in headers.items()}
        await caller.send(reply(PAGE, **values).wire)  # type: ignore[arg-type]

    return serve


async def _etag_changes(caller: Caller, request: Request) -> None:
    caller.keep = True
    await caller.send(reply(PAGE, ETag=f'W/"{caller.number}"').wire)


async def _always_304(caller: Caller, request: Request) -> None:
    """A page first; then 304 to every request, conditional or not."""
    caller.keep = True
    first = reply(PAGE, ETag='"a"').wire
    await caller.send(first if caller.number == 1 else b"HTTP/1.1 304 Not Modified\r\n\r\n")


async def _cookies(caller: Caller, request: Request) -> None:
    cookies = b"".join(b"Set-Cookie: c%d=%s\r\n" % (n, b"v" * 40) for n in range(900))
    await caller.send(b"HTTP/1.1 200 OK\r\n" + cookies + b"Content-Length: 5\r\n\r\nhello")


async def _fields(caller: Caller, request: Request) -> None:
    fields = b"".join(b"F%d:\r\n" % n for n in range(8000))
    await caller.send(b"HTTP/1.1 200 OK\r\n" + fields + b"Content-Length: 5\r\n\r\nhello")


_PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 200
_LINKS = ", ".join(f"</l{n}>; rel=alternate; type=text/turtle" for n in range(1500))

HEADERS = (
    Behaviour("etag-tab", "an ETag with a tab", page(ETag='"a\tb"')),
    Behaviour("etag-del", "an ETag with DEL", page(ETag='"a\x7fb"')),
    Behaviour("etag-8-bit", "an ETag with bytes above 127", page(ETag='"\xe9\xff"')),
    Behaviour("etag-long", "an ETag of 60,000 bytes", page(ETag='"' + "e" * 60_000 + '"')),
    Behaviour("etag-bare", "an ETag without quotation marks", page(ETag='a b, "c", W/"d"')),
    Behaviour("etag-empty", "an empty ETag", page(ETag="")),
    Behaviour("etag-changes", "a new weak ETag for the same content", _etag_changes),
    Behaviour("etag-304", "status 304 to every request but the first", _always_304),
    Behaviour("modified-tab", "Last-Modified with a tab", page(Last_Modified="Mon, 01\tJan 2024 00:00:00 GMT")),
    Behaviour("modified-del", "Last-Modified with DEL", page(Last_Modified="Mon, 01 Jan 2024\x7f")),
    Behaviour("modified-8-bit", "Last-Modified with bytes above 127", page(Last_Modified="lundi, 1 f\xe9vrier")),
    Behaviour("modified-long", "Last-Modified of 60,000 bytes", page(Last_Modified="1" * 60_000)),
    Behaviour("modified-future", "Last-Modified in the year 9999", page(Last_Modified="Fri, 31 Dec 9999 23:59:59 GMT")),
    Behaviour("modified-junk", "Last-Modified: yesterday", page(Last_Modified="yesterday")),
    Behaviour("date-1970", "Date and Age of another time", page(Date="Thu, 01 Jan 1970 00:00:00 GMT", Age="9" * 30)),
    Behaviour("retry-0", "status 429 with Retry-After: 0", _refuses(429, "0")),
    Behaviour("retry-30", "status 503 with Retry-After: 30", _refuses(503, "30")),
    Behaviour("retry-date", "status 429 with a date in 40 seconds", _refuses(429, "date")),
    Behaviour("retry-huge", "status 429 with Retry-After: 10^20", _refuses(429, "1" + "0" * 20, hold_s=3600.0)),
    Behaviour("retry-junk", "status 503 with Retry-After: soon", _refuses(503, "soon", hold_s=60.0)),
    Behaviour("retry-negative", "status 429 with Retry-After: -5", _refuses(429, "-5", hold_s=60.0)),
    Behaviour("retry-past", "status 503 with a date in 1970", _refuses(503, "Thu, 01 Jan 1970 00:00:00 GMT")),
    Behaviour("retry-then-page", "status 503 with Retry-After: 10, then a page", in_turn(_refuses(503, "10"), page())),
    Behaviour("refresh-self", "a Refresh field that leads to the page itself", page(Refresh="0; url=/")),
    Behaviour(
        "refresh-forbidden", "a Refresh field to a forbidden address", _with(Refresh="0; url=http://127.0.14.1:{port}/")
    ),
    Behaviour(
        "link-forbidden",
        "a Link field to a forbidden address",
        _with(Link="<http://127.0.14.1:{port}/>; rel=alternate; type=text/turtle"),
        handler="rdf",
    ),
    Behaviour("link-storm", "1,500 links in a Link field", page(Link=_LINKS), handler="rdf"),
    Behaviour(
        "altsvc-forbidden", "an alternative service at a forbidden address", _with(Alt_Svc='h2="127.0.14.1:{port}"')
    ),
    Behaviour("cookie-storm", "900 cookies", _cookies),
    Behaviour("field-storm", "8,000 empty header fields", _fields),
    Behaviour("type-image-as-html", "an image that says it is HTML", body(_PNG)),
    Behaviour("type-html-as-image", "HTML that says it is an image", body(PAGE, kind="image/png")),
    Behaviour("type-html-as-pdf", "HTML that says it is a PDF", body(PAGE, kind="application/pdf")),
    Behaviour("type-none", "no media type", body(PAGE, kind="")),
    Behaviour("type-junk", "a media type that is none", body(PAGE, kind=';;;=\x01/*; charset="')),
    Behaviour("type-long", "a media type of 50,000 bytes", body(PAGE, kind="text/" + "x" * 50_000)),
    Behaviour("type-charset", "an unknown character set", body(PAGE, kind="text/html; charset=x-none-none")),
    Behaviour("type-utf-7", "UTF-7", body(b"+ADw-title+AD4-seven", kind="text/html; charset=utf-7")),
    Behaviour(
        "type-bits",
        "a body of bytes in a wrong character set",
        body(bytes(range(256)) * 99, kind="text/html; charset=utf-16"),
    ),
    Behaviour(
        "disposition-path",
        "a file name that leaves its folder",
        page(Content_Disposition='attachment; filename="../../../etc/cron.d/x"'),
    ),
    Behaviour(
        "location-200",
        "a Location in a response 200",
        page(Location="file:///etc/passwd", Content_Location="//127.0.14.1/"),
    ),
    Behaviour(
        "vary-star",
        "Vary: * and a content language that changes",
        in_turn(page(Vary="*", Content_Language="de"), page(Vary="*", Content_Language="en, \x07")),
    ),
)
