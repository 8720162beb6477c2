"""Clocks: the real one, and three for tests, the demo and the lab; and the text formats of instants and durations.

`RealClock` is the system clock. `ScaledClock` runs at a multiple of its speed. `ManualClock` advances only by calls.
`JumpingClock` does not advance while real work is in progress (`with clock.working():`). When there is no work and
every task waits for the clock, it jumps to the earliest wake-up time: the visits of two simulated years then take
only as long as their requests.

Formats: ISO 8601, 14 digits as in CDX, and durations like `90m`.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
import re
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path

from webstrata.errors import UsageError
from webstrata.records import ClockReading

DAY_S = 86_400.0

# The event loop counts as idle after this many passes without activity. A wake-up that passes from task to task
# (queue, lock, gather) takes one pass per task; chains without any clock or work activity are shorter than this.
_IDLE_PASSES = 40

# The clock is read at least this often while waiting: timers stop while the machine is suspended.
_MAX_WAIT_S = 60.0


STEP_S = 2.0
"""A difference above this between the system clock and the time that really passed is a step; a smaller one is followed
gradually."""

_SLEW = 5e-4
"""The most by which `now` runs faster or slower than real time while it follows a small difference: as much as the
system's own `adjtime`. A gap of two seconds is then wrong by one millisecond at most."""

_SLEW_EVERY_S = 1.0
"""How often the two clocks are compared: `now` is read many times for each request."""

_MAX_READ_S = 0.05
"""A reading of both clocks that took longer was interrupted, and is repeated."""


_UPTIME = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def uptime_s() -> float:
    """Seconds since the machine was started, which no setting of the clock changes. On Linux the time while it was
    suspended counts, so that a suspension is not a step."""
    return time.clock_gettime(_UPTIME)


class RealClock:
    """The system clock, which users and services set now and then; time in between passes as it really does.

    `now` is the system time when the clock was made, plus the time that really passed. If the system clock is set
    meanwhile, `now` follows only when `poll_step` is called, which says by how much: whoever keeps instants in memory
    moves them by as much (docs/decisions/0058-clock-steps.md). A task that sleeps wakes after the time that it wanted
    to sleep, never earlier.
    """

    def __init__(self, *, wall: Callable[[], float] = time.time, uptime: Callable[[], float] = uptime_s) -> None:
        self._wall = wall
        self._uptime = uptime
        self._stepped_s = 0.0
        """All steps so far."""
        self._slewed_at, self._offset = self._read()

    def _read(self) -> tuple[float, float]:
        """The time since the start of the machine, and by how much the system time differs from it."""
        for _ in range(100):
            before, wall, after = self._uptime(), self._wall(), self._uptime()
            if after - before <= _MAX_READ_S:
                break
        return after, wall - after

    def now(self) -> float:
        return self.steady() + self._stepped_s

    def steady(self) -> float:
        uptime = self._uptime()
        if uptime - self._slewed_at >= _SLEW_EVERY_S:
            self._slew()
        return uptime + self._offset

    def _slew(self) -> None:
        """Follow a small difference between the clocks a little."""
        uptime, offset = self._read()
        ahead = offset - self._offset - self._stepped_s
        if abs(ahead) <= STEP_S:
            most = _SLEW * (uptime - self._slewed_at)
            self._offset += min(max(ahead, -most), most)
        self._slewed_at = uptime

    def poll_step(self) -> float:
        _, offset = self._read()
        ahead = offset - self._offset - self._stepped_s
        if abs(ahead) <= STEP_S:
            return 0.0
        self._stepped_s += ahead
        return ahead

    def reading(self) -> ClockReading:
        uptime, _ = self._read()
        return ClockReading(machine=_machine(), uptime_s=uptime, at=self.now())

    async def sleep_until(self, at: float) -> None:
        await asyncio.sleep(0)
        wake_at = at - self._stepped_s
        while (left_s := wake_at - self.steady()) > 0:  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(min(left_s, _MAX_WAIT_S))

    def working(self) -> AbstractContextManager[None]:
        return nullcontext()


_THIS_PROCESS = uuid.uuid4().hex


