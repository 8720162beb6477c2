"""Pages are rendered in the system's Chromium, and the crawler sends all of its requests."""

from __future__ import annotations

import contextlib
import shutil
import socket
import tempfile
import threading
from pathlib import Path

import pytest

from tests.fetch.local_site import AGENT, Answer, page_at, pages, serving, visited
from webstrata.clock import RealClock
from webstrata.fetch.handlers.browser import BrowserHandler, RenderLimits, find_chromium, missing_software
from webstrata.flows.parsers.handler_parsers import HandlerParsers
from webstrata.flows.parsers.parser_pool import ParserPool
from webstrata.records import FailureKind

needs_chromium = pytest.mark.skipif(bool(missing_software(find_chromium())), reason="no Chromium or no Playwright")

HTML = {"Content-Type": "text/html"}
QUICK = RenderLimits(load_s=20.0, settle_s=2.0, total_s=40.0)


def browser(**options: object) -> BrowserHandler:
    return BrowserHandler(RealClock(), HandlerParsers(ParserPool(0)), agent=AGENT, **{"limits": QUICK, **options})  # type: ignore[arg-type]


def written(script: str) -> bytes:
    return f"<!doctype html><title>t</title><p id=x>before</p><script>{script}</script>".encode()


@needs_chromium
def test_scripts_run_and_requests_are_kept() -> None:
    """The content is the DOM after the scripts ran; the page and all its requests are exchanges, in order."""
    page = Answer(headers=HTML, body=b"<!doctype html><p id=x>before</p><script src=/a.js></script><img src=/old>")
    script = b"fetch('/data').then(r => r.text()).then(t => document.getElementById('x').textContent = t)"
    site_pages = {
        "index": page,
        "a.js": Answer(headers={"Content-Type": "text/javascript"}, body=script),
        "data": Answer(body=b"after"),
        "old": Answer(302, {"Location": "/new"}),
        "new": Answer(headers={"Content-Type": "image/gif"}, body=b"GIF89a"),
    }
    with serving(pages(**site_pages)) as site:
        seen = visited(browser, page_at(site.url + "/"))
    assert seen.failure is None
    assert seen.content is not None
    assert b'<p id="x">after</p>' in seen.content.body
    assert seen.content.url == f"urn:dom:{site.url}/"
    assert seen.answer is seen.exchanges[0]
    assert {one.url.rpartition("/")[2] for one in seen.exchanges} == {"", "a.js", "data", "old", "new"}
    (view,) = seen.extras
    assert view.body.startswith(b"\x89PNG")
    assert all(asked.headers["user-agent"] == AGENT for asked in site.asked)


SCRIPTS = {
    "fetch": "fetch('http://127.0.0.1:{port}/x').catch(() => 0)",
    "image": "new Image().src = 'http://127.0.0.1:{port}/x'",
    "name": "fetch('http://localhost:{port}/x').catch(() => 0)",
    "socket": "new WebSocket('ws://127.0.0.1:{port}/')",
    "frame": "document.body.append(Object.assign(document.createElement('iframe'), {{src: 'http://127.0.0.1:{port}/'}}))",
    "preconnect": "document.head.append(Object.assign(document.createElement('link'),"
    " {{rel: 'preconnect', href: 'http://127.0.0.1:{port}/'}}))",
    "beacon": "navigator.sendBeacon('http://127.0.0.1:{port}/', 'x')",
    "window": "window.open('http://127.0.0.1:{port}/')",
    "webrtc": "const f = document.createElement('iframe'); document.body.append(f);"
    "try {{ const c = new f.contentWindow.RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{port}'}}]}});"
    " c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o)) }} catch (e) {{}}",
    "worker": "new Worker(URL.createObjectURL(new Blob([\"fetch('http://127.0.0.1:{port}/')\"])))",
}


class ConnectionTrap:
    """Listens on TCP and UDP at one port and records connections."""

    def __init__(self) -> None:
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.port = self.tcp.getsockname()[1]
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", self.port))
        self.touched: list[str] = []
        for watch in (self._tcp, self._udp):
            threading.Thread(target=watch, daemon=True).start()

    def _tcp(self) -> None:
        try:
            while True:
                peer, _ = self.tcp.accept()
                self.touched.append("tcp")
                peer.close()
        except OSError:
            pass

    def _udp(self) -> None:
        try:
            while self.udp.recv(2048):
                self.touched.append("udp")
        except OSError:
            pass

    def close(self) -> None:
        for sock in (self.tcp, self.udp):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()


