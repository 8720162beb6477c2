"""Another tool's word on what the loop wrote."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.flows.conftest import DAY_S, Life
from tests.flows.town import moved, reply, robots

WARCIO = Path(__file__).parents[3] / ".peers" / "bin" / "warcio"


def test_warcio_accepts_what_the_loop_writes(live: Callable[..., None]) -> None:
    """`warcio check` finds no fault with contents, copies, 304s, redirects, errors and torn answers."""
    if not WARCIO.exists():
        pytest.fail("warcio is not installed in .peers: `make test` builds that folder, run it once")

    async def scenario(life: Life) -> None:
        life.town.play("http://a.test/robots.txt", robots("User-agent: *\nCrawl-delay: 1"))
        life.town.play("http://a.test/etag", reply("<p>x", ETag='"1"'), reply("", 304, kind="", ETag='"1"'))
        life.town.play("http://a.test/copy", reply("<p>x"))
        life.town.play("http://a.test/empty", reply(""))
        life.town.play("http://a.test/moved", moved("/etag"))
        life.town.play("http://b.test/denied", reply("no", 403))
        life.town.play("http://b.test/none", reply(status=204, kind=""))
        life.town.play("http://b.test/torn", reply("half", length=4000, after="close"))
        life.town.play("http://b.test/nul", reply(b"\0\r\n\r\nWARC/1.1\r\n\0", kind="text/html"))
        paths = ("a.test/etag", "a.test/copy", "a.test/empty", "a.test/moved", "b.test/denied", "b.test/none")
        await life.watch(*[f"http://{path}" for path in (*paths, "b.test/torn", "b.test/nul")])
        await life.crawl()
        await life.crawl(after_s=2 * DAY_S)
        assert {record.kind for record in life.records()} == {"response", "revisit"}
        assert len(life.records()) >= 18
        command = [str(WARCIO), "check", *map(str, life.warcs())]
        done = subprocess.run(  # noqa: ASYNC221 - nobody else needs the loop now
            command, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    live(scenario)
