"""`CountingOrigin`: a server on loopback that records when the bytes of each request arrived, by the kernel's clock.

The kernel stamps each received packet, so the times do not depend on how busy this process is.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from types import TracebackType
from typing import NamedTuple, Self

_SO_TIMESTAMPING = 37  # Linux; the module `socket` does not define it
_RECEIVED_BY_SOFTWARE = 1 << 3 | 1 << 4
TOLERANCE_S = 0.01
"""How much shorter than promised a measured gap may be."""


class Arrival(NamedTuple):
    """One request."""

    at: float
    host: str
    path: str


Replying = Callable[[Arrival], bytes | None]
"""The response; None closes the connection without one."""


def response(body: bytes = b"<p>content", status: int = 200, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} X", "Content-Type: text/html", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def without_robots(arrival: Arrival) -> bytes | None:
    return response(status=404) if arrival.path == "/robots.txt" else response()


class CountingOrigin:
    """Use it as `with CountingOrigin(reply) as origin:`."""

    def __init__(
        self,
        reply: Replying = without_robots,
        *,
        tls: ssl.SSLContext | None = None,
        handshakes_s: Sequence[float] = (0.0,),
    ) -> None:
        """`handshakes_s`: the time before the TLS handshake of each connection; the last one is repeated."""
        self._reply = reply
        self._tls = tls
        self._handshakes_s = list(handshakes_s)
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=200)
        # Accepted sockets inherit it, so that no packet arrives before it is set.
        self._listener.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPING, _RECEIVED_BY_SOFTWARE)
        self.port: int = self._listener.getsockname()[1]
        self.arrivals: list[Arrival] = []
        self._arrived = threading.Condition()
        self._accepting = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> Self:
        self._accepting.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join(5)

    def wait_for(self, number: int, timeout_s: float = 60.0, path: str = "") -> None:
        """Wait until this number of requests (with this path) has arrived."""
        with self._arrived:
            enough = self._arrived.wait_for(lambda: len(self._of(path)) >= number, timeout_s)
        assert enough, f"only {self.arrivals} arrived"

    def _of(self, path: str) -> list[Arrival]:
        return [arrival for arrival in self.arrivals if path in ("", arrival.path)]

    def gaps_s(self, host: str | None = None) -> list[float]:
        """The times between the arrivals of requests to a host; None: to all hosts."""
        times = sorted(arrival.at for arrival in self.arrivals if host in (None, arrival.host))
        return [later - sooner for sooner, later in pairwise(times)]

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                peer, _ = self._listener.accept()
                handshake_s = self._handshakes_s.pop(0) if len(self._handshakes_s) > 1 else self._handshakes_s[0]
                threading.Thread(target=self._serve, args=(peer, handshake_s), daemon=True).start()

    def _serve(self, peer: socket.socket, handshake_s: float) -> None:
        with contextlib.suppress(OSError), peer:
            time.sleep(handshake_s)
            channel = _Channel(peer, self._tls)
            while (received := channel.request()) is not None:
                at, head = received
                lines = head.decode("latin-1").split("\r\n")
                host = next(line.split(":")[1].strip() for line in lines if line.lower().startswith("host:"))
                arrival = Arrival(at, host, lines[0].split()[1])
                with self._arrived:
                    self.arrivals.append(arrival)
                    self._arrived.notify_all()
                answer = self._reply(arrival)
                if answer is None:
                    return
                channel.send(answer)


class _Channel:
    """Reads requests with the time of their arrival, with or without TLS."""

    def __init__(self, peer: socket.socket, tls: ssl.SSLContext | None) -> None:
        self._peer = peer
        self._at = 0.0
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = tls.wrap_bio(self._in, self._out, server_side=True) if tls is not None else None
        if self._tls is not None:
            self._with_bytes(self._tls.do_handshake)

    def request(self) -> tuple[float, bytes] | None:
        """The head of the next request and when it was complete; None at the end of the connection."""
        head = b""
        while b"\r\n\r\n" not in head:
            data = self._receive() if self._tls is None else self._with_bytes(partial(self._tls.read, 65536))
            if not data:
                return None
            head += data
        return self._at, head

    def send(self, data: bytes) -> None:
        if self._tls is None:
            self._peer.sendall(data)
        else:
            self._tls.write(data)
            self._peer.sendall(self._out.read())

    def _with_bytes(self, call: Callable[[], bytes | None]) -> bytes:
        """Run a TLS operation with the bytes that it needs; empty at the end of the connection."""
        while True:
            try:
                result = call() or b""
            except ssl.SSLWantReadError:
                self._peer.sendall(self._out.read())
                data = self._receive()
                if not data:
                    return b""
                self._in.write(data)
            except ssl.SSLError:
                return b""
            else:
                self._peer.sendall(self._out.read())
                return result

    def _receive(self) -> bytes:
        data, notes, _, _ = self._peer.recvmsg(65536, 256)
        stamps = [value for level, kind, value in notes if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPING)]
        if stamps:
            seconds, nanoseconds = struct.unpack("qq", stamps[0][:16])
            self._at = seconds + nanoseconds / 1e9
        else:
            self._at = time.time()
        return data
