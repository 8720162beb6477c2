"""`python -m tests.attacks.server FOLDER`: all hostile and healthy hosts, each on a loopback address of its own.

The server is a process of its own, so that its load does not disturb what is measured. It writes `places.json` (the
addresses) and then one line for each event to `events.jsonl` in the folder, and ends when its standard input ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import socket
import ssl
import struct
import sys
import threading
import time
from collections.abc import Iterator
from ipaddress import IPv4Network
from pathlib import Path
from typing import BinaryIO

import msgspec

from tests.attacks.behaviour import Behaviour, make_contents
from tests.attacks.caller import MAX_SECONDS, BoundError, Caller, Request, SocketWire, Throttle, TlsWire, Wire
from tests.attacks.certificates import Authority
from tests.attacks.events import ConnectionEvent, ForbiddenEvent, Places, RequestEvent, SentEvent, encode
from tests.attacks.healthy import HEALTHY, HealthyHost
from tests.attacks.zoo import BEHAVIOURS
from tests.flows.scripted_servers import reply

HEALTHY_NETWORK = "127.0.15"
HOSTILE_NETWORK = "127.0.16.0/22"
FORBIDDEN_ADDRESS = "127.0.14.1"
"""Not in `fetch.allow_private`: hostile hosts refer to it, and no connection may arrive there."""
MAX_CONNECTIONS = 500
"""Connections of one host that are answered; further ones are closed."""
_SYN_SENT = "02"


class ServedHost:
    """A host and how often it was visited."""

    def __init__(self, host: Behaviour | HealthyHost, address: str) -> None:
        self.host = host
        self.address = address
        self.connections = 0
        self.requests = 0
        self.tls: ssl.SSLContext | None = None


class ZooServer:
    """All hosts, on one port."""

    def __init__(self, folder: Path, events: BinaryIO) -> None:
        self._folder = folder
        self._events = events
        self._throttle = Throttle()
        self._tasks: set[asyncio.Task[None]] = set()
        self._listeners: list[socket.socket] = []
        self._fillers: list[socket.socket] = []
        self._hosts = [ServedHost(host, f"{HEALTHY_NETWORK}.{host.number}") for host in HEALTHY]
        addresses = IPv4Network(HOSTILE_NETWORK).hosts()
        self._hosts += [ServedHost(host, str(address)) for host, address in zip(BEHAVIOURS, addresses, strict=False)]

    def start(self) -> Places:
        """Listen, and write the addresses of the hosts."""
        make_contents()
        authority = Authority(self._folder)
        for served in self._hosts:
            if isinstance(served.host, Behaviour) and served.host.tls:
                served.tls = authority.context(served.host.host, served.host.tls)
        port = self._bind()
        closed = socket.create_server((f"{HEALTHY_NETWORK}.1", 0))
        self._accept(closed, None)
        places = Places(
            hosts={served.host.host: f"{served.address}:{port}" for served in self._hosts}
            | {"forbidden.test": f"{FORBIDDEN_ADDRESS}:{port}"},
            allowed=(f"{HEALTHY_NETWORK}.0/24:{port}", f"{HOSTILE_NETWORK}:{port}"),
            port=port,
            other_port=closed.getsockname()[1],
            authority=str(authority.file),
        )
        self._places = places
        return places

    def _bind(self) -> int:
        """Bind the same port on all addresses."""
        for _ in range(50):
            try:
                return self._bind_all()
            except OSError:
                for listener in (*self._listeners, *self._fillers):
                    listener.close()
                self._listeners.clear()
        raise OSError("no port is free on all addresses")

    def _bind_all(self) -> int:
        forbidden = socket.create_server((FORBIDDEN_ADDRESS, 0))
        self._listeners.append(forbidden)
        port = int(forbidden.getsockname()[1])
        for served in self._hosts:
            listening = served.host.listening if isinstance(served.host, Behaviour) else "open"
            if listening == "refused":
                continue
            listener = socket.create_server((served.address, port), backlog=0 if listening == "full" else 256)
            self._listeners.append(listener)
            if listening == "full":
                self._fill(served.address, port)
        for listener in self._listeners[1:]:
            address = listener.getsockname()[0]
            served = next(served for served in self._hosts if served.address == address)
            if not (isinstance(served.host, Behaviour) and served.host.listening == "full"):
                self._accept(listener, served)
        self._accept(forbidden, None)
        return port

    def _fill(self, address: str, port: int) -> None:
        """Fill the queue of a listener that accepts nothing: further connections get no answer."""
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex((address, port))
            self._fillers.append(filler)

    async def watch_full_queues(self) -> None:
        """Note connections that wait for a full queue, of which only the kernel's table knows."""
        full = {
            served.address: served.host.host
            for served in self._hosts
            if isinstance(served.host, Behaviour) and served.host.listening == "full"
        }
        own = {filler.getsockname()[1] for filler in self._fillers}
        while True:
            for local_port, address in waiting_connections():
                if address in full and local_port not in own:
                    own.add(local_port)
                    self._write(ConnectionEvent(at=time.time(), host=full[address]))
            await asyncio.sleep(0.5)

    def _accept(self, listener: socket.socket, served: ServedHost | None) -> None:
        listener.setblocking(False)

        def on_connection() -> None:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            if served is None:
                self._write(ForbiddenEvent(at=time.time(), address=f"{listener.getsockname()}"))
                sock.close()
                return
            task = asyncio.ensure_future(self._serve(served, sock))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        asyncio.get_running_loop().add_reader(listener, on_connection)

    async def _serve(self, served: ServedHost, sock: socket.socket) -> None:
        served.connections += 1
        host = served.host
        self._write(ConnectionEvent(at=time.time(), host=host.host))
        plain = SocketWire(sock)
        wire: Wire = plain
        caller = Caller(wire, self._throttle, connection=served.connections)
        caller.port, caller.other_port = self._places.port, self._places.other_port
        # OSError, EOFError: the crawler may close the connection at any time.
        with contextlib.suppress(OSError, EOFError, BoundError, TimeoutError, ssl.SSLError):
            async with asyncio.timeout(MAX_SECONDS):
                if served.connections > MAX_CONNECTIONS:
                    raise BoundError
                is_served = True
                if isinstance(host, Behaviour) and host.at_connect is not None:
                    is_served = await host.at_connect(caller)
                if is_served and served.tls is not None:
                    wire = caller.wire = tls = TlsWire(plain, served.tls)
                    await tls.handshake()
                while is_served and (request := await caller.request()) is not None:
                    caller.keep, caller.hold_s = False, 0.0
                    await self._answer(served, caller, request)
                    is_served = caller.keep
        wire.close()
        self._write(SentEvent(at=time.time(), host=host.host, count=caller.sent))

    async def _answer(self, served: ServedHost, caller: Caller, request: Request) -> None:
        host = served.host
        is_robots = request.path == "/robots.txt"
        if not is_robots:
            served.requests += 1
        caller.number = served.requests
        event = RequestEvent(at=request.at, host=host.host, path=request.path)
        self._write(event)
        if is_robots and not (isinstance(host, Behaviour) and host.serves_robots):
            caller.keep = True
            status = 200 if host.robots else 404
            await caller.send(reply(host.robots or "none", status, kind="text/plain").wire)
            return
        try:
            await host.serve(caller, request)
        finally:
            if caller.hold_s:
                self._write(msgspec.structs.replace(event, hold_s=caller.hold_s, is_answer=True))

    def _write(self, event: ConnectionEvent | RequestEvent | SentEvent | ForbiddenEvent) -> None:
        self._events.write(encode(event) + b"\n")

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for sock in (*self._listeners, *self._fillers):
            sock.close()


def waiting_connections() -> Iterator[tuple[int, str]]:
    """Local port and remote address of connections that were requested and not accepted yet."""
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, remote, state, *_ = line.split()
        if state == _SYN_SENT:
            address = socket.inet_ntoa(struct.pack("=I", int(remote.partition(":")[0], 16)))
            yield int(local.partition(":")[2], 16), address


async def _run(folder: Path) -> None:
    with (folder / "events.jsonl").open("ab", buffering=0) as events:
        server = ZooServer(folder, events)
        places = server.start()
        unfinished = folder / "places.part"
        unfinished.write_bytes(msgspec.json.encode(places))
        unfinished.rename(folder / "places.json")
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()

        def wait_for_end() -> None:
            while sys.stdin.buffer.read(4096):
                pass
            loop.call_soon_threadsafe(ended.set)

        threading.Thread(target=wait_for_end, daemon=True).start()
        watching = asyncio.create_task(server.watch_full_queues())
        await ended.wait()
        watching.cancel()
        await server.close()


def main() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(_run(Path(sys.argv[1])))


if __name__ == "__main__":
    main()
