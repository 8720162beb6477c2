"""POST requests are recorded as they were sent."""

from __future__ import annotations

import socket
import threading

from tests.fetch.conftest import with_web
from webstrata.fetch.http.client import HttpWeb
from webstrata.records import Exchange, Permit, PostBody


def test_recorded_request() -> None:
    """The recorded head and body of a POST are identical to what the server received."""
    received = bytearray()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def serve() -> None:
            peer, _ = listener.accept()
            with peer:
                while not received.endswith(b"=ASK"):
                    received.extend(peer.recv(65536))
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        permit = Permit(
            url=f"http://127.0.0.1:{port}/sparql",
            origin=f"http://127.0.0.1:{port}",
            host="127.0.0.1",
            address="127.0.0.1",
            port=port,
            agent="x",
            granted_at=0.0,
        )
        posted = PostBody(body=b"query=ASK", content_type="application/x-www-form-urlencoded")

        async def use(web: HttpWeb) -> Exchange:
            return await web.fetch(permit, accept="text/csv", posted=posted)

        exchange = with_web(use)
        thread.join(5)
    assert exchange.failure is None
    assert exchange.body == b"ok"
    assert exchange.request_head + exchange.request_body == bytes(received)
    assert b"\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n" in exchange.request_head
