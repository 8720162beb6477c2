"""An honest capture of a small site over HTTP, made by the command line: the material of all forgeries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from tests.cli.conftest import call_here

STYLE = '<link rel="stylesheet" href="/s.css">'
WORDS = "words of a page that stay as they are, so that it is sharp"
LINKS = ("steady", "other", "changing", "moved", "gone", "flaky", "cached", "shell")
HOME = f"<title>Home</title>{STYLE}<h1>Home</h1><img src=/i.png>" + "".join(
    f"<a href=/{one}>{one}</a>" for one in LINKS
)
HTML = "text/html; charset=utf-8"


class HonestCapture(NamedTuple):
    """The file of the capture, its site, and the signing key, which attacks of a dishonest signer use."""

    file: Path
    site: str
    key: bytes
    """The private key (PEM)."""
    fingerprint: str


class _Handler(BaseHTTPRequestHandler):
    requests: Counter[str]

    def do_GET(self) -> None:
        self.requests[self.path] += 1
        times = self.requests[self.path]
        status, fields, text = 200, {"Content-Type": HTML}, ""
        match self.path.removeprefix("/"):
            case "":
                text = HOME
            case "steady" | "other":
                name = self.path[1:]
                text = f"<title>{name}</title>{STYLE}<h1>{name}</h1><p>{WORDS}"
            case "changing":
                text = f"<title>Changing</title><p>version {times} of this page"
            case "moved":
                status, fields = 301, {"Location": "/steady"}
            case "flaky":
                status = 500 if times == 2 else 200
                text = f"<title>Flaky</title><p>{WORDS}" if status == 200 else "<p>out of order"
            case "cached":
                fields |= {"Age": "3600", "X-Cache": "HIT"}
                text = f"<title>Cached</title><p>{WORDS}"
            case "shell":
                text = "<title>Shell</title><script src=/app.js></script><div id=app></div>"
            case "s.css":
                fields = {"Content-Type": "text/css", "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"}
                text = "p { color: red }"
            case "i.png" | "app.js":
                fields = {"Content-Type": "image/png" if self.path == "/i.png" else "text/javascript"}
                text = "the bytes of a file"
            case _:
                status, text = 404, "<p>not here"
        body = text.encode()
        self.send_response(status)
        for field, value in (fields | {"Content-Length": str(len(body))}).items():
            self.send_header(field, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        pass


@contextmanager
def _serving() -> Iterator[int]:
    handler = type("_CountingHandler", (_Handler,), {"requests": Counter()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def make_honest_capture(folder: Path) -> HonestCapture:
    """Capture the site into this folder."""
    home, out = folder / "home", folder / "honest.wacz"
    with _serving() as port:
        settings = {
            "WEBSTRATA_FETCH_ALLOW_PRIVATE": f"127.0.0.1/32:{port}",
            "WEBSTRATA_POLITE_DELAY": "0s",
            "WEBSTRATA_POLITE_ADDRESS_DELAY": "0s",
            "WEBSTRATA_CRAWL_WORKERS": "0",
        }
        site = f"http://127.0.0.1:{port}"
        created = call_here("--home", home, "init", "--contact", "someone@example.org")
        assert created.code == 0, created.err
        words = ("capture", f"{site}/", "--sharp", "--delay", "0.01s", "--out", out, "--json", "--quiet")
        result = call_here("--home", home, *words, stdin=b"", **settings)
        assert result.code == 0, result.err
    (one,) = result.json["captures"]
    (key,) = (home / "keys").glob("*.pem")
    return HonestCapture(out, site, key.read_bytes(), one["key"])
