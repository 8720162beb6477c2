"""`warcio check` on the archive that the loop writes."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import moved, reply, robots

WARCIO = Path(__file__).parents[3] / ".peers" / "bin" / "warcio"


def test_warcio_accepts_what_the_loop_writes(run_scenario: Callable[..., None]) -> None:
    """`warcio check` accepts contents, copies, 304s, redirects, errors and incomplete responses."""
    if not WARCIO.exists():
        pytest.fail("warcio is not installed in .peers: `make test` builds that folder, run it once")

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve("http://a.test/robots.txt", robots("User-agent: *\nCrawl-delay: 1"))
        archiver.servers.serve("http://a.test/etag", reply("<p>x", ETag='"1"'), reply("", 304, kind="", ETag='"1"'))
        archiver.servers.serve("http://a.test/copy", reply("<p>x"))
        archiver.servers.serve("http://a.test/empty", reply(""))
        archiver.servers.serve("http://a.test/moved", moved("/etag"))
        archiver.servers.serve("http://b.test/denied", reply("no", 403))
        archiver.servers.serve("http://b.test/none", reply(status=204, kind=""))
        archiver.servers.serve("http://b.test/torn", reply("half", length=4000, after="close"))
        archiver.servers.serve("http://b.test/nul", reply(b"\0\r\n\r\nWARC/1.1\r\n\0", kind="text/html"))
        paths = ("a.test/etag", "a.test/copy", "a.test/empty", "a.test/moved", "b.test/denied", "b.test/none")
        await archiver.watch(*[f"http://{path}" for path in (*paths, "b.test/torn", "b.test/nul")])
        await archiver.crawl()
        await archiver.crawl(after_s=2 * DAY_S)
        assert {record.kind for record in archiver.records()} == {"response", "revisit"}
        assert len(archiver.records()) >= 18
        command = [str(WARCIO), "check", *map(str, archiver.warcs())]
        done = subprocess.run(  # noqa: ASYNC221 - nobody else needs the loop now
            command, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    run_scenario(scenario)
