"""Reading in other processes: the same as here, and a page that kills its reader costs nobody else anything."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence

import pytest

from tests.flows.conftest import Life
from tests.flows.town import reply
from webstrata.flows import readers
from webstrata.flows.look import Job, Look, look, look_at_bytes
from webstrata.flows.readers import Readers

DEADLY = b"<p>deadly"


class DeadlyJob(Job, frozen=True, kw_only=True):
    """A job that ends the process in which it arrives: it stands for a page that makes a parser crash."""

    def __reduce__(self) -> tuple[Callable[..., Job], tuple[object, ...]]:
        return _arrive, (self.url, self.body, os.getpid())


def _arrive(url: str, body: bytes, home: int) -> Job:
    if os.getpid() != home:
        os._exit(11)
    return DeadlyJob(url=url, body=body, max_decoded=1000, max_ratio=10.0)


def job(name: str, body: bytes, kind: type[Job] = Job) -> Job:
    return kind(url=f"http://a.test/{name}", body=body, content_type="text/html", max_decoded=1000, max_ratio=10.0)


def read(jobs: Sequence[Job], processes: int) -> list[Look]:
    pool = Readers(processes)
    try:
        return asyncio.run(pool.look(jobs))
    finally:
        pool.close()


def test_a_deadly_page_is_compared_by_its_bytes(caplog: pytest.LogCaptureFixture) -> None:
    """The pages beside it are read as ever, it counts by its bytes, and the log names it; the next batch is read."""
    jobs = [job("one", b"<p>one"), job("deadly", DEADLY, DeadlyJob), job("two", b"<p>two")]

    async def main() -> tuple[list[Look], list[Look]]:
        pool = Readers(1)
        try:
            return await pool.look(jobs), await pool.look(jobs[:1])
        finally:
            pool.close()

    seen, after = asyncio.run(main())
    assert seen == [*look(jobs[:1]), look_at_bytes(jobs[1]), *look(jobs[2:])]
    assert after == look(jobs[:1])
    assert "http://a.test/deadly" in caplog.text


def test_the_loop_goes_on_after_a_reader_died(live: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    """In the real loop the deadly page is archived and new, then same; its neighbours have their text compared."""

    def make(jobs: Sequence[Job]) -> list[Job]:
        return [job(one.url[14:], one.body, DeadlyJob if one.body == DEADLY else Job) for one in jobs]

    look_elsewhere = Readers.look
    monkeypatch.setattr(readers.Readers, "look", lambda self, jobs: look_elsewhere(self, make(jobs)))

    async def scenario(life: Life) -> None:
        pages = {"one": b"<p>one", "deadly": DEADLY, "two": b"<p>two"}
        for name, body in pages.items():
            life.town.play(f"http://a.test/{name}", reply(body))
        await life.watch(*[f"http://a.test/{name}" for name in pages])
        await life.run(1.5 * 86_400)
        for name, body in pages.items():
            assert await life.outcomes(f"http://a.test/{name}") == ["new", "same"]
            fingerprint = (await life.page(f"http://a.test/{name}")).fingerprint
            assert fingerprint is not None
            assert fingerprint.size == len(body)
            assert (fingerprint.text is None) == (name == "deadly")

    live(scenario, "crawl.workers=1")