@needs_chromium
def test_private_addresses_are_unreachable() -> None:
    """A page that tries ten ways to reach a private address makes no connection to it, over TCP or UDP."""
    trap = ConnectionTrap()
    body = written(";".join("{" + script.format(port=trap.port) + "}" for script in SCRIPTS.values()))
    with serving(pages(index=Answer(headers=HTML, body=body))) as site:
        # the guard allows only the port of the page
        seen = visited(browser, page_at(site.url + "/"), allow=(f"127.0.0.1/32:{site.port}",))
    trap.close()
    assert seen.failure is None
    assert seen.content is not None
    assert trap.touched == []


@needs_chromium
def test_only_pages_are_rendered() -> None:
    """For a response that is not HTML, or not successful, the result is that of a plain visit."""
    answers = {"a": Answer(headers={"Content-Type": "text/plain"}, body=b"x"), "b": Answer(500)}
    with serving(pages(**answers)) as site:
        for path, status in (("a", 200), ("b", 500), ("c", 404)):
            seen = visited(browser, page_at(f"{site.url}/{path}"))
            assert (seen.content, seen.failure) == (None, None)
            assert seen.answer is not None
            assert seen.answer.status == status


@needs_chromium
def test_posts_are_refused() -> None:
    """A page cannot make the crawler send a POST request."""
    body = written("fetch('/write', {method: 'POST', body: 'x'}).catch(e => document.title = 'refused')")
    with serving(pages(index=Answer(headers=HTML, body=body))) as site:
        seen = visited(browser, page_at(site.url + "/"))
    assert seen.content is not None
    assert b"<title>refused</title>" in seen.content.body
    assert site.targets == ["/"]


@needs_chromium
def test_endless_script(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page whose script never ends fails at the time limit, and no process remains."""
    ours = Path(tempfile.mkdtemp(prefix="ws-"))  # other tests may render, too; paths of sockets must be short
    monkeypatch.setattr(tempfile, "tempdir", str(ours))
    with serving(pages(index=Answer(headers=HTML, body=written("while (true);")))) as site:
        seen = visited(
            lambda: browser(limits=RenderLimits(load_s=2.0, settle_s=1.0, total_s=4.0)), page_at(site.url + "/")
        )
    assert seen.failure is not None
    assert seen.failure.kind is FailureKind.TIMEOUT_TOTAL
    assert seen.content is None
    assert len(seen.exchanges) == 1
    assert not _processes_of(ours)
    shutil.rmtree(ours)


GREEDY = {
    # Neither script lets the page finish loading.
    "bit by bit": "const kept = []; for (;;) { kept.push(new Uint8Array(2e7).fill(1));"
    " const begun = Date.now(); while (Date.now() - begun < 50); }",
    "at once": "const kept = []; for (;;) kept.push(new Uint8Array(4e7).fill(1))",
}


@needs_chromium
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is added up from /proc")
@pytest.mark.parametrize("script", GREEDY)
def test_memory_limit(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A page that allocates memory without end is killed at the limit of the whole browser, and no process remains."""
    ours = Path(tempfile.mkdtemp(prefix="ws-"))
    monkeypatch.setattr(tempfile, "tempdir", str(ours))
    limits = RenderLimits(load_s=30.0, settle_s=30.0, total_s=60.0, total_memory_bytes=900 * 2**20)
    with serving(pages(index=Answer(headers=HTML, body=written(GREEDY[script])))) as site:
        seen = visited(lambda: browser(limits=limits), page_at(site.url + "/"))
    assert seen.failure is not None
    assert seen.failure.kind is FailureKind.HANDLER
    if script != "at once":  # this script may reach the limit of its process before the check
        assert "900 MiB of memory" in seen.failure.detail
    assert seen.content is None
    assert not _processes_of(ours)
    shutil.rmtree(ours)


def _processes_of(folder_of_ours: Path) -> list[str]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if bytes(folder_of_ours) in command:
                found.append(command.decode(errors="replace"))
    return found


def test_missing_program() -> None:
    """Without Chromium the failure says what to install, and no request is sent."""
    with serving(pages()) as site:
        seen = visited(lambda: browser(program="/nowhere/chromium"), page_at(site.url + "/"))
    assert seen.failure is not None
    assert seen.failure.kind is FailureKind.HANDLER
    assert "install" in seen.failure.detail
    assert site.asked == []
