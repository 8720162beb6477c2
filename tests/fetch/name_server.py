"""`NameServer`: a small DNS server over UDP on a loopback address, with given answers and a log of the queries."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

A, NS, AAAA = 1, 2, 28
SERVFAIL, NXDOMAIN, REFUSED = 2, 3, 5
SILENCE = -1
"""Instead of a response code: the query gets no response."""

_TTL_S = 120


class Query(NamedTuple):
    name: str
    kind: int


Answering = Callable[[Query], Sequence[str] | int]
"""Returns the addresses of a name (of both families), or a response code."""


def table(addresses: dict[str, Sequence[str] | int], others: Sequence[str] | int = NXDOMAIN) -> Answering:
    """Answers from a table. Like every working name server, it answers a query for the root zone."""
    return lambda query: () if query.name == "" else addresses.get(query.name, others)


class NameServer:
    """Serves in a thread until it is stopped."""

    def __init__(self, answering: Answering, delay_s: float = 0.0) -> None:
        self.answering = answering
        self.queries: list[Query] = []
        self._delay_s = delay_s
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.settimeout(0.05)
        self._is_stopping = False
        address, port = self._socket.getsockname()
        self.endpoint = f"{address}:{port}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._is_stopping = True
        self._thread.join(5)
        self._socket.close()

    def _serve(self) -> None:
        while not self._is_stopping:
            try:
                packet, peer = self._socket.recvfrom(4096)
            except (TimeoutError, ConnectionError):
                continue
            query, end = _question(packet)
            self.queries.append(query)
            answer = self.answering(query)
            if answer != SILENCE:
                time.sleep(self._delay_s)
                self._socket.sendto(_response(packet[:2], packet[12:end], query, answer), peer)


def _question(packet: bytes) -> tuple[Query, int]:
    """The query of a packet, and where its question ends."""
    labels, at = [], 12
    while length := packet[at]:
        labels.append(packet[at + 1 : at + 1 + length].decode("latin-1").lower())
        at += 1 + length
    (kind,) = struct.unpack_from("!H", packet, at + 1)
    return Query(".".join(labels), kind), at + 5


def _response(number: bytes, question: bytes, query: Query, answer: Sequence[str] | int) -> bytes:
    code = answer if isinstance(answer, int) else 0
    records = b""
    count = 0
    for address in () if isinstance(answer, int) else answer:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        if query.kind == (AAAA if family == socket.AF_INET6 else A):
            data = socket.inet_pton(family, address)
            records += struct.pack("!HHHIH", 0xC00C, query.kind, 1, _TTL_S, len(data)) + data
            count += 1
    return number + struct.pack("!HHHHH", 0x8180 | code, 1, count, 0, 0) + question + records


@contextmanager
def serving_names(answering: Answering, delay_s: float = 0.0) -> Iterator[NameServer]:
    server = NameServer(answering, delay_s)
    try:
        yield server
    finally:
        server.stop()
