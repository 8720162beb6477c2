"""Time as a port: the real clock and three that tests, the demo and the lab can steer.

`RealClock` is the machine's. `ScaledClock` runs at a multiple of it. `ManualClock` moves when told.
`JumpingClock` stands still while real work is in flight (`with clock.working():`) and, when no work is and every
task waits on the clock, jumps to the earliest sleeper: two years of visits then take as long as their requests.

Also here: the three spellings of an instant that travel (ISO 8601, 14 digits, and lengths like `90m`).
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime

from webstrata.errors import UsageError

DAY_S = 86_400.0

# How many empty passes of the event loop make it idle. A wake-up that is handed from task to task (queue, lock,
# gather) takes one pass for each hand; chains without any clock or work activity in between are shorter than this.
_IDLE_PASSES = 40

# The longest wait without a look at the machine's clock: it may be set, and while a laptop sleeps timers stand still.
_LONGEST_WAIT_S = 60.0


class RealClock:
    """The machine's clock. Nobody wakes before the time asked for, whatever happens to the machine's clock."""

    def now(self) -> float:
        return time.time()

    async def sleep_until(self, at: float) -> None:
        await asyncio.sleep(0)
        while (left_s := at - time.time()) > 0:  # noqa: ASYNC110 - time is what is waited for
            await asyncio.sleep(min(left_s, _LONGEST_WAIT_S))

    def working(self) -> AbstractContextManager[None]:
        return nullcontext()


class ScaledClock:
    """Starts at an instant and runs `factor` times as fast as the machine's."""

    def __init__(self, start_at: float, factor: float) -> None:
        self._start_at = start_at
        self._factor = factor
        self._origin = time.monotonic()

    def now(self) -> float:
        return self._start_at + (time.monotonic() - self._origin) * self._factor

    async def sleep_until(self, at: float) -> None:
        await asyncio.sleep(0)
        while (left_s := (at - self.now()) / self._factor) > 0:  # noqa: ASYNC110
            await asyncio.sleep(min(left_s, _LONGEST_WAIT_S))

    def working(self) -> AbstractContextManager[None]:
        return nullcontext()


class _Sleepers:
    """Futures by the instant at which they want to wake."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()

    def add(self, at: float) -> asyncio.Future[None]:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._heap, (at, next(self._order), future))
        return future

    def earliest(self) -> float | None:
        """The next instant at which someone wants to wake; none where all wait for ever."""
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


class ManualClock:
    """Moves only when `advance` or `move_to` is called."""

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


class JumpingClock:
    """Stands still while work is in flight; jumps to the earliest sleeper when nothing else can happen.

    `before_jump` are told the new time first (a web that lives by this clock must not be behind its visitor); where
    one of them fails, those who wait for that time get its error. Who sleeps until infinity is never woken.
    All tasks of one event loop share one jumping clock. Work in a thread or a child process counts while the task
    that awaits it is inside `working()`, which is entered and left in the event loop.
    """

    def __init__(self, start_at: float) -> None:
        self._now = start_at
        self._sleepers = _Sleepers()
        self._in_flight = 0
        self._activity = 0
        self._watcher: asyncio.AbstractEventLoop | None = None
        self._announcing: asyncio.Task[None] | None = None
        self._told_at: float | None = None
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
        """See to it that someone looks for idleness, once no work is in flight."""
        if self._in_flight or self._sleepers.earliest() is None:
            return
        loop = asyncio.get_running_loop()
        if self._watcher is not loop:  # nobody looks, or one in a loop that has ended
            self._watcher = loop
            loop.call_soon(self._look, self._activity, _IDLE_PASSES)

    def _look(self, activity: int, passes: int) -> None:
        if self._in_flight:
            self._watcher = None  # the end of the work watches again
        elif activity != self._activity:
            asyncio.get_running_loop().call_soon(self._look, self._activity, _IDLE_PASSES)
        elif passes:
            asyncio.get_running_loop().call_soon(self._look, activity, passes - 1)
        else:
            self._jump()

    def _jump(self) -> None:
        """The watcher stays on duty until the jump is made or given up: two never jump at once."""
        at = self._sleepers.earliest()
        if at is None:
            self._watcher = None
        elif self.before_jump and at != self._told_at:
            self._announcing = asyncio.get_running_loop().create_task(self._announce(at))
        else:
            self._arrive(at)

    async def _announce(self, at: float) -> None:
        activity = self._activity
        try:
            for tell in self.before_jump:
                await tell(at)
        except Exception as error:  # a border: whose listener it is, is not known here
            self._watcher = None
            self._sleepers.fail(at, error)
            return
        self._told_at = at
        if activity == self._activity:
            self._arrive(at)
        else:  # something happened meanwhile (perhaps only the telling): look again, it may be the wrong time by now
            self._watcher = None
            self._watch()

    def _arrive(self, at: float) -> None:
        self._now = max(self._now, at)
        self.jumps += 1
        self._activity += 1
        self._watcher = None
        self._sleepers.wake(self._now)
        self._watch()


# ── spellings ───────────────────────────────────────────────────────────────────────────────────────────────


def iso(at: float) -> str:
    """`2026-11-15T08:30:00.250000Z`, without the fraction where it is zero."""
    moment = datetime.fromtimestamp(round(at, 6), UTC)
    text = moment.isoformat(timespec="microseconds" if moment.microsecond else "seconds")
    return text.replace("+00:00", "Z")


def digits14(at: float) -> str:
    """`20261115083000`, as CDX and Memento URLs write it (the fraction is cut, not rounded)."""
    return datetime.fromtimestamp(round(at, 6), UTC).strftime("%Y%m%d%H%M%S")


_DIGITS = re.compile(r"\d{4}(\d\d){0,5}")


def parse_instant(text: str) -> float:
    """An instant from ISO 8601 (date or date and time; UTC unless it says otherwise) or 4 to 14 digits."""
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
        raise UsageError(f"not a time: {text!r}. Write 2026-11-15, 2026-11-15T08:30:00Z or 20261115083000.") from None


_UNITS_S = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": DAY_S, "w": 7 * DAY_S}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw]?)")


def parse_span(text: str | float) -> float:
    """A length of time in seconds: a number, or `90s`, `15m`, `6h`, `2d`, `1w`, also joined (`1d12h`)."""
    if isinstance(text, int | float):
        return float(text)
    parts = _SPAN.findall(text)
    bare = len(parts) > 1 and any(not unit for _, unit in parts)  # `1 5` is neither 15 nor 6 to its writer
    if not parts or bare or _SPAN.sub("", text).strip():
        raise UsageError(f"not a length of time: {text!r}. Write 90s, 15m, 6h, 2d, 1w or 1d12h.")
    return sum(float(number) * _UNITS_S[unit or "s"] for number, unit in parts)


def span(seconds: float) -> str:
    """A length of time for people: the largest two units that matter (`3d 4h`, `12m`, `0.8s`)."""
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