def _machine() -> str:
    """A name of this start of the machine: within it, uptimes can be compared. In a time namespace the uptime has
    another origin. Where the system does not tell, each process has its own."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        namespace = Path("/proc/self/ns/time").readlink().name
    except OSError:
        return _THIS_PROCESS
    return f"{boot} {namespace}"


class _SteplessClock(ABC):
    """What the clocks that nobody can set have in common."""

    @abstractmethod
    def now(self) -> float: ...

    def steady(self) -> float:
        return self.now()

    def poll_step(self) -> float:
        return 0.0

    def reading(self) -> None:
        return None


class ScaledClock(_SteplessClock):
    """A clock that starts at an instant and runs `factor` times as fast as the system clock."""

    def __init__(self, start_at: float, factor: float) -> None:
        self._start_at = start_at
        self._factor = factor
        self._origin = time.monotonic()

    def now(self) -> float:
        return self._start_at + (time.monotonic() - self._origin) * self._factor

    async def sleep_until(self, at: float) -> None:
        await asyncio.sleep(0)
        while (left_s := (at - self.now()) / self._factor) > 0:  # noqa: ASYNC110
            await asyncio.sleep(min(left_s, _MAX_WAIT_S))

    def working(self) -> AbstractContextManager[None]:
        return nullcontext()


class _Sleepers:
    """Sleeping tasks as futures, ordered by wake-up time."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()

    def add(self, at: float) -> asyncio.Future[None]:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._heap, (at, next(self._order), future))
        return future

    def earliest(self) -> float | None:
        """The earliest wake-up time; None if there is no sleeper, or all sleep until infinity."""
        while self._heap and self._heap[0][2].done():  # cancelled
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap and self._heap[0][0] < math.inf else None

    def wake(self, now: float) -> None:
        for future in self._due(now):
            future.set_result(None)

    def fail(self, now: float, error: Exception) -> None:
        for future in self._due(now):
            future.set_exception(error)

    def _due(self, now: float) -> Iterator[asyncio.Future[None]]:
        while self._heap and self._heap[0][0] <= now:
            future = heapq.heappop(self._heap)[2]
            if not future.done():
                yield future


class ManualClock(_SteplessClock):
    """A clock that advances only when `advance` or `move_to` is called."""

    def __init__(self, start_at: float = 0.0) -> None:
        self._now = start_at
        self._sleepers = _Sleepers()

    def now(self) -> float:
        return self._now

    async def sleep_until(self, at: float) -> None:
        if at <= self._now:
            await asyncio.sleep(0)
            return
        await self._sleepers.add(at)

    def move_to(self, at: float) -> None:
        self._now = max(self._now, at)
        self._sleepers.wake(self._now)

    def advance(self, seconds: float) -> None:
        self.move_to(self._now + seconds)

    def working(self) -> AbstractContextManager[None]:
        return nullcontext()


class JumpingClock(_SteplessClock):
    """A clock that does not advance while work is in progress, and else jumps to the earliest wake-up time.

    The callbacks in `before_jump` receive the new time before the jump (a simulated web must reach a time before its
    visitors do). If a callback fails, the tasks that wait for this time get its exception. A task that sleeps until
    infinity is never woken. All tasks of an event loop share one jumping clock. Work in a thread or a child process
    counts while the task that awaits it is inside `working()`, which is entered and left in the event loop.
    """

    def __init__(self, start_at: float) -> None:
        self._now = start_at
        self._sleepers = _Sleepers()
        self._in_flight = 0
        self._activity = 0
        self._watcher: asyncio.AbstractEventLoop | None = None
        self._announcing: asyncio.Task[None] | None = None
        self._announced_at: float | None = None
        self.before_jump: list[Callable[[float], Awaitable[None]]] = []
        self.jumps = 0

    def now(self) -> float:
        return self._now

    async def sleep_until(self, at: float) -> None:
        if at <= self._now:
            await asyncio.sleep(0)
            return
        self._activity += 1
        future = self._sleepers.add(at)
        self._watch()
        await future

    def working(self) -> AbstractContextManager[None]:
        return self._working()

    @contextmanager
    def _working(self) -> Iterator[None]:
        self._in_flight += 1
        self._activity += 1
        try:
            yield
        finally:
            self._in_flight -= 1
            self._activity += 1
            self._watch()

    def _watch(self) -> None:
        """Start the idle check if no work is in progress and no check runs."""
        if self._in_flight or self._sleepers.earliest() is None:
            return
        loop = asyncio.get_running_loop()
        if self._watcher is not loop:  # no check runs, or it ran in an event loop that has ended
            self._watcher = loop
            loop.call_soon(self._check_idle, self._activity, _IDLE_PASSES)

    def _check_idle(self, activity: int, passes: int) -> None:
        if self._in_flight:
            self._watcher = None  # the end of the work starts the next check
        elif activity != self._activity:
            asyncio.get_running_loop().call_soon(self._check_idle, self._activity, _IDLE_PASSES)
        elif passes:
            asyncio.get_running_loop().call_soon(self._check_idle, activity, passes - 1)
        else:
            self._jump()

    def _jump(self) -> None:
        """Jump to the earliest wake-up time. `_watcher` stays set meanwhile, so that jumps do not overlap."""
        at = self._sleepers.earliest()
        if at is None:
            self._watcher = None
        elif self.before_jump and at != self._announced_at:
            self._announcing = asyncio.get_running_loop().create_task(self._announce(at))
        else:
            self._arrive(at)

    async def _announce(self, at: float) -> None:
        activity = self._activity
        try:
            for callback in self.before_jump:
                await callback(at)
        except Exception as error:  # a callback may raise anything
            self._watcher = None
            self._sleepers.fail(at, error)
            return
        self._announced_at = at
        if activity == self._activity:
            self._arrive(at)
        else:  # there was activity meanwhile (perhaps only the callbacks): the earliest time may be another one now
            self._watcher = None
            self._watch()

    def _arrive(self, at: float) -> None:
        self._now = max(self._now, at)
        self.jumps += 1
        self._activity += 1
        self._watcher = None
        self._sleepers.wake(self._now)
        self._watch()


