"""Stopping: what is in flight is finished, the rest is given back, and nothing is left behind."""

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

from tests.flows.conftest import Life
from tests.flows.town import Asked, Reply, reply, robots
from webstrata import settings as settings_file
from webstrata.flows.crawl.visit_batcher import CrawlProgress
from webstrata.home import Home
from webstrata.node import Node
from webstrata.records import NewPage, StoreTotals


def urls(count: int) -> list[str]:
    return [f"http://a.test/{n:03}" for n in range(count)]


def test_stop_finishes_what_is_in_flight(live: Callable[..., None]) -> None:
    """After `stop` in mid-round no further visit begins, the one in flight is settled, the rest stays due."""

    async def scenario(life: Life) -> None:
        async with life.node.crawling() as loop:

            def stops_at_the_third(asked: Asked) -> Reply:
                loop.stop()
                return reply("<p>third</p>")

            life.town.play(urls(10)[2], stops_at_the_third)
            await life.watch(*urls(10))
            assert await loop.crawl() == 3
        assert life.town.paths() == ["/robots.txt", "/000", "/001", "/002"]
        assert await life.outcomes(urls(10)[2]) == ["new"]
        assert (await life.census()).in_flight == 0
        left = [page for page in (await life.pages()).values() if page.visits == 0]
        assert len(left) == 7
        await life.crawl(after_s=60)
        assert all(page.visits == 1 for page in (await life.pages()).values())

    live(scenario)


@pytest.mark.parametrize("held", ["page", "robots"])
def test_cancel_gives_everything_back_at_once(live: Callable[..., None], held: str) -> None:
    """A cancelled loop does not wait for a slow server: all its pages are due again, the next loop visits them."""

    async def scenario(life: Life) -> None:
        reached = asyncio.Event()

        def never_ends(asked: Asked) -> Reply:
            reached.set()
            return Reply(b"HTTP/1.1 200 OK\r\n", "stall")

        if held == "page":
            life.town.play(urls(5)[0], never_ends)
        else:
            life.town.play("http://a.test/robots.txt", never_ends)
        await life.watch(*urls(5))
        async with life.node.crawling() as loop:
            task = asyncio.create_task(loop.run())
            await asyncio.wait_for(reached.wait(), 5)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        census = await life.census()
        assert (census.in_flight, census.visits) == (0, 0)
        life.town.play("http://a.test/robots.txt", robots(""))
        life.town.play(urls(5)[0], reply("<p>well now"))
        await life.crawl(after_s=60)
        assert (await life.census()).visits == 5

    live(scenario)


def test_progress_is_told_of_every_visit_once(live: Callable[..., None]) -> None:
    """What the display hears adds up: pages and hosts of each round, every visit once, and what was left."""
    heard: list[tuple[str, object]] = []

    class Listener(CrawlProgress):
        def round_started(self, pages: int, hosts: int) -> None:
            heard.append(("started", (pages, hosts)))

        def visited(self, visits: object) -> None:
            heard.append(("visited", [visit.url for visit in visits]))  # type: ignore[attr-defined]

        def host_ended(self) -> None:
            heard.append(("lane", None))

        def round_ended(self, left: int) -> None:
            heard.append(("ended", left))

    async def scenario(life: Life) -> None:
        await life.watch(*urls(3), "http://b.test/x")
        async with life.node.crawling(Listener()) as loop:
            await loop.crawl()

    live(scenario)
    assert heard[0] == ("started", (4, 2))
    assert heard[-1] == ("ended", 0)
    assert [what for what, _ in heard].count("lane") == 2
    told = [url for what, many in heard if what == "visited" for url in many]  # type: ignore[attr-defined]
    assert sorted(told) == [*urls(3), "http://b.test/x"]


# ── as a process ────────────────────────────────────────────────────────────────────────────────────────────


class _Slow(BaseHTTPRequestHandler):
    """Answers after a moment, so that something is always in flight."""

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


def _said(process: subprocess.Popen[str], *, code: int) -> str:
    """What a process said until it ended as it should."""
    said, _ = process.communicate(timeout=30)
    assert process.returncode == code, said
    return said


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_a_signal_ends_run_well_and_a_second_run_is_told(tmp_path: Path) -> None:
    """SIGTERM: exit code 0, no open file, no lease, no child process; meanwhile a second run learns who is there."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Slow)
    Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    settings = f"""
        [polite]
        delay = 0.01
        address_delay = "0s"
        [fetch]
        allow = ["127.0.0.1/32:{port}"]
        hosts = {{ "a.test" = "127.0.0.1:{port}" }}
        [crawl]
        workers = 1
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
        said = _said(second, code=1)
        assert f"in use by process {first.pid}" in said
        first.send_signal(signal.SIGTERM)
        assert "Traceback" not in _said(first, code=0)
    finally:
        first.kill()
        first.communicate()
        server.shutdown()
        server.server_close()
    assert list(home.archive.glob("*.open")) == []
    assert len(list(home.archive.glob("*.warc.gz"))) == 1
    deadline = time.monotonic() + 5
    while any(map(_is_alive, children)):  # the last one notices the end of its parent, and goes
        assert time.monotonic() < deadline
        time.sleep(0.02)
    census = asyncio.run(_census(node))
    assert census.in_flight == 0
    assert 0 < census.visits < 500
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
