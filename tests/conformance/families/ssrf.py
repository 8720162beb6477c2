"""URL forms that must not reach a private address, and controls that must pass.

Judged by counting connections, not by what is returned. The whole way (canonical URL, name, guard, socket, redirects)
runs in a network namespace in which every address is the same machine. Where none can be had, only the way up to
the socket is run, and nothing is connected to.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import Callable, Coroutine
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tests.conformance.case import Case, UnplayableError, count_error, rows_of
from tests.conformance.verdict import Verdict
from tests.fetch.name_server import Query, serving_names
from tests.fetch.namespace import ConnectionCounter, make_everything_local, run_inside, unshare_command
from webstrata import urls
from webstrata.clock import RealClock
from webstrata.errors import BadUrl
from webstrata.fetch.http.client import HttpWeb
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.request import FetchLimits
from webstrata.records import Exchange, Failure, Permit

FAMILY = "ssrf"

_PUBLIC, _PUBLIC_SIX = "93.184.216.34", "2606:2800:220:1::1"
_PRIVATE = "10.0.0.5"
_NAMES = {
    "public.test": (_PUBLIC,),
    "example.com": (_PUBLIC, _PUBLIC_SIX),
    "localhost.example.com": (_PUBLIC,),
    "localhost": ("127.0.0.1", "::1"),
    "multi.test": (_PUBLIC, "127.0.0.1"),
    "dual.test": (_PUBLIC, "::1"),
    "cname.test": ("127.0.0.1",),
}
"""What the test's name server says; every other name is private."""
_PORTS = (22, 25, 80, 443, 6379, 8443, 8888)
_LIMITS = FetchLimits(connect_s=2.0, first_byte_s=2.0, total_s=3.0)
_EVERYTHING = ("0.0.0.0/0:*", "[::/0]:*")


def run(folder: Path) -> Verdict:
    if unshare_command() is None:
        return _with_names(_judge, folder, AddressGuard(), None)
    return Verdict(**json.loads(run_inside(__name__, str(folder)))["guarded"])


def main(folder: Path) -> None:
    """Inside the namespace: with the guard, and once without it to see that holes would be counted."""
    make_everything_local()
    counter = ConnectionCounter()
    guarded = _with_names(_judge, folder, AddressGuard(), counter)
    unguarded = _with_names(_judge, folder, AddressGuard(_EVERYTHING), counter)
    rebinding = _with_names(_rebind, counter)
    print(json.dumps({"guarded": vars(guarded), "unguarded": vars(unguarded), "rebinding": rebinding}))


class _Names:
    """The answers of the name server: the table above; `*.rebind.test` change their mind after one answer."""

    def __init__(self) -> None:
        self._asked: set[Query] = set()

    def __call__(self, query: Query) -> tuple[str, ...]:
        addresses = _NAMES.get(query.name, (_PRIVATE,))
        if query.name.endswith(".rebind.test") and query not in self._asked:
            addresses = (_PUBLIC,)
        self._asked.add(query)
        return addresses


def _with_names(judge: Callable[..., Coroutine[Any, Any, Any]], *arguments: Any) -> Any:
    """Run a coroutine function that takes the address of a name server as its last argument."""
    with serving_names(_Names()) as names, asyncio.Runner() as runner:
        return runner.run(judge(*arguments, names.endpoint))


async def _judge(folder: Path, guard: AddressGuard, counter: ConnectionCounter | None, names: str) -> Verdict:
    """Every case as a watched URL and as a redirect's target; without a counter, no request is made."""
    verdict = Verdict()
    servers = await _serve() if counter else []
    web = HttpWeb(RealClock(), guard, _LIMITS, name_servers=[names])
    for name, row in rows_of(folder / "cases.json", verdict):
        case = Case(row if isinstance(row, dict) else {}, name)
        try:
            await _judge_row(case, web, counter, verdict)
        except Exception as error:  # any exception is a result of the row
            count_error(case.id, error, verdict)
    await web.close()
    for server in servers:
        server.close()
    return verdict


