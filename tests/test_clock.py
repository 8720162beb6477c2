"""Clocks: when tasks wake, and when the jumping clock must not advance; the text formats of times."""

from __future__ import annotations

import asyncio
import itertools
import math
import time
from collections.abc import Awaitable, Callable

import pytest

from webstrata.clock import (
    JumpingClock,
    ManualClock,
    RealClock,
    ScaledClock,
    digits14,
    iso,
    parse_instant,
    parse_span,
    span,
)
from webstrata.errors import UsageError


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    async def within_seconds() -> None:
        await asyncio.wait_for(scenario(), 10)

    asyncio.run(within_seconds())


# ── jumping ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_two_years_of_sleep_take_no_time() -> None:
    """A task wakes exactly at its time, and the wait takes no real time."""

    async def scenario() -> None:
        clock = JumpingClock(1000.0)
        began = time.monotonic()
        for _ in range(730):
            before = clock.now()
            await clock.sleep_until(before + 86_400)
            assert clock.now() == before + 86_400
        assert time.monotonic() - began < 5
        assert clock.jumps == 730

    run(scenario)


def test_sleepers_wake_in_order_of_their_instants() -> None:
    """Tasks wake in the order of their times; tasks with the same time in the order of their calls."""

    async def scenario() -> None:
        clock = JumpingClock(0.0)
        woken: list[tuple[float, str]] = []

        async def sleeper(at: float, name: str) -> None:
            await clock.sleep_until(at)
            woken.append((clock.now(), name))

        asked = [(30.0, "c"), (10.0, "a"), (20.0, "b1"), (20.0, "b2"), (10.0, "a2")]
        await asyncio.gather(*(sleeper(at, name) for at, name in asked))
        assert woken == [(10.0, "a"), (10.0, "a2"), (20.0, "b1"), (20.0, "b2"), (30.0, "c")]
        assert clock.jumps == 3

    run(scenario)


def test_stands_still_while_real_work_is_in_flight() -> None:
    """While real work is in progress no task is woken and the time does not change."""

    async def scenario() -> None:
        clock = JumpingClock(0.0)
        events: list[str] = []

        async def sleeper() -> None:
            await clock.sleep_until(1.0)
            events.append("woke")

        async def worker() -> None:
            with clock.working():
                await asyncio.to_thread(time.sleep, 0.05)
                assert clock.now() == 0.0
                events.append("worked")

        await asyncio.gather(sleeper(), worker())
        assert events == ["worked", "woke"]

    run(scenario)


def test_overlapping_and_nested_work_all_count() -> None:
    """The clock advances only after the last of several pieces of work has ended."""

    async def scenario() -> None:
        clock = JumpingClock(0.0)
        ended: list[float] = []

        async def worker(seconds: float) -> None:
            with clock.working(), clock.working():
                await asyncio.sleep(seconds)
            ended.append(clock.now())

        await asyncio.gather(clock.sleep_until(5.0), *(worker(0.005 * n) for n in range(1, 6)))
        assert ended == [0.0] * 5
        assert clock.now() == 5.0

    run(scenario)


def test_work_that_fails_or_is_cancelled_still_ends() -> None:
    """After an exception or a cancellation inside `working()` the clock advances again."""

    async def scenario() -> None:
        clock = JumpingClock(0.0)

        async def endless() -> None:
            with clock.working():
                await asyncio.get_running_loop().create_future()

        task = asyncio.create_task(endless())
        sleep = asyncio.create_task(clock.sleep_until(3.0))
        await asyncio.sleep(0.01)
        assert not sleep.done()
        task.cancel()
        await sleep
        with pytest.raises(ValueError, match="broken"), clock.working():
            raise ValueError("broken")
        await clock.sleep_until(4.0)

    run(scenario)


def test_runnable_tasks_go_first() -> None:
    """A wake-up that passes through queues, locks and gathers reaches the last task before the clock advances."""

    async def scenario() -> None:
        clock = JumpingClock(0.0)
        queues: list[asyncio.Queue[int]] = [asyncio.Queue() for _ in range(12)]
        arrived: list[float] = []

        async def link(here: asyncio.Queue[int], there: asyncio.Queue[int]) -> None:
            await there.put(await here.get())

        async def last() -> None:
            await queues[-1].get()
            arrived.append(clock.now())

        async def first() -> None:
            await clock.sleep_until(10.0)
            await queues[0].put(1)

        links = (link(here, there) for here, there in itertools.pairwise(queues))
        await asyncio.gather(first(), last(), clock.sleep_until(11.0), *links)
        assert arrived == [10.0]

    run(scenario)


