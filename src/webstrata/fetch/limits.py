"""How much of a server's answer is taken, and for how long it is waited for."""

from __future__ import annotations

from msgspec import Struct


class FetchLimits(Struct, frozen=True, kw_only=True):
    """Bounds of one exchange. Times are real time, whatever clock the schedule lives by."""

    header_bytes: int = 64 * 1024
    """Status line and headers together; a longer head is refused."""
    header_count: int = 128
    body_bytes: int = 100_000_000
    """Body as sent, content coding included; a longer one is cut and marked."""
    connect_s: float = 20.0
    """For the connection, TLS included; also for a name's address."""
    first_byte_s: float = 60.0
    """Longest silence: before the first byte of the answer, and between any two parts of it."""
    total_s: float = 300.0
    """For the whole exchange."""
