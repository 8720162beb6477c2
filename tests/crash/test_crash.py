"""kill -9, at random moments and at failpoints: nothing that was acknowledged is ever lost."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import random
import time
from multiprocessing.connection import Connection
from pathlib import Path

import msgspec
import pytest

from tests.crash.origin import origin
from tests.crash.victim import Acknowledged, Failpoint, Note, Synced, crawl
from webstrata import settings as settings_file
from webstrata.archive.warc.check import ArchiveCheckResult
from webstrata.archive.warc.reader import WarcReader
from webstrata.clock import RealClock
from webstrata.errors import ArchiveError
from webstrata.flows.crawl.parse import payload_digest
from webstrata.home import Home
from webstrata.node import Node
from webstrata.records import NewPage

PAGES = 40
PATIENCE_S = 60.0

SETTINGS = """
[polite]
delay = "0s"
delay_factor = 0
address_delay = "0s"
connections_per_host = 8

[fetch]
allow = ["127.0.0.1/32:{port}"]
hosts = {{ "crash.test" = "127.0.0.1:{port}" }}

[archive]
max_file_size = "300KB"

[schedule]
min_interval = "0.05s"
max_interval = "0.05s"
start_interval = "0.05s"

[budget]
total = "1000000000/day"

[crawl]
round = "0.05s"
workers = 0
"""


class Ward:
    """A home, the ledger of what was promised, and the means to kill and to look."""

    def __init__(self, path: Path, port: int) -> None:
        self.home, _ = Home.create(path, SETTINGS.format(port=port))
        self.ledger: list[Acknowledged] = []
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["tests.crash.victim"])
        asyncio.run(self._watch())

    def kill(
        self,
        *,
        after_s: float = 0.0,
        promises: int = 0,
        failpoint: Failpoint = None,
        build: str = "good",
        power_cut: bool = False,
    ) -> int:
        """Run the loop and kill it, so long after it acknowledged so many visits (none: after its first sign of life);
        how many it acknowledged in this life."""
        ours, theirs = self._context.Pipe(duplex=False)
        victim = self._context.Process(target=crawl, args=(str(self.home.path), theirs, failpoint, build))
        victim.start()
        theirs.close()
        notes = _listen(ours, after_s if failpoint is None else PATIENCE_S, promises)
        if failpoint is not None:
            victim.join(PATIENCE_S)  # it closes the pipe a moment before it is dead
            assert victim.exitcode == -9, f"{failpoint} was never reached"
        victim.kill()
        victim.join()
        notes += _rest(ours)
        acknowledged = [note for note in notes if isinstance(note, Acknowledged)]
        self.ledger += acknowledged
        if power_cut:
            self._cut_power({note.file: note.size for note in notes if isinstance(note, Synced)})
        return len(acknowledged)

    def _cut_power(self, synced: dict[str, int]) -> None:
        """Only synced bytes survive in the files that were growing."""
        for path in self.home.archive.glob("*.open"):
            with path.open("r+b") as file:
                file.truncate(synced.get(path.name.removesuffix(".open"), 0))

    def problems(self) -> list[str]:
        """What is wrong with the home, after the repair that every start makes."""
        return asyncio.run(self._problems())

    async def _watch(self) -> None:
        pages = [NewPage(url=f"http://crash.test/{n}", host="crash.test") for n in range(PAGES)]
        async with self._node().store() as store:
            await store.pages.add(pages, time.time())

    def _node(self) -> Node:
        settings, _ = settings_file.load(self.home.path, environment={})
        return Node(self.home, settings, RealClock())

    async def _problems(self) -> list[str]:
        node = self._node()
        async with node.crawling():  # the start repairs, as after every crash
            pass
        checked: ArchiveCheckResult = await node.check(repair=False)
        found = [f"{one.count} {one.file}:{one.offset} {one.what}" for one in checked.findings]
        reader = node.reader()
        async with node.store() as store:
            for url in {note.url for note in self.ledger}:
                page = await store.pages.get(url)
                assert page is not None
                logged = {visit.at: visit for visit in await store.visit_log.of_page(page.id)}
                for note in self.ledger:
                    if note.url != url:
                        continue
                    visit = logged.get(note.at)
                    if visit is None or visit.position != note.position:
                        found.append(f"not in the log: {note}")
                    elif (fault := _fault(reader, note)) is not None:
                        found.append(f"{fault}: {note}")
        return found


def _fault(reader: WarcReader, note: Acknowledged) -> str | None:
    try:
        same = payload_digest(reader.read(note.position).body) == note.payload
    except ArchiveError as problem:
        return str(problem)
    return None if same else "another content in the archive"


def _listen(pipe: Connection, for_s: float, promises: int) -> list[Note]:
    """Notes until the victim died or the time is over (see `Ward.kill` for when it starts)."""
    notes: list[Note] = []
    has_begun = False
    deadline = time.monotonic() + PATIENCE_S
    while (left := deadline - time.monotonic()) > 0:
        if not pipe.poll(left):
            break
        try:
            notes.append(msgspec.msgpack.decode(pipe.recv_bytes(), type=Note))
        except EOFError:
            break
        if not has_begun and sum(isinstance(note, Acknowledged) for note in notes) >= promises:
            has_begun = True
            deadline = time.monotonic() + for_s
    return notes


def _rest(pipe: Connection) -> list[Note]:
    notes: list[Note] = []
    with contextlib.suppress(EOFError, OSError):
        while pipe.poll(0.2):
            notes.append(msgspec.msgpack.decode(pipe.recv_bytes(), type=Note))
    return notes


@pytest.fixture
def ward(tmp_path: Path):  # type: ignore[no-untyped-def]
    with origin() as port:
        yield Ward(tmp_path / "home", port)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", range(4))
def test_random_kills_lose_nothing(ward: Ward, seed: int) -> None:
    """Ten kills at random moments, one home: all that was acknowledged stays, and `check` is clean."""
    rng = random.Random(seed)
    promised = sum(ward.kill(after_s=rng.uniform(0.0, 0.6), promises=n % 2) for n in range(10))

    assert ward.problems() == []
    assert promised > 0
    assert len(ward.ledger) == promised


FAILPOINTS: list[Failpoint] = [
    *(("write", n) for n in (1, 2, 3, 7)),
    *(("sync", n) for n in (1, 2, 5)),
    *(("rename", n) for n in (1, 2, 3)),
    *(("commit-before", n) for n in (1, 2, 4)),
    *(("commit-after", n) for n in (1, 2, 4)),
]


@pytest.mark.timeout(300)
def test_failpoints_lose_nothing(ward: Ward) -> None:
    """A kill in mid-write, before a sync, before a rename, before and after a commit, one after the other."""
    for failpoint in FAILPOINTS:
        ward.kill(failpoint=failpoint)

    assert ward.problems() == []
    assert ward.ledger


@pytest.mark.timeout(300)
def test_power_cuts_lose_nothing(ward: Ward) -> None:
    """Where only synced bytes of the archive survive, all that was acknowledged is among them."""
    promised = sum(ward.kill(after_s=0.05 * n, promises=n - 1, power_cut=True) for n in range(1, 6))

    assert ward.problems() == []
    assert promised > 0


@pytest.mark.timeout(300)
@pytest.mark.parametrize("full", [("room", 250_000), ("no-space", 3)])
def test_a_full_disk_loses_nothing(ward: Ward, full: Failpoint) -> None:
    """Where the database's files cannot grow any more, or the archive's, the round fails and says so, all that was
    acknowledged stays, and with room again the loop goes on."""
    ward.kill(failpoint=full)

    assert ward.problems() == []
    assert ward.kill(after_s=0.1, promises=1) > 0
    assert ward.problems() == []


@pytest.mark.timeout(300)
def test_a_build_without_syncs_is_caught(ward: Ward) -> None:
    """The same test on a build that never syncs its archive must fail: this proves that it can."""
    promised = ward.kill(after_s=0.1, promises=1, build="no-sync", power_cut=True)

    assert promised > 0
    assert ward.problems()


@pytest.mark.timeout(300)
def test_a_build_without_order_is_caught(ward: Ward) -> None:
    """The same test on a build that commits before the archive has the bytes must fail."""
    promised = ward.kill(failpoint=("commit-after", 3), build="no-order")

    assert promised > 0
    assert ward.problems()