def test_real_answers_are_waited_for() -> None:
    """A request over a real socket inside `working()` starts and ends at the same time, beside 1000 sleepers."""

    async def scenario() -> None:
        clock = JumpingClock(0.0)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readline()
            await asyncio.sleep(0.02)
            writer.write(f"{clock.now()}\n".encode())
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)

        async def ask() -> tuple[float, float]:
            await clock.sleep_until(7.0)
            with clock.working():
                reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
                writer.write(b"?\n")
                told = float(await reader.readline())
                writer.close()
                await writer.wait_closed()
            return told, clock.now()

        others = [clock.sleep_until(0.01 * n) for n in range(1, 1000)]
        answer, *_ = await asyncio.gather(ask(), *others)
        assert answer == (7.0, 7.0)
        server.close()
        await server.wait_closed()

    run(scenario)


def test_a_cancelled_sleeper_does_not_pull_time() -> None:
    """The clock does not jump to the wake-up time of a cancelled task."""

    async def scenario() -> None:
        clock = JumpingClock(0.0)
        early = asyncio.create_task(clock.sleep_until(1.0))
        late = asyncio.create_task(clock.sleep_until(9.0))
        await asyncio.sleep(0)
        early.cancel()
        await late
        assert (clock.now(), clock.jumps) == (9.0, 1)

    run(scenario)


def test_the_past_and_infinity() -> None:
    """Sleeping until a past time yields once; sleeping until infinity never ends and causes no jump."""

    async def scenario() -> None:
        clock = JumpingClock(50.0)
        await clock.sleep_until(10.0)
        assert clock.now() == 50.0
        for_ever = asyncio.create_task(clock.sleep_until(math.inf))
        await clock.sleep_until(60.0)
        await asyncio.sleep(0.02)
        assert clock.now() == 60.0
        assert not for_ever.done()
        for_ever.cancel()

    run(scenario)


def test_listeners_hear_the_time_before_it_comes() -> None:
    """The callbacks receive the time of every jump, in order, while the clock still has the old time."""

    async def scenario() -> None:
        clock = JumpingClock(0.0)
        heard: list[tuple[float, float]] = []

        async def tell(at: float) -> None:
            with clock.working():
                await asyncio.sleep(0.001)
            heard.append((clock.now(), at))

        clock.before_jump.append(tell)
        for at in (5.0, 6.0, 8.0):
            await clock.sleep_until(at)
        assert heard == [(0.0, 5.0), (5.0, 6.0), (6.0, 8.0)]

    run(scenario)


def test_work_that_begins_during_an_announcement_is_waited_for() -> None:
    """Work that begins while the callbacks run still happens at the old time."""

    async def scenario() -> None:
        clock = JumpingClock(0.0)
        telling = asyncio.Event()
        seen: list[float] = []

        async def tell(at: float) -> None:
            telling.set()
            await asyncio.sleep(0.01)

        async def surprise() -> None:
            await telling.wait()
            with clock.working():
                await asyncio.sleep(0.05)
                seen.append(clock.now())

        clock.before_jump.append(tell)
        await asyncio.gather(clock.sleep_until(4.0), surprise())
        assert seen == [0.0]
        assert clock.now() == 4.0

    run(scenario)


def test_a_sleeper_that_comes_during_an_announcement_is_not_jumped_over() -> None:
    """A task that starts to sleep while the callbacks run, until an earlier time, wakes at that time."""

    async def scenario() -> None:
        clock = JumpingClock(0.0)
        telling = asyncio.Event()
        woke: list[float] = []

        async def tell(at: float) -> None:
            telling.set()
            await asyncio.sleep(0.01)

        async def surprise() -> None:
            await telling.wait()
            await clock.sleep_until(2.0)
            woke.append(clock.now())

        clock.before_jump.append(tell)
        await asyncio.gather(clock.sleep_until(4.0), surprise())
        assert woke == [2.0]

    run(scenario)


