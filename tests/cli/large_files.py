"""A web server that makes large files while it sends them, and holds them back where a test wants it."""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

MEASURED = (
    sys.executable,
    "-c",
    "import atexit, re, sys; from pathlib import Path; from webstrata.cli import main; out = Path(sys.argv.pop()); "
    "high_kb = lambda: re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1]; "
    "atexit.register(lambda: out.write_text(high_kb())); main()",
)
"""The program; it writes its largest resident memory in KB to the file that is its last argument. (What the system
reports to the parent of a process includes the memory of the parent.)"""

_BLOCK = b"".join(hashlib.sha512(bytes([number])).digest() for number in range(256)) * 4


def blocks(size: int) -> Iterator[bytes]:
    """The content of a file of this size: every block has its number, so that none can be mistaken for another."""
    number = sent = 0
    while sent < size:
        block = (number.to_bytes(8, "big") + _BLOCK)[: size - sent]
        number += 1
        sent += len(block)
        yield block


def sha256(size: int) -> str:
    digest = hashlib.sha256()
    for block in blocks(size):
        digest.update(block)
    return digest.hexdigest()


class LargeFiles:
    """Serves `/file?size=N`. With `hold=M` it stops after M bytes until `go` is set; `end=M` closes there."""

    def __init__(self) -> None:
        self.held = threading.Event()
        """A response has reached the byte at which it is held."""
        self.go = threading.Event()
        files = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                asked = {name: int(values[0]) for name, values in parse_qs(urlsplit(self.path).query).items()}
                self.send_response(200 if "size" in asked else 404)
                self.send_header("Content-Type", "application/octet-stream")
                self.send_header("Content-Length", str(asked.get("size", 0)))
                self.end_headers()
                try:
                    files.send(self, asked)
                except OSError:  # the crawler was killed
                    self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]

    def send(self, request: BaseHTTPRequestHandler, asked: dict[str, int]) -> None:
        sent = 0
        for block in blocks(asked.get("size", 0)):
            request.wfile.write(block)
            sent += len(block)
            if "end" in asked and sent >= asked["end"]:
                request.close_connection = True
                return
            if "hold" in asked and sent >= asked["hold"] and not self.go.is_set():
                request.wfile.flush()
                self.held.set()
                self.go.wait(120)

    def url(self, **asked: int) -> str:
        query = "&".join(f"{name}={value}" for name, value in asked.items())
        return f"http://127.0.0.1:{self.port}/file?{query}"

    @property
    def settings(self) -> dict[str, str]:
        """Environment variables: the crawler may visit the server, without delays, and holds 2 MB in memory."""
        return {
            "WEBSTRATA_FETCH_ALLOW_PRIVATE": f"127.0.0.1/32:{self.port}",
            "WEBSTRATA_FETCH_MAX_BODY": "10GB",
            "WEBSTRATA_FETCH_MAX_PARSED": "2MB",
            "WEBSTRATA_POLITE_DELAY": "0s",
            "WEBSTRATA_POLITE_ADDRESS_DELAY": "0s",
        }


@contextmanager
def large_files() -> Iterator[LargeFiles]:
    files = LargeFiles()
    thread = threading.Thread(target=files.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield files
    finally:
        files.go.set()
        files.server.shutdown()
        thread.join()
        files.server.server_close()
