"""`ParserProcess`: a process that runs tasks (`flows/parsers/child.py`), and the socket through which it gets them.

Replies arrive in the order of the tasks, and the process counts the tasks that it begins, so that the one that it works
on is known. Its processor time is watched; a process that takes too long is killed, because native code cannot be
interrupted in any other way.
"""

from __future__ import annotations

import asyncio
import ctypes
import multiprocessing
import os
import socket
import sys
import threading
import warnings
from collections import deque
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webstrata.flows.parsers.child import REQUEST, RunTask, Status, serve
from webstrata.flows.parsers.process_connection import ProcessConnection, ProcessEnd, QueuedTask, Reply

CHECK_S = 0.25
"""Time between two checks of a process that works."""
_START_S = 60.0
"""Time for a process to start, on a loaded machine."""
_WAITING_FACTOR = 4.0
"""A content is slow, too, if it takes this multiple of the processor time by the clock on the wall."""
_JOINED_BYTES = 64 * 1024
"""A larger body is written by itself, without a copy."""


class ParserLimits(Struct, frozen=True, kw_only=True):
    """The limits of parser processes."""

    slow_s: float = 2.0
    """Processor time after which a content is given up by a process that other contents wait for, and goes on in one
    of its own."""
    cpu_s: float = 10.0
    """Processor time for one content."""
    wall_s: float = 60.0
    """Time for one content, if its process does not get the processor or waits for something."""
    memory_bytes: int = 2**30
    """For each process, in addition to what it uses at its start."""
    reply_bytes: int = 32 * 2**20
    """Size of one result."""


class ProcessOwner(Protocol):
    """What a process reports to."""

    def replied(self, process: ParserProcess, item: QueuedTask, reply: Reply) -> None: ...

    def took(self, lanes: list[str], seconds: float) -> None:
        """Tasks of these lanes took this long together, by the clock on the wall."""
        ...

    def has_room(self) -> None:
        """A process has sent some replies."""
        ...

    def ended(
        self, process: ParserProcess, running: QueuedTask | None, others: list[QueuedTask], why: ProcessEnd
    ) -> None:
        """The process has ended: the task that it was running, and others without a reply."""
        ...


