"""`ParserLanes`: the queues of the parser processes, one lane for each host, so that no host waits for another one.

Tasks go to the shared processes, lane by lane in turn. A task that ends its process, exceeds the memory or takes longer
than `ParserLimits.slow_s` makes its lane a suspect for an hour. The tasks behind it go to another process at once. The
tasks of suspects are run one at a time in a process of their own, also lane by lane in turn, and only there a task
fails for good. Therefore a task of another lane waits at most `slow_s` of processor time, and the start of a process,
for each host that becomes a suspect.

A lane whose contents were parsed quickly is proven. While contents of other lanes are costly, one process works for
proven lanes only: however many hosts send costly contents, the hosts that were quick so far do not wait for them.

Budgets of bytes limit what waits here: one for suspects, one for proven lanes, one for the others.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict

from webstrata.errors import ParserError
from webstrata.flows.parsers.child import RunTask, Status
from webstrata.flows.parsers.lane_queue import LaneQueue
from webstrata.flows.parsers.parser_process import ParserLimits, ParserProcess
from webstrata.flows.parsers.process_connection import ProcessEnd, QueuedTask, Reply
from webstrata.flows.parsers.tasks import Task

log = logging.getLogger("webstrata.crawl")

SUSPECT_S = 3600.0
"""Time for which a lane is a suspect."""
QUEUED_BYTES = 64 * 2**20
SUSPECT_BYTES = 32 * 2**20
"""Sizes of the two budgets. A single larger body is admitted when nothing else waits."""
_MAX_SUSPECTS = 1000
QUICK_S = 1.0
"""A lane is proven if its last content took less than this."""
_COSTLY_FOR_S = 60.0
"""Time after the last costly content in which one process is reserved for proven lanes."""
_MAX_PROVEN = 100_000
_PROCESS_TASKS = 32
_PROCESS_BYTES = 2 * 2**20
"""Tasks, and bytes of their bodies, that a process has at a time: the next ones must be there when one is done."""
_GIVEN_TASKS = 8
"""Tasks that are given to a busy process before the next process is looked for."""
_SPREAD_TASKS = 16
"""Tasks that a process has before another one is started."""
_MAX_START_FAILURES = 2
_RESTART_S = 5.0
"""Time after a failed start before another process is started, if one works."""
_ADVICE = "Raise the limits of this process (`ulimit`), free memory, or set crawl.workers=0 to parse without limits"


class UnparsableError(ValueError):
    """A content that ended a parser process or exceeded its limits, although nothing else ran in the process."""


class ParserLanes:
    """Runs tasks in up to `processes` shared processes, and in one for suspects."""

    def __init__(
        self, processes: int, run: RunTask, *, limits: ParserLimits | None = None, is_forked: bool = False
    ) -> None:
        limits = limits or ParserLimits()

        def process(*, is_shared: bool) -> ParserProcess:
            return ParserProcess(self, run, limits=limits, is_shared=is_shared, is_forked=is_forked)

        self.shared = [process(is_shared=True) for _ in range(processes)]
        self.for_suspects = process(is_shared=False)
        self._waiting, self._suspected = LaneQueue(QUEUED_BYTES), LaneQueue(SUSPECT_BYTES)
        self._quick = LaneQueue(QUEUED_BYTES)
        """The tasks of proven lanes."""
        self._proven: OrderedDict[str, None] = OrderedDict()
        self._costly_until = 0.0
        self._suspects: OrderedDict[str, float] = OrderedDict()
        """Lane -> the time until which it is a suspect."""
        self._start_failures = 0
        self._restart_at = 0.0
        self._is_filling = False

    def start(self, processes: int) -> None:
        """Start this number of shared processes, before there is anything to do. Raises ParserError."""
        try:
            for process in self.shared[:processes]:
                process.start()
        except OSError as problem:
            raise ParserError(f"no parser process can be started: {problem}. {_ADVICE}.") from None

    async def reply_of(self, task: Task, lane: str) -> Reply:
        """The reply to a task. Waits until the budget of its lane has room.

        Raises UnparsableError, or ParserError if no process works at all, whatever the content.
        """
        item = QueuedTask(task, lane)
        await self._queue_of(lane).admit(item)
        self._enqueue(item)
        if not self._is_filling:  # the tasks of several callers are sent together
            self._is_filling = True
            asyncio.get_running_loop().call_soon(self._fill)
        try:
            return await item.future
        finally:
            for queue in (self._waiting, self._quick, self._suspected):
                queue.release(item)

    def _queue_of(self, lane: str) -> LaneQueue:
        if self.is_suspect(lane):
            return self._suspected
        return self._quick if lane in self._proven else self._waiting

    def is_suspect(self, lane: str) -> bool:
        until = self._suspects.get(lane)
        if until is not None and until <= asyncio.get_running_loop().time():
            del self._suspects[lane]
            until = None
        return until is not None

    def close(self) -> None:
        """End all processes. Tasks without a reply are cancelled."""
        unfinished = [*self._waiting.drain(), *self._quick.drain(), *self._suspected.drain()]
        for process in (*self.shared, self.for_suspects):
            unfinished += process.tasks
            process.end()
        for item in unfinished:
            item.future.cancel()

    # ── reports of the processes ────────────────────────────────────────────────────────────────────────────────

    def replied(self, process: ParserProcess, item: QueuedTask, reply: Reply) -> None:
        self._start_failures = 0
        if reply.status is Status.NO_MEMORY:
            others = list(process.tasks)
            process.end()  # its memory is fragmented
            self.ended(process, item, others, ProcessEnd("parsing took more memory than allowed"))
            return
        item.resolve(reply)

    def took(self, lanes: list[str], seconds: float) -> None:
        if seconds >= QUICK_S:
            self._costly_until = asyncio.get_running_loop().time() + _COSTLY_FOR_S
            if len(lanes) == 1:  # of several, nobody knows which one was costly
                self._proven.pop(lanes[0], None)
            return
        for lane in lanes:
            self._proven[lane] = None
            self._proven.move_to_end(lane)
        while len(self._proven) > _MAX_PROVEN:
            self._proven.popitem(last=False)

    def has_room(self) -> None:
        self._fill()

    def ended(
        self, process: ParserProcess, running: QueuedTask | None, others: list[QueuedTask], why: ProcessEnd
    ) -> None:
        unfinished = others if running is None else [*others, running]  # the others of its lane are done before it
        if why.is_own_fault:
            self._start_failed(unfinished, why)
        else:
            if running is not None:
                log.debug("%s: %s (%s process)", running.lane, why.reason, "shared" if process.is_shared else "own")
                self._suspect(running.lane)
                if not process.is_shared:
                    running.resolve(UnparsableError(why.reason))
                    unfinished = others
            self._requeue(unfinished)
        self._fill()
        if process.is_shared and not any(other.is_running for other in self.shared):
            self._restart(process)

    def _start_failed(self, unfinished: list[QueuedTask], why: ProcessEnd) -> None:
        self._start_failures += 1
        self._restart_at = asyncio.get_running_loop().time() + _RESTART_S
        works = any(process.is_running and process.tasks for process in self.shared)
        if works or self._start_failures < _MAX_START_FAILURES:
            self._requeue(unfinished)
            return
        problem = ParserError(f"{why.reason.strip()}. {_ADVICE}.")
        for item in (*unfinished, *self._waiting.drain(), *self._quick.drain(), *self._suspected.drain()):
            item.resolve(problem)

    def _restart(self, process: ParserProcess) -> None:
        """Have a process ready for the next task; if it does not start, that task reports it."""
        try:
            process.start()
        except OSError as problem:
            log.debug("no parser process can be started: %s", problem)

    # ── queues ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _suspect(self, lane: str) -> None:
        now = asyncio.get_running_loop().time()
        self._suspects[lane] = now + SUSPECT_S
        self._costly_until = now + _COSTLY_FOR_S
        self._proven.pop(lane, None)
        self._suspects.move_to_end(lane)
        if len(self._suspects) > _MAX_SUSPECTS:
            self._suspects.popitem(last=False)

    def _enqueue(self, item: QueuedTask, *, first: bool = False) -> None:
        """Put a task into the queue of its lane; it counts in the budget of that queue from now on."""
        queue = self._queue_of(item.lane)
        for other in (self._waiting, self._quick, self._suspected):
            if other is not queue:
                other.release(item)
        queue.add(item, first=first)

    def _requeue(self, items: list[QueuedTask]) -> None:
        for item in reversed(items):
            self._enqueue(item, first=True)

    def _fill(self) -> None:
        """Give waiting tasks to processes that have room."""
        self._is_filling = False
        is_costly = asyncio.get_running_loop().time() < self._costly_until
        reserved = 1 if is_costly and len(self.shared) > 1 else 0
        self._give(self._quick, self.shared[:1] if reserved else self.shared)
        self._give(self._waiting, self.shared[reserved:])
        if not self.for_suspects.tasks and (item := self._suspected.pop()) is not None:
            self.for_suspects.add(item)
        for process in (*self.shared, self.for_suspects):
            process.send()

    def _give(self, queue: LaneQueue, processes: list[ParserProcess]) -> None:
        """Give the tasks of a queue to those of these processes that have room."""
        while queue and (process := self._process_with_room(processes)) is not None:
            for _ in range(_GIVEN_TASKS if process.tasks else 1):
                item = queue.pop()
                if item is None:
                    break
                if self._queue_of(item.lane) is self._suspected:
                    self._enqueue(item)
                    continue
                process.add(item)
                if process.bytes >= _PROCESS_BYTES:
                    break

    def _process_with_room(self, processes: list[ParserProcess]) -> ParserProcess | None:
        """The running process with the fewest tasks; another one if all have some."""
        # A process that is not running, but has tasks, is started when they are sent.
        running = [
            process for process in processes if (process.is_running or process.tasks) and process.bytes < _PROCESS_BYTES
        ]
        least = min(running, key=lambda process: len(process.tasks), default=None)
        if least is not None and len(least.tasks) < _SPREAD_TASKS:
            return least
        may_start = self._restart_at <= asyncio.get_running_loop().time() or not any(
            process.is_running for process in self.shared
        )
        stopped = (process for process in processes if not process.is_running and not process.tasks)
        new = next(stopped, None) if may_start else None
        if new is not None:
            return new
        return least if least is not None and len(least.tasks) < _PROCESS_TASKS else None