# ── text formats ────────────────────────────────────────────────────────────────────────────────────────────


def iso(at: float) -> str:
    """`2026-11-15T08:30:00.250000Z`; the fraction is omitted if it is zero."""
    moment = datetime.fromtimestamp(round(at, 6), UTC)
    text = moment.isoformat(timespec="microseconds" if moment.microsecond else "seconds")
    return text.replace("+00:00", "Z")


def digits14(at: float) -> str:
    """`20261115083000`, as in CDX files and Memento URLs. The fraction of a second is truncated, not rounded."""
    return datetime.fromtimestamp(round(at, 6), UTC).strftime("%Y%m%d%H%M%S")


_DIGITS = re.compile(r"\d{4}(\d\d){0,5}")


def parse_instant(text: str) -> float:
    """Parse ISO 8601 (a date, or date and time; UTC if no zone is given) or 4 to 14 digits."""
    text = text.strip()
    try:
        if _DIGITS.fullmatch(text):
            padded = text + "00000101000000"[len(text) :]
            moment = datetime.strptime(padded, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        else:
            moment = datetime.fromisoformat(text)
            moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
        return moment.timestamp()
    except (ValueError, OverflowError):
        raise UsageError(
            f"not a time: {text!r}. Write it like 2026-11-15, 2026-11-15T08:30:00Z or 20261115083000."
        ) from None


_UNITS_S = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": DAY_S, "w": 7 * DAY_S}
_LONGEST_SPAN_S = 36_525 * DAY_S
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw]?)")


def parse_span(text: str | float) -> float:
    """Parse a duration of at most 100 years: a number of seconds, or `90s`, `15m`, `6h`, `2d`, `1w`, or a combination
    (`1d12h`)."""
    if isinstance(text, int | float):
        return _not_too_long(float(min(text, _LONGEST_SPAN_S + 1.0)), text)
    parts = _SPAN.findall(text)
    ambiguous = len(parts) > 1 and any(not unit for _, unit in parts)  # `1 5` may mean 15 or 6
    if not parts or ambiguous or _SPAN.sub("", text).strip():
        raise UsageError(f"not a duration: {text!r}. Write it like 90s, 15m, 6h, 2d, 1w or 1d12h.")
    return _not_too_long(sum(float(number) * _UNITS_S[unit or "s"] for number, unit in parts), text)


def _not_too_long(seconds: float, text: str | float) -> float:
    """Longer durations lead to instants that no calendar has."""
    if not seconds <= _LONGEST_SPAN_S:
        raise UsageError(f"not a duration of at most 100 years: {str(text)[:40]!r}. Write it like 90s, 15m, 6h or 2d.")
    return seconds


def span(seconds: float) -> str:
    """A duration for display, in its two largest units (`3d 4h`, `12m`, `0.8s`)."""
    if seconds < 10:
        return f"{seconds:.1f}s".replace(".0s", "s")
    parts: list[str] = []
    left = round(seconds)
    for unit in ("d", "h", "m", "s"):
        size = int(_UNITS_S[unit])
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{unit}")
        if len(parts) == 2:
            break
    return " ".join(parts)