class ParserProcess:
    """A process that is started when it is first needed, and again after it ended."""

    def __init__(
        self, owner: ProcessOwner, run: RunTask, *, limits: ParserLimits, is_shared: bool, is_forked: bool = False
    ) -> None:
        """`is_shared`: the contents of many hosts wait for each other here, so none may take longer than
        `limits.slow_s`. `is_forked`: see `ParserPool`."""
        self._owner = owner
        self._run = run
        self._limits = limits
        self.is_shared = is_shared
        self._is_forked = is_forked and sys.platform == "linux"
        self._encode = msgspec.msgpack.Encoder(enc_hook=int).encode  # settings may be subclasses of int
        self._process: BaseProcess | None = None
        self._socket: socket.socket | None = None
        self._connection: ProcessConnection | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._is_loaded = False
        self._unsent: list[QueuedTask] = []
        self._started = multiprocessing.get_context("spawn").RawValue(ctypes.c_uint64)
        """The number of tasks that the process has begun."""
        self._replied = 0
        self.tasks: deque[QueuedTask] = deque()
        """Tasks without a reply so far."""
        self.bytes = 0
        """Size of their bodies."""
        self._done: list[str] = []
        """The lanes of the replies that have just arrived."""
        self._works_since = 0.0
        """Since when the process works on the task that it replies to next (the event loop's time)."""
        self._timer: asyncio.TimerHandle | None = None
        self._checked: tuple[QueuedTask | None, float, float] = (None, 0.0, 0.0)
        """The task that was running at the last check, and the time and processor time when it was first seen."""

    @property
    def is_running(self) -> bool:
        return self._process is not None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def start(self) -> None:
        """Start the process, before there is anything to do. Raises OSError."""
        if self._process is not None:
            return
        own_end, child_end = socket.socketpair()
        may_fork = self._is_forked and threading.active_count() == 1
        spawn, fork = multiprocessing.get_context("spawn").Process, multiprocessing.get_context("fork").Process
        self._started.value = self._replied = 0
        arguments = (child_end, self._run, self._limits.memory_bytes, self._limits.reply_bytes, self._started)
        make: type[BaseProcess] = fork if may_fork else spawn
        process = make(target=serve, args=arguments, name="webstrata-parser", daemon=True)
        try:
            with warnings.catch_warnings():  # Python 3.12 warns of NumPy's idle threads
                warnings.simplefilter("ignore", DeprecationWarning)
                process.start()
        except OSError:
            own_end.close()
            raise
        finally:
            child_end.close()
        own_end.setblocking(False)
        self._process, self._socket = process, own_end

    def add(self, item: QueuedTask) -> None:
        """Give the process a task, which `send` sends."""
        self.tasks.append(item)
        self.bytes += item.size
        self._unsent.append(item)

    def send(self) -> None:
        """Send the tasks that were added."""
        if not self._unsent:
            return
        if self._connection is not None:
            self._write()
        elif self._connecting is None:
            try:
                self.start()
            except OSError as problem:
                why = ProcessEnd(f"no parser process can be started: {problem}", is_own_fault=True)
                asyncio.get_running_loop().call_soon(self.lost, why)
                return
            self._connecting = asyncio.create_task(self._connect())

    def received(self, reply: Reply) -> None:
        if not self._is_loaded:
            if reply.status is Status.DONE:
                self._is_loaded = True
            else:
                self.lost(ProcessEnd(reply.payload.decode("utf-8", "replace"), is_own_fault=True))
            return
        item = self.tasks.popleft()
        self.bytes -= item.size
        self._replied += 1
        self._done.append(item.lane)
        self._owner.replied(self, item, reply)

    def received_all(self) -> None:
        """All replies that have arrived so far are reported."""
        now = asyncio.get_running_loop().time()
        if self._done:
            done, self._done = self._done, []
            self._owner.took(done, now - self._works_since)
        self._works_since = now
        self._owner.has_room()

    @property
    def _running(self) -> QueuedTask | None:
        """The task that the process works on; none if it waits, or has done all that it began."""
        index = self._started.value - self._replied - 1
        return self.tasks[index] if 0 <= index < len(self.tasks) else None

    def lost(self, why: ProcessEnd) -> None:
        """The process has ended, or must end now."""
        running = self._running
        others = [item for item in self.tasks if item is not running]
        if not self._is_loaded and not why.is_own_fault:
            why = ProcessEnd("a parser process ended while it started", is_own_fault=True)
        self.end()
        self._owner.ended(self, running, others, why)

    def end(self) -> None:
        """Kill the process at once, and forget its tasks."""
        process, sock, connection = self._process, self._socket, self._connection
        if self._timer is not None:
            self._timer.cancel()
        if self._connecting is not None and not self._connecting.done():
            self._connecting.cancel()
        self._process = self._socket = self._connection = self._connecting = self._timer = None
        self._is_loaded = False
        self._unsent.clear()
        self.tasks.clear()
        self._done.clear()
        self.bytes = 0
        if process is not None:
            process.kill()
            process.join()
            process.close()
        if connection is not None:
            connection.close()
        elif sock is not None:
            sock.close()

    async def _connect(self) -> None:
        assert self._socket is not None
        _, connection = await asyncio.get_running_loop().create_unix_connection(
            lambda: ProcessConnection(self, self._limits.reply_bytes), sock=self._socket
        )
        self._connection = connection
        self._write()

    def _write(self) -> None:
        assert self._connection is not None
        if len(self.tasks) == len(self._unsent):  # it was idle
            self._works_since = asyncio.get_running_loop().time()
        write, joined = self._connection.transport.write, bytearray()
        for item in self._unsent:
            record, body = self._encode(replace(item.task, body=b"")), item.task.body
            joined += REQUEST.pack(len(record), len(body)) + record
            if len(body) < _JOINED_BYTES:
                joined += body
            else:
                write(bytes(joined))
                write(body)
                joined = bytearray()
        if joined:
            write(bytes(joined))
        self._unsent.clear()
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(CHECK_S, self._check)

    def _check(self) -> None:
        """End the process if the task that it runs has taken too long."""
        self._timer = None
        if not self.tasks or self._process is None:
            return
        now, cpu = asyncio.get_running_loop().time(), processor_time(self._process.pid)
        before, since, cpu_before = self._checked
        running = self._running or self.tasks[0]
        if running is not before:
            self._checked = (running, now, cpu)
        elif (why := self._too_long(now - since, cpu - cpu_before)) is not None:
            self.lost(why)
            return
        self._timer = asyncio.get_running_loop().call_later(CHECK_S, self._check)

    def _too_long(self, wall_s: float, cpu_s: float) -> ProcessEnd | None:
        limits = self._limits
        if not self._is_loaded:
            return ProcessEnd(f"a parser process did not start within {_START_S:g} s") if wall_s > _START_S else None
        if cpu_s >= limits.cpu_s:
            return ProcessEnd(f"parsing took longer than {limits.cpu_s:g} s of processor time")
        if wall_s >= limits.wall_s:
            return ProcessEnd(f"parsing took longer than {limits.wall_s:g} s")
        if self.is_shared and (cpu_s >= limits.slow_s or wall_s >= _WAITING_FACTOR * limits.slow_s):
            return ProcessEnd("others wait for it")
        return None


def processor_time(pid: int | None) -> float:
    """Seconds of processor time of a process; if the system does not tell, the seconds since some moment."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S
    except OSError:
        return asyncio.get_running_loop().time()


_TICKS_PER_S: float = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100.0
