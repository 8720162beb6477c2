"""The event loop's time is divided among connections: a costly response cannot take all of it."""

from __future__ import annotations

import pytest

from webstrata.fetch.http.receive_time import LEAST_S, SHARE, ReceiveTime, ReceiveUse


@pytest.mark.parametrize("connections", [1, 5, 40])
def test_costly_connections_share_a_part_of_the_time(connections: int) -> None:
    """Connections that always have data to parse use about the given share of a minute together."""
    time = ReceiveTime()
    uses = [ReceiveUse() for _ in range(connections)]
    free_at = [0.0] * connections
    spent_s, piece_s, now = 0.0, 0.02, 100.0
    while now < 160.0:
        ready = [index for index in range(connections) if free_at[index] <= now]
        for index in ready:
            pause_s = time.pause_s(uses[index], piece_s, now)
            now += piece_s
            spent_s += piece_s
            free_at[index] = now + pause_s
        if not ready:
            now = min(free_at)
    assert spent_s / 60 <= max(SHARE, connections * LEAST_S) * 1.5 + 0.1


def test_ordinary_responses_never_wait() -> None:
    """A hundred responses that need a millisecond each, in the same second, are all read at once."""
    time = ReceiveTime()
    assert all(time.pause_s(ReceiveUse(), 0.001, 7.0 + n / 200) == 0.0 for n in range(100))
