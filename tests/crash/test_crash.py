"""SIGKILL at random moments and at failpoints: no visit that was reported as committed is lost."""

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

from tests.crash.killed_crawl import Acknowledged, Failpoint, Note, Synced, crawl
from tests.crash.origin import origin
from webstrata import settings as settings_file
from webstrata.archive.warc.reader import WarcReader
from webstrata.clock import RealClock
from webstrata.errors import ArchiveError
from webstrata.flows.crawl.parse import payload_digest
from webstrata.home import Home
from webstrata.node import Node
from webstrata.records import CheckResult, NewPage

PAGES = 40
PATIENCE_S = 60.0

SETTINGS = """
[polite]
delay = "0s"
delay_factor = 0
address_delay = "0s"
connections_per_host = 8

[fetch]
allow_private = ["127.0.0.1/32:{port}"]
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
"""Contents are parsed in the killed process: starting a parser process for each of the many kills would take most of
the time. `test_loop_stop` checks that parser processes end with their crawler."""


class CrashTest:
    """A home, the ledger of the visits that were reported as committed, and the crawls that are killed."""

    def __init__(self, path: Path, port: int) -> None:
        self.home, _ = Home.create(path, SETTINGS.format(port=port))
        self.ledger: list[Acknowledged] = []
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["tests.crash.killed_crawl"])
        asyncio.run(self._watch())

    def kill(
        self,
        *,
        after_s: float = 0.0,
        min_visits: int = 0,
        failpoint: Failpoint = None,
        build: str = "good",
        power_cut: bool = False,
    ) -> int:
        """Run the loop and kill it `after_s` after it has reported `min_visits` visits (0: after its first message).

        Returns the number of visits that it reported.
        """
        ours, theirs = self._context.Pipe(duplex=False)
        process = self._context.Process(target=crawl, args=(str(self.home.path), theirs, failpoint, build))
        process.start()
        theirs.close()
        notes = _receive(ours, after_s if failpoint is None else PATIENCE_S, min_visits)
        if failpoint is not None:
            process.join(PATIENCE_S)  # it closes the pipe a moment before it ends
            assert process.exitcode == -9, f"{failpoint} was never reached"
        process.kill()
        process.join()
        notes += _remaining(ours)
        acknowledged = [note for note in notes if isinstance(note, Acknowledged)]
        self.ledger += acknowledged
        if power_cut:
            self._cut_power({note.file: note.size for note in notes if isinstance(note, Synced)})
        return len(acknowledged)

    def _cut_power(self, synced: dict[str, int]) -> None:
        """Remove the bytes that were not synced from the files that were being written."""
        for path in self.home.archive.glob("*.open"):
            with path.open("r+b") as file:
                file.truncate(synced.get(path.name.removesuffix(".open"), 0))

    def problems(self) -> list[str]:
        """The faults of the home after the repair at the start of a crawl."""
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
        async with node.crawling():  # the start repairs the archive
            pass
        checked: CheckResult = await node.check(repair=False)
        problems = [f"{finding.kind} {finding.file}:{finding.offset} {finding.what}" for finding in checked.findings]
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
                        problems.append(f"not in the log: {note}")
                    elif (fault := _fault(reader, note)) is not None:
                        problems.append(f"{fault}: {note}")
        return problems


def _fault(reader: WarcReader, note: Acknowledged) -> str | None:
    try:
        same = payload_digest(reader.read(note.position).body) == note.payload
    except ArchiveError as problem:
        return str(problem)
    return None if same else "the archive has another content"


def _receive(pipe: Connection, for_s: float, min_visits: int) -> list[Note]:
    """Messages until the process ends or the time is over (see `CrashTest.kill` for when it starts)."""
    notes: list[Note] = []
    has_started = False
    deadline = time.monotonic() + PATIENCE_S
    while (left := deadline - time.monotonic()) > 0:
        if not pipe.poll(left):
            break
        try:
            notes.append(msgspec.msgpack.decode(pipe.recv_bytes(), type=Note))
        except EOFError:
            break
        if not has_started and sum(isinstance(note, Acknowledged) for note in notes) >= min_visits:
            has_started = True
            deadline = time.monotonic() + for_s
    return notes


def _remaining(pipe: Connection) -> list[Note]:
    notes: list[Note] = []
    with contextlib.suppress(EOFError, OSError):
        while pipe.poll(0.2):
            notes.append(msgspec.msgpack.decode(pipe.recv_bytes(), type=Note))
    return notes


@pytest.fixture
def crash_test(tmp_path: Path):  # type: ignore[no-untyped-def]
    with origin() as port:
        yield CrashTest(tmp_path / "home", port)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", range(4))
def test_random_kills_lose_nothing(crash_test: CrashTest, seed: int) -> None:
    """After ten kills at random moments all committed visits are stored, and `check` finds no fault."""
    rng = random.Random(seed)
    committed = sum(crash_test.kill(after_s=rng.uniform(0.0, 0.6), min_visits=n % 2) for n in range(10))

    assert crash_test.problems() == []
    assert committed > 0
    assert len(crash_test.ledger) == committed


FAILPOINTS: list[Failpoint] = [
    *(("write", n) for n in (1, 2, 3, 7)),
    *(("sync", n) for n in (1, 2, 5)),
    *(("rename", n) for n in (1, 2, 3)),
    *(("commit-before", n) for n in (1, 2, 4)),
    *(("commit-after", n) for n in (1, 2, 4)),
]


@pytest.mark.timeout(300)
def test_failpoints_lose_nothing(crash_test: CrashTest) -> None:
    """No committed visit is lost by kills during a write, before a sync or rename, before and after a commit."""
    for failpoint in FAILPOINTS:
        crash_test.kill(failpoint=failpoint)

    assert crash_test.problems() == []
    assert crash_test.ledger


@pytest.mark.timeout(300)
def test_power_cuts_lose_nothing(crash_test: CrashTest) -> None:
    """If only the synced bytes of the archive survive, they contain all committed visits."""
    committed = sum(crash_test.kill(after_s=0.05 * n, min_visits=n - 1, power_cut=True) for n in range(1, 6))

    assert crash_test.problems() == []
    assert committed > 0


@pytest.mark.timeout(300)
@pytest.mark.parametrize("full", [("room", 250_000), ("no-space", 3)])
def test_a_full_disk_loses_nothing(crash_test: CrashTest, full: Failpoint) -> None:
    """If the files of the database or the archive cannot grow, the round fails, all committed visits are stored, and
    the loop continues when there is space again."""
    crash_test.kill(failpoint=full)

    assert crash_test.problems() == []
    assert crash_test.kill(after_s=0.1, min_visits=1) > 0
    assert crash_test.problems() == []


@pytest.mark.timeout(300)
def test_a_build_without_syncs_is_caught(crash_test: CrashTest) -> None:
    """The test finds the losses of a build that never syncs its archive."""
    committed = crash_test.kill(after_s=0.1, min_visits=1, build="no-sync", power_cut=True)

    assert committed > 0
    assert crash_test.problems()


@pytest.mark.timeout(300)
def test_a_build_without_order_is_caught(crash_test: CrashTest) -> None:
    """The test finds the losses of a build that commits before it archives."""
    committed = crash_test.kill(failpoint=("commit-after", 3), build="no-order")

    assert committed > 0
    assert crash_test.problems()