async def _judge_row(case: Case, web: HttpWeb, counter: ConnectionCounter | None, verdict: Verdict) -> None:
    url = case.text("url").replace("INTERNAL", _PRIVATE).replace("PUBLIC", _PUBLIC)
    is_allowed = case.choice("expect", ("allowed", "blocked")) == "allowed"
    if is_allowed:
        _require_known_name(url)
    if counter is None:
        expected = is_allowed or case.text("class") == "second-order"
        verdict.check(case.id, expected, await _reachable(web, url))
        return
    await _visit(web, url)
    direct = counter.take()
    await _visit(web, "http://public.test/", leads_to=url)
    redirected = counter.take()
    forbidden = [target for target in direct + redirected if target[0] not in (_PUBLIC, _PUBLIC_SIX)]
    arrived = bool(direct) if is_allowed else True
    verdict.check(f"{case.id} {case.text('url')!r}", ([], True), (forbidden, arrived))


def _require_known_name(url: str) -> None:
    """A host that must be reached needs an address here."""
    try:
        host = urls.host_of(urls.canonical(url))
    except BadUrl:
        return
    if host not in _NAMES and not _is_address(host):
        raise UnplayableError(f"the runner's name server has no address for {host!r}")


def _is_address(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


async def _rebind(counter: ConnectionCounter, names: str) -> dict[str, Any]:
    """Twenty names, each of which is public when first asked for and private ever after, visited twice."""
    servers = await _serve()
    opened = []
    for _ in range(2):
        web = HttpWeb(RealClock(), AddressGuard(), _LIMITS, name_servers=[names])
        for number in range(20):
            await _visit(web, f"http://{number}.rebind.test/")
            opened += counter.take()
        await web.close()
    for server in servers:
        server.close()
    return {"opened": len(opened), "forbidden": [target for target in opened if target[0] != _PUBLIC]}


async def _reachable(web: HttpWeb, url: str) -> bool:
    try:
        canonical = urls.canonical(url)
    except BadUrl:
        return False
    return not isinstance(await web.resolve(urls.host_of(canonical), urls.port_of(canonical)), Failure)


async def _visit(web: HttpWeb, url: str, leads_to: str | None = None) -> None:
    """What the crawl does with a URL: canonical form, address, request, and the same for every hop.

    `leads_to` is asked of the public server as the target of a redirect.
    """
    try:
        target: str | None = urls.canonical(url)
    except BadUrl:
        return
    _Server.location = leads_to
    for _ in range(4):
        if target is None:
            return
        exchange = await _fetch(web, target)
        location = exchange.header("location") if exchange is not None else None
        if exchange is not None and exchange.body.startswith(b"see "):
            location = exchange.body[4:].decode()
        target = urls.join(target, location) if location else None


async def _fetch(web: HttpWeb, url: str) -> Exchange | None:
    found = await web.resolve(urls.host_of(url), urls.port_of(url))
    if isinstance(found, Failure):
        return None
    address, port = found
    permit = Permit(
        url=url,
        origin=urls.origin(url),
        host=urls.host_of(url),
        address=address,
        port=port,
        agent="webstrata-test/1",
        granted_at=0.0,
    )
    return await web.fetch(permit)


class _Server(asyncio.Protocol):
    """Listens everywhere; redirects where it is told to, or tells of an address to go to."""

    location: str | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        target = data.split(b" ")[1].decode("latin-1") if data.startswith(b"GET ") else ""
        location, body = _Server.location, b"hello"
        _Server.location = None
        if target.startswith(("/redir?to=", "/redir307?to=")):
            location = unquote(target.partition("to=")[2])
        elif (target.count("/") == 1 and "-" in target) or target == "/webhook":
            body = b"see http://127.0.0.1/"  # a page that names an inner address
        lines = [b"HTTP/1.1 302 Found" if location else b"HTTP/1.1 200 OK", b"Content-Length: %d" % len(body)]
        if location:
            lines.append(b"Location: " + location.encode())
        self._transport.write(b"\r\n".join([*lines, b"", body]))


async def _serve() -> list[asyncio.Server]:
    loop = asyncio.get_running_loop()
    servers = []
    for port in _PORTS:
        listener = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
        servers.append(await loop.create_server(_Server, sock=listener))
    return servers


if __name__ == "__main__":
    main(Path(sys.argv[1]))
