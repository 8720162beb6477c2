"""`ReceiveTime`: the share of the event loop's time that parsing of responses may take, divided among connections.

A server can send a body in chunks of one byte, which cost much more time than they have bytes. Without a limit a few
such responses occupy the event loop, and with it all other hosts. A connection that has used its share of a second does
not read for a while; ordinary responses need a small fraction of the least share.
"""

from __future__ import annotations

SHARE = 0.3
"""Of the time of the event loop, for all connections that need more than the least share."""
LEAST_S = 0.005
"""Seconds of each second that every connection may use."""
_MAX_PAUSE_S = 10.0


class ReceiveUse:
    """What one connection has used in the present second."""

    __slots__ = ("second", "used_s")

    def __init__(self) -> None:
        self.second = 0
        self.used_s = 0.0


class ReceiveTime:
    """The time that the connections of one `HttpWeb` use."""

    def __init__(self) -> None:
        self._second = 0
        self._many_before = self._many_now = 0
        """Connections that used more than the least share, in the last second and in this one."""

    def pause_s(self, use: ReceiveUse, spent_s: float, now: float) -> float:
        """Record that a connection used `spent_s`; returns how long it must not read, 0 if it may go on.

        `now` is the event loop's time.
        """
        second = int(now)
        if second != self._second:
            self._many_before = self._many_now if second == self._second + 1 else 0
            self._second, self._many_now = second, 0
        if second != use.second:
            use.second, use.used_s = second, 0.0
        before_s, use.used_s = use.used_s, use.used_s + spent_s
        if use.used_s <= LEAST_S:
            return 0.0
        self._many_now += before_s <= LEAST_S
        share_s = max(LEAST_S, SHARE / max(self._many_before, self._many_now))
        return min(use.used_s / share_s, _MAX_PAUSE_S) if use.used_s > share_s else 0.0
