"""Hosts that redirect: in circles, to other schemes, to addresses that may not be visited."""

from __future__ import annotations

from tests.attacks.behaviour import Behaviour, Serve, body, filled, moves
from tests.attacks.caller import Caller, Request
from tests.flows.scripted_servers import reply


async def _circle(caller: Caller, request: Request) -> None:
    caller.keep = True
    await caller.send(reply("", 301, Location="/b" if request.path == "/" else "/").wire)


async def _missing(caller: Caller, request: Request) -> None:
    await caller.send(reply("", 302).wire)


def _page_with(text: str) -> Serve:
    """A page whose text may contain `{…}` (see `filled`)."""

    async def serve(caller: Caller, request: Request) -> None:
        caller.keep = True
        await caller.send(reply(filled(text, caller, request)).wire)

    return serve


_FORBIDDEN = "127.0.14.1:{port}/"

REDIRECTS = (
    Behaviour("to-itself", "a redirect to the same URL", moves("/")),
    Behaviour("to-circle", "two URLs that redirect to each other", _circle),
    Behaviour("to-other", "two hosts that redirect to each other", moves("http://to-another.test/")),
    Behaviour("to-another", "the other of these two", moves("http://to-other.test/")),
    Behaviour("to-file", "a redirect to a file", moves("file:///etc/passwd")),
    Behaviour("to-script", "a redirect to javascript:", moves("javascript:alert(1)")),
    Behaviour("to-data", "a redirect to data:", moves("data:text/html,<p>x")),
    Behaviour("to-ftp", "a redirect to ftp:", moves("ftp://127.0.14.1/")),
    Behaviour("to-nothing", "a redirect without Location", _missing),
    Behaviour("to-empty", "a redirect with an empty Location", moves("")),
    Behaviour("to-junk", "a Location that is no URL", moves("http://[::1]:99999/%zz")),
    Behaviour("to-long", "a Location of 60,000 bytes", moves("/" + "l" * 60_000)),
    Behaviour("to-8-bit", "a Location with control characters and bytes above 127", moves("/\xe9\x01\x7f{n}")),
    Behaviour("to-https", "a redirect to https on a host without TLS", moves("https://{host}/")),
    Behaviour("to-private", "a redirect to a forbidden address", moves(f"http://{_FORBIDDEN}")),
    Behaviour("to-private-name", "a redirect to a name of a forbidden address", moves("http://forbidden.test/")),
    Behaviour("to-private-number", "a forbidden address as one number", moves("http://2130709505:{port}/")),
    Behaviour("to-private-hex", "a forbidden address in hexadecimal parts", moves("http://0x7f.0.0x0e.1:{port}/")),
    Behaviour("to-private-octal", "a forbidden address in octal parts", moves("http://0177.0.016.1:{port}/")),
    Behaviour("to-private-six", "a forbidden address within IPv6", moves("http://[::ffff:127.0.14.1]:{port}/")),
    Behaviour(
        "to-private-user", "a forbidden address after a user name", moves(f"http://to-private-user.test@{_FORBIDDEN}")
    ),
    Behaviour("to-private-port", "a forbidden port of an allowed address", moves("http://127.0.15.1:{other_port}/")),
    Behaviour("to-localhost", "a redirect to localhost", moves("http://localhost:{port}/")),
    Behaviour("to-metadata", "a redirect to the address of cloud metadata", moves("http://169.254.169.254/latest/")),
    Behaviour("to-private-307", "a forbidden address with status 307", moves(f"http://{_FORBIDDEN}", 307)),
    Behaviour(
        "to-private-robots",
        "robots.txt redirects to a forbidden address",
        moves(f"http://{_FORBIDDEN}robots.txt"),
        serves_robots=True,
    ),
    Behaviour(
        "to-private-meta",
        "a meta refresh to a forbidden address",
        _page_with(f'<meta http-equiv="refresh" content="0; url=http://{_FORBIDDEN}"><p>text'),
    ),
    Behaviour(
        "to-private-link",
        "links, images and a base at a forbidden address, followed as a site with requisites",
        _page_with(f'<base href="http://{_FORBIDDEN}"><p>text<a href="x">x</a><img src="y.png">'),
        site=True,
        requisites=True,
    ),
    Behaviour("to-choices", "status 300 with a list of choices", body(b"<a href=/1>1</a>", status=300)),
    Behaviour("to-305", "status 305, a proxy at a forbidden address", moves(f"http://{_FORBIDDEN}", 305)),
)
