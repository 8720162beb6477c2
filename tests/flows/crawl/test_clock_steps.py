"""The system clock is set while the archiver watches pages: visits go on in their rhythm, gaps stay, and it is said."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path

import pytest

from tests.flows.conftest import START_AT, Archiver, SharedLanes
from tests.flows.scripted_servers import ReceivedRequest, Reply, ScriptedServers, reply, robots
from webstrata.clock import RealClock
from webstrata.flows.crawl.clock_steps import ClockSteps
from webstrata.flows.crawl.loop import CrawlLoop
from webstrata.flows.parsers.parser_pool import ParserPool

HOUR_S, DAY_S = 3600.0, 86_400.0
AT_ONCE = ("polite.delay=0s", "polite.address_delay=0s", "polite.delay_factor=0")
PAGES = tuple(f"http://{host}.test/{n}" for host in "ab" for n in range(3))


class SettableClock(RealClock):
    """The real clock of a machine on which a test lets time pass and sets the system clock."""

    def __init__(self, *, passes: bool = False, set_by_s: float = 0.0) -> None:
        """`passes`: time passes by itself, too. `set_by_s`: the system clock was set before the process started."""
        self._passed_s = 5000.0
        self._set_by_s = START_AT - 5000.0 + set_by_s
        self._passes = passes
        super().__init__(wall=lambda: self._now_s() + self._set_by_s, uptime=self._now_s)

    def _now_s(self) -> float:
        return self._passed_s + (time.monotonic() if self._passes else 0.0)

    def pass_by(self, seconds: float) -> None:
        self._passed_s += seconds

    def set_by(self, seconds: float) -> None:
        self._set_by_s += seconds


class Machine:
    """An archiver on such a machine."""

    def __init__(self, archiver: Archiver, clock: SettableClock) -> None:
        self.archiver = archiver
        self.clock = clock

    async def visits(self, loop: CrawlLoop | None = None, steps: ClockSteps | None = None) -> int:
        """The requests for pages when an hour has passed: of a loop that is running, or of a new one."""
        self.clock.pass_by(HOUR_S)
        before = len(self.pages())
        if loop is None:
            await self.archiver.crawl()
        else:
            assert steps is not None
            await steps.check()
            await loop.crawl()
        return len(self.pages()) - before

    def pages(self) -> list[ReceivedRequest]:
        return [request for request in self.archiver.servers.requests() if request.path != "/robots.txt"]


RunMachine = Callable[..., None]


@pytest.fixture
def run_machine(tmp_path: Path, blank_database: Path, shared_lanes: SharedLanes) -> RunMachine:
    def run(scenario: Callable[[Machine], Awaitable[None]], *flags: str, passes: bool = False) -> None:
        async def main() -> None:
            clock = SettableClock(passes=passes)
            hosts = {"a.test": "127.0.0.2", "b.test": "127.0.0.3"}
            async with ScriptedServers(clock, hosts) as servers:
                archiver = Archiver(
                    tmp_path,
                    blank_database,
                    servers,
                    clock,
                    flags,
                    lambda processes: ParserPool(processes, lanes=shared_lanes),
                )
                try:
                    await scenario(Machine(archiver, clock))
                    # Not deep: visits of a page at the same instant, before and after a step, are one row of the log.
                    await archiver.check_consistency(deep=False)
                finally:
                    await archiver.close()

        asyncio.run(main())

    return run


STEPS = {
    "one hour back": [(2, -HOUR_S)],
    "a day forward and back": [(2, DAY_S), (5, -DAY_S)],
    "a year back": [(2, -365 * DAY_S)],
    "half a minute back": [(2, -30.0)],
}


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
@pytest.mark.parametrize("running", [True, False], ids=["in a running loop", "between runs"])
def test_a_rhythm_survives_steps(run_machine: RunMachine, steps: list[tuple[int, float]], running: bool) -> None:
    """Pages that are visited every hour are visited in every hour that passes, once, whatever the clock shows."""

    async def scenario(machine: Machine) -> None:
        await machine.archiver.watch(*PAGES, every_s=HOUR_S)
        counts = []
        async with machine.archiver.node.crawling() as loop:
            clock_steps = ClockSteps(clock=machine.clock, store=loop._store)
            clock_steps.listeners += [loop._gate.shift, lambda seconds: loop._selector.failed()]
            if not running:
                await loop.crawl()
            for hour in range(9):
                counts.append(await machine.visits(loop, clock_steps))
                for at, by_s in steps:
                    if running and at == hour:
                        machine.clock.set_by(by_s)
        if not running:
            counts = []
            for hour in range(9):
                counts.append(await machine.visits())
                for at, by_s in steps:
                    if at == hour:
                        machine.clock.set_by(by_s)
        assert counts == [len(PAGES)] * 9

    run_machine(scenario, *AT_ONCE)


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_a_budget_survives_steps(run_machine: RunMachine, steps: list[tuple[int, float]]) -> None:
    """Under the value policy visits go on after steps, and no step brings more of them than the budget saves."""

    async def scenario(machine: Machine) -> None:
        for url in PAGES:
            machine.archiver.servers.serve(url, lambda request: reply(f"Now {len(machine.pages())}."))
        await machine.archiver.watch(*PAGES)
        await machine.archiver.crawl()
        counts = []
        for hour in range(30):
            counts.append(await machine.visits())
            for at, by_s in steps:
                if at * 4 == hour:
                    machine.clock.set_by(by_s)
        assert sum(counts[:24]) <= 48 + 12 + 6, "not more than the budget and what is saved"
        assert sum(counts[22:]) >= 8, "half of what the budget pays for, at least"

    run_machine(scenario, *AT_ONCE, "budget.total=48/day")


@pytest.mark.parametrize("step_s", [-HOUR_S, DAY_S, -DAY_S])
def test_a_visit_in_flight_follows_the_clock(run_machine: RunMachine, step_s: float) -> None:
    """The clock is set between the request and its response: the next visit comes at its time, not sooner or later."""

    async def scenario(machine: Machine) -> None:
        tasks: list[asyncio.Task[float]] = []
        await machine.archiver.watch(PAGES[0], every_s=HOUR_S)
        async with machine.archiver.node.crawling() as loop:

            def arrive(request: ReceivedRequest) -> Reply:
                machine.clock.set_by(step_s)
                tasks.append(asyncio.create_task(loop._clock_steps.check()))
                return reply("Here.")

            machine.archiver.servers.serve(PAGES[0], arrive)
            await loop.crawl()
            assert await tasks[0] == pytest.approx(step_s, abs=1)
            now, page = machine.clock.now(), await machine.archiver.page(PAGES[0])
            assert page.last_visit_at == pytest.approx(now, abs=60)
            assert page.next_at is not None
            assert 0 < page.next_at - now <= HOUR_S
        assert len(machine.pages()) == 1

    run_machine(scenario, *AT_ONCE, passes=True)


@pytest.mark.parametrize("step_s", [-HOUR_S, DAY_S])
def test_gaps_at_the_origin_stay(run_machine: RunMachine, step_s: float) -> None:
    """A step in the middle of a wait makes no gap shorter than the Crawl-delay, nor much longer."""

    async def scenario(machine: Machine) -> None:
        arrivals: list[float] = []

        def arrive(request: ReceivedRequest) -> Reply:
            arrivals.append(time.monotonic())
            return reply("Here.")

        urls = [f"http://a.test/{n}" for n in range(5)]
        for url in urls:
            machine.archiver.servers.serve(url, arrive)
        machine.archiver.servers.serve("http://a.test/robots.txt", robots("User-agent: *\nCrawl-delay: 1.5"))
        await machine.archiver.watch(*urls)
        async with machine.archiver.node.crawling() as loop:
            steps = loop._clock_steps
            crawl = asyncio.ensure_future(loop.crawl())
            for number in (1, 3):
                while len(arrivals) < number:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
                await asyncio.sleep(0.3)
                machine.clock.set_by(step_s)
                assert await steps.check() == pytest.approx(step_s, abs=1)
            await asyncio.wait_for(crawl, 60)
        assert len(arrivals) == 5
        assert min(after - before for before, after in pairwise(arrivals)) > 1.2

    run_machine(scenario, passes=True)


def test_a_step_is_said(
    run_machine: RunMachine, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, with its direction and size; at the start, too, and if the clock was ahead before the machine restarted."""

    def said() -> list[str]:
        messages = list(caplog.messages)
        caplog.clear()
        return messages

    async def scenario(machine: Machine) -> None:
        async with machine.archiver._own_store() as store:
            steps = ClockSteps(clock=machine.clock, store=store)
            assert await steps.check() == 0.0
            machine.clock.set_by(-HOUR_S)
            assert await steps.check() == pytest.approx(-HOUR_S)
            assert await steps.check() == 0.0
            assert said() == ["the system clock was set back by 1h. Schedules and waits go on as before."]
            started_later = SettableClock(set_by_s=DAY_S - HOUR_S)
            assert await ClockSteps(clock=started_later, store=store).check() == 0.0
            assert said() == ["the system clock was set forward by 1d. Schedules are moved with it now."]
            await machine.archiver.watch(*PAGES)
            await machine.archiver.crawl()
            caplog.clear()
            restarted = SettableClock(set_by_s=-10 * DAY_S)
            monkeypatch.setattr("webstrata.clock._machine", lambda: "restarted")
            await ClockSteps(clock=restarted, store=store).check()
            assert [message.partition(":")[0] for message in said()] == ["the last visits of 6 pages are in the future"]
            await ClockSteps(clock=restarted, store=store).check()
            assert said() == []

    caplog.set_level(logging.WARNING, "webstrata.crawl")
    run_machine(scenario, *AT_ONCE)
