"""An HTTP server for crash tests: every response is different, so every visit is a new version."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_count = itertools.count()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/robots.txt":
            status, body = 404, b"none"
        else:
            filler = "".join(f"<p>{i} {self.path}</p>" for i in range(100))
            status, body = 200, f"<title>{self.path}</title><p>version {next(_count)}</p>{filler}".encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A visitor that is killed hangs up: expected here."""


@contextmanager
def origin() -> Iterator[int]:
    """Serve on a free port of 127.0.0.1; yields the port."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
