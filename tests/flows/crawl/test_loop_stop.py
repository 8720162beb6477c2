"""Stopping the loop: requests in flight are finished, other pages are released, and no process or file is left."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.flows.conftest import Archiver
from tests.flows.scripted_servers import ReceivedRequest, Reply, reply, robots
from webstrata import settings as settings_file
from webstrata.flows.crawl.visit_batcher import CrawlProgress
from webstrata.home import Home
from webstrata.node import Node
from webstrata.records import NewPage, StoreTotals


def urls(count: int) -> list[str]:
    return [f"http://a.test/{n:03}" for n in range(count)]


def test_stop_finishes_the_visit_in_flight(run_scenario: Callable[..., None]) -> None:
    """After `stop` during a round no further visit starts, the one in flight is committed, other pages stay due."""

    async def scenario(archiver: Archiver) -> None:
        async with archiver.node.crawling() as loop:

            def stops_at_the_third(request: ReceivedRequest) -> Reply:
                loop.stop()
                return reply("<p>third</p>")

            archiver.servers.serve(urls(10)[2], stops_at_the_third)
            await archiver.watch(*urls(10))
            assert await loop.crawl() == 3
        assert archiver.servers.paths() == ["/robots.txt", "/000", "/001", "/002"]
        assert await archiver.outcomes(urls(10)[2]) == ["new"]
        assert (await archiver.totals()).in_flight == 0
        left = [page for page in (await archiver.pages()).values() if page.visits == 0]
        assert len(left) == 7
        await archiver.crawl(after_s=60)
        assert all(page.visits == 1 for page in (await archiver.pages()).values())

    run_scenario(scenario)


@pytest.mark.parametrize("held", ["page", "robots"])
def test_cancel_releases_all_pages_at_once(run_scenario: Callable[..., None], held: str) -> None:
    """A cancelled loop does not wait for a slow server: all its pages are due again, the next loop visits them."""

    async def scenario(archiver: Archiver) -> None:
        reached = asyncio.Event()

        def never_ends(request: ReceivedRequest) -> Reply:
            reached.set()
            return Reply(b"HTTP/1.1 200 OK\r\n", "stall")

        if held == "page":
            archiver.servers.serve(urls(5)[0], never_ends)
        else:
            archiver.servers.serve("http://a.test/robots.txt", never_ends)
        await archiver.watch(*urls(5))
        async with archiver.node.crawling() as loop:
            task = asyncio.create_task(loop.run())
            await asyncio.wait_for(reached.wait(), 5)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        totals = await archiver.totals()
        assert (totals.in_flight, totals.visits) == (0, 0)
        archiver.servers.serve("http://a.test/robots.txt", robots(""))
        archiver.servers.serve(urls(5)[0], reply("<p>well now"))
        await archiver.crawl(after_s=60)
        assert (await archiver.totals()).visits == 5

    run_scenario(scenario)


def test_progress_receives_every_visit_once(run_scenario: Callable[..., None]) -> None:
    """`CrawlProgress` receives the pages and hosts of the round, every visit once, and the number of pages left."""
    received: list[tuple[str, object]] = []

    class Recorder(CrawlProgress):
        def claimed(self, pages: int, hosts: int) -> None:
            received.append(("started", (pages, hosts)))

        def visited(self, visits: object) -> None:
            received.append(("visited", [visit.url for visit in visits]))  # type: ignore[attr-defined]

        def host_ended(self) -> None:
            received.append(("host", None))

        def released(self, pages: int) -> None:
            received.append(("released", pages))

    async def scenario(archiver: Archiver) -> None:
        await archiver.watch(*urls(3), "http://b.test/x")
        async with archiver.node.crawling(Recorder()) as loop:
            await loop.crawl()

    run_scenario(scenario)
    assert received[0] == ("started", (4, 2))
    assert "released" not in [what for what, _ in received]
    assert [what for what, _ in received].count("host") == 2
    visited = [url for what, many in received if what == "visited" for url in many]  # type: ignore[attr-defined]
    assert sorted(visited) == [*urls(3), "http://b.test/x"]


# ── as a process ────────────────────────────────────────────────────────────────────────────────────────────


class _Slow(BaseHTTPRequestHandler):
    """Responds after a moment, so that there is always a request in flight."""

    def do_GET(self) -> None:
        time.sleep(0.05)
        body = b"<p>words</p>" if self.path != "/robots.txt" else b""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def _webstrata(home: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", "from webstrata.cli import main; main()", "--home", str(home), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def _output(process: subprocess.Popen[str], *, code: int) -> str:
    """The output of a process that ends with this code."""
    output, _ = process.communicate(timeout=30)
    assert process.returncode == code, output
    return output


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_a_signal_ends_run_and_a_second_run_is_refused(tmp_path: Path) -> None:
    """SIGTERM leaves exit code 0 and no open file, lease or child process. A second run names the first process."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Slow)
    Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    settings = f"""
        [polite]
        delay = 0.01
        address_delay = "0s"
        [fetch]
        allow_private = ["127.0.0.1/32:{port}"]
        hosts = {{ "a.test" = "127.0.0.1:{port}" }}
    """
    home, _ = Home.create(tmp_path / "home", settings)
    node = Node(home, settings_file.load(home.path, environment={})[0])
    asyncio.run(_watch(node, urls(500)))
    first = _webstrata(home.path, "run", "--quiet")
    try:
        deadline = time.monotonic() + 30
        while not (children := _children(first.pid)) or not any(home.archive.glob("*.open")):
            assert first.poll() is None, first.communicate()[0]
            assert time.monotonic() < deadline
            time.sleep(0.05)
        second = _webstrata(home.path, "run", "--quiet")
        output = _output(second, code=1)
        assert f"in use by process {first.pid}" in output
        first.send_signal(signal.SIGTERM)
        assert "Traceback" not in _output(first, code=0)
    finally:
        first.kill()
        first.communicate()
        server.shutdown()
        server.server_close()
    assert list(home.archive.glob("*.open")) == []
    assert len(list(home.archive.glob("*.warc.gz"))) == 1
    deadline = time.monotonic() + 5
    while any(map(_is_alive, children)):  # they end after their parent
        assert time.monotonic() < deadline
        time.sleep(0.02)
    totals = asyncio.run(_census(node))
    assert totals.in_flight == 0
    assert 0 < totals.visits < 500
    scrubbed = asyncio.run(node.check(repair=False))
    assert (scrubbed.bad, scrubbed.dangling, scrubbed.lost) == (0, 0, 0)


async def _watch(node: Node, addresses: list[str]) -> None:
    async with node.store() as store:
        await store.pages.add([NewPage(url=url, host="a.test") for url in addresses], 0.0)


async def _census(node: Node) -> StoreTotals:
    async with node.store() as store:
        return await store.maintenance.totals(node.clock.now())


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False
