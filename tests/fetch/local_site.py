"""A small site on loopback, and visits to it by a handler, with real sockets and the real gate but no delays."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

import uvloop

from webstrata.clock import RealClock
from webstrata.fetch.http.client import HttpWeb
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.request import FetchLimits
from webstrata.flows.crawl.requests.polite_client import PoliteClient
from webstrata.flows.crawl.requests.polite_visit import PoliteVisit
from webstrata.permit.gate import PermitGate
from webstrata.permit.spacing import PolitenessRules
from webstrata.ports import Handler
from webstrata.records import Page, PageRules, VisitResult, Wait

AGENT = "webstrata-test/1 (+https://example.org/bot)"


class Asked(NamedTuple):
    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class Answer(NamedTuple):
    status: int = 200
    headers: dict[str, str] = {}  # noqa: RUF012 - never changed
    body: bytes = b""
    length: int | None = None
    """A wrong Content-Length to send."""


Answering = Callable[[Asked], Answer]


class Site:
    """The address of a server and the requests that it received."""

    def __init__(self, port: int, asked: list[Asked]) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.port = port
        self.asked = asked

    @property
    def targets(self) -> list[str]:
        """The targets of all requests except those for robots.txt."""
        return [request.target for request in self.asked if request.target != "/robots.txt"]


@contextmanager
def serving(answering: Answering) -> Iterator[Site]:
    """Serve on a free port of loopback. The function returns the response to each request."""
    asked: list[Asked] = []

    class RequestHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Asked(self.command, self.path, headers, self.rfile.read(length))
            asked.append(request)
            answer = answering(request)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body) if answer.length is None else answer.length))
            self.end_headers()
            self.wfile.write(answer.body)
            if answer.length is not None:
                self.close_connection = True

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), RequestHandler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield Site(server.server_address[1], asked)
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def pages(**bodies: Answer) -> Answering:
    """Responses by path (`/name`); 404 for other paths."""
    return lambda asked: bodies.get(asked.target.partition("?")[0].strip("/") or "index", Answer(404))


def page_at(url: str, **page_rules: object) -> Page:
    return Page(id=1, url=url, host="127.0.0.1", page_rules=PageRules(**page_rules) if page_rules else None)  # type: ignore[arg-type]


def visit(
    handler: Handler | Callable[[], Handler], page: Page, *, allow: tuple[str, ...] = ("127.0.0.1/32:*",)
) -> VisitResult | Wait:
    """One visit with address guard, robots.txt, permits and sockets."""

    async def main() -> VisitResult | Wait:
        clock = RealClock()
        web = HttpWeb(clock, AddressGuard(allow), FetchLimits(connect_s=2.0, first_byte_s=2.0, total_s=5.0))
        gate = PermitGate(
            PolitenessRules(
                agent=AGENT,
                token="webstrata",
                delay_s=0.0,
                delay_factor=0.0,
                address_delay_s=0.0,
                connections_per_host=4,
            )
        )
        client = PoliteClient(web, gate, clock, max_redirects=5)
        visit_client = PoliteVisit(client, patience_until=clock.now() + 30)
        try:
            created = handler() if callable(handler) else handler
            return await created.visit(page, visit_client)
        finally:
            await client.close()
            await web.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main())


def visited(handler: Handler | Callable[[], Handler], page: Page, **options: tuple[str, ...]) -> VisitResult:
    result = visit(handler, page, **options)
    assert isinstance(result, VisitResult)
    return result