def test_a_failing_listener_is_heard() -> None:
    """If a callback fails, the sleeping task gets its exception and the clock does not advance."""

    async def scenario() -> None:
        clock = JumpingClock(0.0)

        async def tell(at: float) -> None:
            raise ConnectionError("the web is gone")

        clock.before_jump.append(tell)
        with pytest.raises(ConnectionError, match="the web is gone"):
            await clock.sleep_until(4.0)
        assert clock.now() == 0.0
        clock.before_jump.clear()
        await clock.sleep_until(4.0)

    run(scenario)


def test_goes_on_in_a_second_event_loop() -> None:
    """A clock whose event loop ended during a sleep works in another event loop."""
    clock = JumpingClock(0.0)

    async def interrupted() -> None:
        task = asyncio.create_task(clock.sleep_until(1.0))
        await asyncio.sleep(0)
        assert not task.done()

    asyncio.run(interrupted())

    async def again() -> None:
        await clock.sleep_until(2.0)

    run(again)
    assert clock.now() == 2.0


# ── the other clocks ────────────────────────────────────────────────────────────────────────────────────────


def test_manual_moves_only_when_told() -> None:
    """A manual clock wakes exactly the tasks whose time has come, and never goes back."""

    async def scenario() -> None:
        clock = ManualClock(100.0)
        first = asyncio.create_task(clock.sleep_until(110.0))
        second = asyncio.create_task(clock.sleep_until(120.0))
        await asyncio.sleep(0.01)
        assert not first.done()
        clock.advance(10.0)
        await first
        clock.move_to(50.0)
        assert clock.now() == 110.0
        assert not second.done()
        clock.move_to(500.0)
        await second

    run(scenario)


@pytest.mark.parametrize("make", [RealClock, lambda: ScaledClock(0.0, 1000.0)])
def test_nobody_wakes_early(make: Callable[[], RealClock | ScaledClock]) -> None:
    """On real and scaled clocks a sleep does not end before the requested time."""

    async def scenario() -> None:
        clock = make()
        for wait_s in (0.0, 0.001, 0.01):
            at = clock.now() + wait_s
            await clock.sleep_until(at)
            assert clock.now() >= at

    run(scenario)


def test_scaled_runs_faster() -> None:
    """A clock scaled by a million passes a day in less than a second."""

    async def scenario() -> None:
        clock = ScaledClock(0.0, 1_000_000.0)
        began = time.monotonic()
        await clock.sleep_until(86_400.0)
        assert time.monotonic() - began < 8
        with clock.working():
            assert clock.now() >= 86_400.0

    run(scenario)


# ── text formats ────────────────────────────────────────────────────────────────────────────────────────────

INSTANTS = [
    ("2026-11-15", "2026-11-15T00:00:00Z"),
    ("2026-11-15T08:30:00Z", "2026-11-15T08:30:00Z"),
    ("2026-11-15T08:30:00.25+02:00", "2026-11-15T06:30:00.250000Z"),
    ("2026-11-15T08:30", "2026-11-15T08:30:00Z"),
    ("2026", "2026-01-01T00:00:00Z"),
    ("202611", "2026-11-01T00:00:00Z"),
    ("20261115", "2026-11-15T00:00:00Z"),
    (" 20261115083001 ", "2026-11-15T08:30:01Z"),
]


@pytest.mark.parametrize(("text", "meant"), INSTANTS)
def test_instants_are_read_as_meant(text: str, meant: str) -> None:
    """Dates, times and 4 to 14 digits are parsed as UTC unless they name a zone, and formatted the same way."""
    assert iso(parse_instant(text)) == meant


@pytest.mark.parametrize("text", ["", "yesterday", "20261", "20261315", "2026-02-30", "202611150830012", "12:00"])
def test_no_instant(text: str) -> None:
    """A text that is not a time raises an error that shows the format."""
    with pytest.raises(UsageError, match="not a time"):
        parse_instant(text)


def test_digits_cut_the_fraction() -> None:
    """Fourteen digits are truncated to the second, not rounded up."""
    at = parse_instant("2026-11-15T08:30:59.9Z")
    assert digits14(at) == "20261115083059"


SPANS = [("90s", 90), ("15m", 900), ("6h", 21_600), ("2d", 172_800), ("1w", 604_800), ("1d12h", 129_600), ("1.5", 1.5)]


