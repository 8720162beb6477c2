"""Simulation of the politeness queues."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webstrata.plan.queues import Bar, RequestQueues, simulate


def _queues(
    *hosts: tuple[list[float], float],
    address: list[int] | None = None,
    free: list[float] | None = None,
    factor: float = 1.0,
) -> RequestQueues:
    """(seconds of the requests, delay) of each host."""
    first = [0]
    for seconds, _ in hosts:
        first.append(first[-1] + len(seconds))
    times = [one for seconds, _ in hosts for one in seconds]
    return RequestQueues(
        seconds=times,
        rests=[factor * one for one in times],
        first=first,
        delays=[delay for _, delay in hosts],
        address=address or list(range(len(hosts))),
        free=free or [0.0] * len(hosts),
    )


CASES = [
    ("start to start at least the delay", _queues(([0.5] * 4, 2.0)), 9, 0.0, 6.5),
    ("a slow answer is followed by a rest", _queues(([3.0] * 3, 2.0)), 9, 0.0, 15.0),
    ("hosts do not wait for each other", _queues(([1.0] * 3, 2.0), ([1.0] * 3, 2.0)), 9, 0.5, 5.0),
    ("but at one address they do", _queues(([1.0] * 3, 2.0), ([1.0] * 3, 2.0), address=[0, 0]), 9, 0.5, 5.5),
    ("one thread serves one at a time", _queues(([5.0], 1.0), ([5.0], 1.0), ([5.0], 1.0)), 1, 0.0, 15.0),
    ("no sooner than the host is free", _queues(([1.0], 2.0), free=[7.0]), 9, 0.0, 8.0),
    ("no delay and no rest", _queues(([1.0] * 5, 0.0), factor=0.0), 9, 0.0, 5.0),
    ("nothing to do", _queues(), 9, 0.5, 0.0),
]


@pytest.mark.parametrize(
    ("queues", "threads", "gap_s", "ends_s"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_the_gates_rules(queues: RequestQueues, threads: int, gap_s: float, ends_s: float) -> None:
    """The end time follows from each rule of spacing."""
    assert max(simulate(queues, threads=threads, address_gap_s=gap_s), default=0.0) == pytest.approx(ends_s)


def test_several_connections_share_the_spacing() -> None:
    """With two connections responses overlap, but starts are a delay apart."""
    bars: list[Bar] = []
    queues = _queues(([5.0] * 4, 2.0), factor=0.0)

    ends = simulate(queues, threads=9, address_gap_s=0.5, connections=2, bars=bars)

    starts = sorted(start for _, start, _ in bars)
    assert starts == pytest.approx([0, 2, 5, 7])
    assert ends == pytest.approx([12])


_SECONDS = st.floats(0.01, 20)
_HOSTS = st.lists(st.tuples(st.lists(_SECONDS, min_size=1, max_size=6), st.floats(0, 10)), min_size=1, max_size=6)


@settings(max_examples=50, deadline=None)
@given(_HOSTS, st.integers(1, 6), st.floats(0, 3), st.integers(1, 3), st.data())
def test_politeness_is_kept(
    hosts: list[tuple[list[float], float]], threads: int, gap_s: float, connections: int, data: st.DataObject
) -> None:
    """All requests are made, never more at a time than threads, or connections of a host."""
    address = [data.draw(st.integers(0, 2)) for _ in hosts]
    bars: list[Bar] = []
    queues = _queues(*hosts, address=address)

    ends = simulate(queues, threads=threads, address_gap_s=gap_s, connections=connections, bars=bars)

    assert len(bars) == len(queues.seconds)
    assert max(ends) == max(end for _, _, end in bars)
    for _, start, _ in bars:
        assert sum(other <= start < end for _, other, end in bars) <= threads
    for host, start, _ in bars:
        assert sum(other <= start < end for which, other, end in bars if which == host) <= connections


@given(_HOSTS, st.integers(1, 5), st.floats(0, 3))
def test_one_thread_more_costs_at_most_one_answer(
    hosts: list[tuple[list[float], float]], threads: int, gap_s: float
) -> None:
    """More threads may cost a little by another order (Graham's anomalies), at most the longest response."""
    queues = _queues(*hosts, address=[n % 2 for n in range(len(hosts))])

    fewer, more = (max(simulate(queues, threads=n, address_gap_s=gap_s)) for n in (threads, threads + 1))

    assert more <= fewer + max(queues.seconds) + 1e-9


@given(_HOSTS, _SECONDS)
def test_alone_a_longer_queue_ends_later(hosts: list[tuple[list[float], float]], seconds: float) -> None:
    """If hosts do not wait for each other, a further document delays only its own host."""
    before = simulate(_queues(*hosts), threads=len(hosts), address_gap_s=0.5)
    (first, delay), *rest = hosts
    after = simulate(_queues(([*first, seconds], delay), *rest), threads=len(hosts), address_gap_s=0.5)

    assert after[0] > before[0]
    assert after[1:] == before[1:]
