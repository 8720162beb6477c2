"""The digest of a large body without its content coding, computed in a process of its own.

Decoders are native code and bodies are hostile, so this process has limits of memory and time, as the parser processes
have. The body is sent to it piece by piece.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import threading
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection

from webstrata.coding import PieceSource, decode_pieces
from webstrata.flows.parsers.child import TooLittleMemoryError, set_process_limits
from webstrata.records import LargeBody

_MEMORY_BYTES = 256 * 2**20
"""For the decoder; the body is not held."""
_START_S = 60.0
_BYTES_PER_S = 1_000_000
"""Decoding may take this long. It usually takes a hundredth of that."""
_MAX_RATIO = 10
"""A body that expands to more than this multiple of its size is compared as it was sent. Text compresses to a tenth."""


def large_digest(body: LargeBody, content_encoding: str, *, max_decoded: int) -> tuple[str, int] | str:
    """SHA-256 (hex) and size of a body without its content coding; why there is none, if it cannot be decoded.

    A body may always be decoded to `max_decoded` bytes. Takes long: call it in a thread.
    """
    limit = max(max_decoded, _MAX_RATIO * body.size)
    own, other = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(other, content_encoding, body.size, limit), daemon=True
    )
    process.start()
    other.close()
    timer = threading.Timer(_START_S + body.size / _BYTES_PER_S, process.kill)
    timer.daemon = True
    timer.start()
    try:
        with suppress(BrokenPipeError, ConnectionResetError):  # it needs no more of the body
            for piece in body.pieces():
                own.send_bytes(piece)
            own.send_bytes(b"")
        reply: tuple[str, int] | str = own.recv()
        return reply
    except (EOFError, ConnectionResetError):
        return "decoding took too long or needed too much memory"
    finally:
        timer.cancel()
        own.close()
        process.kill()
        process.join()
        process.close()


def _serve(connection: Connection, content_encoding: str, size: int, limit: int) -> None:
    """In the process: send the digest and the size, or the problem."""
    digest, decoded_bytes = hashlib.sha256(), 0

    def write(data: bytes) -> None:
        nonlocal decoded_bytes
        digest.update(data)
        decoded_bytes += len(data)

    with suppress(EOFError, OSError, MemoryError, TooLittleMemoryError):
        set_process_limits(_MEMORY_BYTES)
        problem = decode_pieces(PieceSource(_received(connection), size), content_encoding, write, max_bytes=limit)
        connection.send(problem or (digest.hexdigest(), decoded_bytes))


def _received(connection: Connection) -> Iterator[bytes]:
    while piece := connection.recv_bytes():
        yield piece
