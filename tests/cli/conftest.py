"""Fixtures: calls of the command line, the home of a demo run, a new home, and a local web server."""

from __future__ import annotations

import io
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import msgspec
import pytest

from webstrata.cli.app import main

PROGRAM = (sys.executable, "-c", "from webstrata.cli import main; main()")
DEMO_DAYS = 30
ALWAYS_DUE = {
    "WEBSTRATA_SCHEDULE_POLICY": "dyn",
    "WEBSTRATA_SCHEDULE_MIN_INTERVAL": "0.01s",
    "WEBSTRATA_SCHEDULE_START_INTERVAL": "0.01s",
}
"""Settings with which pages are due again immediately."""


class CommandResult(NamedTuple):
    """The exit code and the output of a command."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def json(self) -> Any:
        """The JSON document on stdout; decoding fails if there is other output."""
        return msgspec.json.decode(self.out)


Call = Callable[..., CommandResult]


def environment(**more: str) -> dict[str, str]:
    """The environment without settings of the user who runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WEBSTRATA_")}
    return {**kept, "COLUMNS": "80", **more}


@contextmanager
def started(*words: object, **more: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command line as a process, for tests with signals; it is killed at the end of the test."""
    with subprocess.Popen(
        [*PROGRAM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(**more)
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def call_process(*words: object, **more: str) -> CommandResult:
    with started(*words, **more) as process:
        out, err = process.communicate(timeout=100)
    return CommandResult(process.returncode, out, err.decode())


def call_here(*words: object, stdin: bytes = b"", **more: str) -> CommandResult:
    """Run a command in this process; stdout is not a terminal."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("WEBSTRATA_")]:
            patch.delenv(name)
        for name, value in more.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", ["webstrata", *map(str, words)])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        out.flush()
    return CommandResult(code, out.buffer.getvalue(), err.getvalue())


@pytest.fixture(scope="session")
def call() -> Call:
    return call_here


class Demo(NamedTuple):
    home: Path
    result: CommandResult
    board: dict[str, Any]


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """The home of a demo run of 30 days; tests must not change it."""
    home = tmp_path_factory.mktemp("demo") / "home"
    days = ("--days", DEMO_DAYS)
    result = call_here("demo", "--home", home, *days, "--policy", "dyn", "--json", WEBSTRATA_CRAWL_WORKERS="0")
    assert result.code == 0, result.err
    return Demo(home, result, result.json)


@pytest.fixture
def damaged(demo: Demo, tmp_path: Path) -> Path:
    """A copy of the demo's home that a test may change."""
    return Path(shutil.copytree(demo.home, tmp_path / "copy"))


@pytest.fixture
def home(tmp_path: Path, call: Call) -> Path:
    """A new home."""
    path = tmp_path / "fresh"
    assert call("--home", path, "init", "--contact", "someone@example.org").code == 0
    return path


class LocalServer:
    """A web server whose pages a test can change: path -> (content type, body)."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[str, bytes]] = {}
        self.moves: dict[str, str] = {}
        """Paths that redirect to other paths, permanently."""
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if self.path in server.moves:
                    self.send_response(301)
                    self.send_header("Location", server.moves[self.path])
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                found = server.pages.get(self.path)
                kind, body = found if found else ("text/plain", b"nothing here")
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    @property
    def settings(self) -> dict[str, str]:
        """Environment variables with which a crawler may visit the server, without delays."""
        return {
            "WEBSTRATA_FETCH_ALLOW_PRIVATE": f"127.0.0.1/32:{self.port}",
            "WEBSTRATA_POLITE_DELAY": "0s",
            "WEBSTRATA_POLITE_ADDRESS_DELAY": "0s",
            "WEBSTRATA_CRAWL_WORKERS": "0",
        }


@contextmanager
def serving() -> Iterator[LocalServer]:
    served = LocalServer()
    thread = Thread(target=served.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield served
    finally:
        served.server.shutdown()
        thread.join()
        served.server.server_close()


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with serving() as served:
        yield served


@pytest.fixture
def seen(home: Path, server: LocalServer, call: Call) -> Path:
    """A home with two pages that were visited once, under the policy `value`."""
    for path in ("/a", "/b"):
        server.pages[path] = ("text/html", b"<title>t</title><p>hello " + path.encode())
    call("--home", home, "watch", server.url("/a"), "--tag", "news")
    call("--home", home, "watch", server.url("/b"))
    result = call("--home", home, "crawl", **server.settings)
    assert "2 visits" in result.err, result.err
    return home


def on_a_terminal(*words: object, **more: str) -> str:
    """The output of a command on a terminal of 80 columns, including control sequences."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, *map(str, words)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(TERM="xterm", **more),
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65_536):
            shown += piece
    except OSError:
        pass  # the command has ended and closed its side
    finally:
        os.close(ours)
        process.wait(30)
    return shown.decode()


class Hostile(NamedTuple):
    """A home with malicious pages, each visited in two versions."""

    home: Path
    markup: str
    """URL of a page whose text, title and URL contain markup."""
    control: str
    """URL of a page whose text contains terminal control sequences."""
    picture: str


MARKUP = "<title>A {0}</title><p>{0}\t<p onclick='alert(4)'>tab\there"
CONTROL = "<title>t</title><p>\x1b[2J\x1b]0;owned\x07 bell \x9b31m and \u202ebackwards\n<p>{} \x1b[1mloud\n\x07"


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Hostile:
    home = tmp_path_factory.mktemp("hostile") / "home"
    with serving() as server:
        markup = server.url("/?q='\"><script>alert(3)</script>")
        found = Hostile(home, markup, server.url("/control"), server.url("/picture"))
        call_here("--home", home, "init")
        call_here("--home", home, "watch", *found[1:])
        server.pages["/picture"] = ("image/png", b"\x89PNG\r\n\x1a\n\0\0\0")
        for number in ("one", "two"):
            script = f"&lt;script&gt;alert('{number}')&lt;/script&gt;"
            server.pages["/?q=%27%22%3E%3Cscript%3Ealert(3)%3C/script%3E"] = (
                "text/html",
                MARKUP.format(script).encode(),
            )
            server.pages["/control"] = ("text/html; charset=utf-8", CONTROL.format(number).encode())
            environ: dict[str, Any] = {**server.settings, **ALWAYS_DUE}
            result = call_here("--home", home, "crawl", **environ)
        assert "3 visits, 2 changed" in result.err, result.err
    return found


@pytest.fixture(scope="session")
def peer() -> Callable[[str], str]:
    """The path of another project's tool; a missing tool fails the test."""

    def find(name: str) -> str:
        tool = Path(__file__).parents[2] / ".peers" / "bin" / name
        if not tool.exists():
            pytest.fail(f"{name} is not installed in .peers: `make test` builds that folder, run it once")
        return str(tool)

    return find