@pytest.mark.parametrize(("text", "seconds"), SPANS)
def test_spans_are_read(text: str, seconds: float) -> None:
    """Durations are parsed with their units, also combined; a bare number is seconds."""
    assert parse_span(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-5s", "5y", "1 5", "1d 5", "1.2.3"])
def test_no_span(text: str) -> None:
    """A text that is not a duration is refused, and so is a number with an ambiguous unit."""
    with pytest.raises(UsageError, match="not a duration"):
        parse_span(text)


SHOWN = [(0, "0s"), (0.84, "0.8s"), (9.99, "10s"), (59.6, "1m"), (720, "12m"), (273_600, "3d 4h"), (86_405, "1d 5s")]


@pytest.mark.parametrize(("seconds", "shown"), SHOWN)
def test_spans_are_shown_with_two_units(seconds: float, shown: str) -> None:
    """A duration is displayed in its two largest units."""
    assert span(seconds) == shown


# ── a system clock that is set ──────────────────────────────────────────────────────────────────────────────


class SystemTime:
    """A machine whose system clock a test sets."""

    def __init__(self) -> None:
        self.uptime = 1000.0
        self.wall = 1_790_000_000.0

    def pass_by(self, seconds: float) -> None:
        self.uptime += seconds
        self.wall += seconds

    def clock(self) -> RealClock:
        return RealClock(wall=lambda: self.wall, uptime=lambda: self.uptime)


@pytest.mark.parametrize("step_s", [-3600.0, 86_400.0, -2.5])
def test_a_step_is_followed_when_it_is_polled(step_s: float) -> None:
    """Until then time passes as it really does; `steady` never leaps."""
    system = SystemTime()
    clock = system.clock()
    start_at, steady = clock.now(), clock.steady()
    assert clock.poll_step() == 0.0
    system.wall += step_s
    system.pass_by(10)
    assert clock.now() == pytest.approx(start_at + 10)
    assert clock.poll_step() == pytest.approx(step_s)
    assert clock.poll_step() == 0.0
    assert clock.now() == pytest.approx(start_at + step_s + 10)
    assert clock.steady() == pytest.approx(steady + 10)
    reading = clock.reading()
    assert (reading.uptime_s, reading.at) == (1010.0, pytest.approx(system.wall))
    assert reading.machine == RealClock().reading().machine


def test_a_small_difference_is_followed_gradually() -> None:
    """The clock never runs backwards, and after a while shows the system time again."""
    system = SystemTime()
    clock = system.clock()
    system.wall -= 1.5
    seen = [clock.now()]
    for _ in range(1000):
        system.pass_by(5)
        seen.append(clock.now())
    assert clock.poll_step() == 0.0
    assert all(before < after for before, after in itertools.pairwise(seen))
    assert max(abs(after - before - 5) for before, after in itertools.pairwise(seen)) < 0.01
    assert seen[-1] == pytest.approx(system.wall)


def test_an_interrupted_reading_is_not_a_step() -> None:
    """The process may be stopped for seconds between reading the one clock and the other."""
    system = SystemTime()
    pauses = iter([0.0] * 7 + [30.0] * 2 + [0.0] * 100)

    def uptime() -> float:
        system.pass_by(next(pauses))
        return system.uptime

    clock = RealClock(wall=lambda: system.wall, uptime=uptime)
    assert [clock.poll_step() for _ in range(10)] == [0.0] * 10


@pytest.mark.parametrize("step_s", [-3600.0, 86_400.0])
def test_sleepers_sleep_as_long_as_they_wanted(step_s: float) -> None:
    """A step while a task sleeps neither wakes it nor lets it sleep longer."""

    async def scenario() -> None:
        offset = 0.0
        clock = RealClock(wall=lambda: time.time() + offset)
        began = time.monotonic()
        sleeper = asyncio.ensure_future(clock.sleep_until(clock.now() + 0.5))
        await asyncio.sleep(0.1)
        offset = step_s
        assert clock.poll_step() == pytest.approx(step_s, abs=1)
        await sleeper
        assert time.monotonic() - began >= 0.499

    run(scenario)


def test_simulated_clocks_cannot_be_set() -> None:
    for clock in (ManualClock(5.0), JumpingClock(5.0), ScaledClock(5.0, 10.0)):
        assert (clock.poll_step(), clock.reading()) == (0.0, None)
        assert 5.0 <= clock.steady() <= clock.now()
