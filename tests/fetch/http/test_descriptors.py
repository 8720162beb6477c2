"""The number of connections respects the limit on open files, and a lack of them is a fault of this machine."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable

import pytest

from tests.fetch import few_descriptors
from tests.fetch.conftest import PlayedServer, answering
from tests.fetch.namespace import run_child
from webstrata.fetch.http.descriptors import ConnectionLimits, connection_limits

LIMITS = [
    (64, 20_000, ConnectionLimits(64, 512)),
    (64, 1024, ConnectionLimits(64, 448)),
    (2, 1024, ConnectionLimits(2, 16)),
    (64, 256, ConnectionLimits(64, 64)),
    (64, 64, ConnectionLimits(10, 10)),
    (64, 20, ConnectionLimits(1, 1)),
]


@pytest.mark.parametrize(("connections", "open_files", "expected"), LIMITS)
def test_limits(connections: int, open_files: int, expected: ConnectionLimits) -> None:
    """Connections use at most half of the files and leave at least 44, as far as possible."""
    assert connection_limits(connections, open_files) == expected


@pytest.mark.parametrize(("open_files", "is_warned"), [(64, True), (1024, False)])
def test_warning(caplog: pytest.LogCaptureFixture, open_files: int, is_warned: bool) -> None:
    """If fewer connections than wanted are possible, a warning names the limit and how to raise it."""
    with caplog.at_level(logging.WARNING):
        connection_limits(64, open_files)
    assert ("ulimit -n" in caplog.text) == is_warned


def test_few_descriptors(play: Callable[..., PlayedServer]) -> None:
    """With 64 descriptors, 30 of them in use, 200 hosts are fetched. Without a free one, only faults of this machine
    are reported, and none afterwards."""
    server = play(answering(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"))
    command = f'ulimit -n 64 && exec "{sys.executable}" -m tests.fetch.few_descriptors {server.port}'
    result = json.loads(run_child("sh", "-c", command))
    everything = {"200": few_descriptors.HOSTS}
    assert result == {"many": everything, "without": {"local": 5}, "name": "local", "after": everything}
