"""pywb as a real server of a collection that the archive of this project wrote."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator

import pytest

from tests.archive.conftest import make_capture, original_of, peer, revisit_of, write_home
from webstrata.records import Capture

__all__ = ["peer"]

START_AT = 1_780_000_000.0
DAY_S = 86_400.0
PAGES = ("http://foo.example/", "http://foo.example/news", "http://foo.example/docs/a?x=1", "http://sub.foo.example/")
COPIES = 30
"""Of the first page, one a day; its content changes every third day. The other pages have one copy each."""


def collection() -> list[Capture]:
    """The captures that pywb serves, without the revisits."""
    first = [
        make_capture(PAGES[0], f"<p>version {number // 3}".encode(), START_AT + number * DAY_S)
        for number in range(0, COPIES, 3)
    ]
    others = [make_capture(url, b"<p>one", START_AT + 0.5) for url in PAGES[1:]]
    gone = make_capture(
        PAGES[1], b"gone", START_AT + DAY_S, status=404, response_head=b"HTTP/1.1 404 Not Found\r\n\r\n"
    )
    return [*first, *others, gone]


@pytest.fixture(scope="session")
def pywb(tmp_path_factory: pytest.TempPathFactory, peer: Callable[[str], str]) -> Iterator[str]:
    """The URL of the collection `all`. Copies of the first page without a change are revisit records."""
    folder = tmp_path_factory.mktemp("pywb")
    captures = collection()
    first = write_home(folder, captures)
    changed = [(capture, place) for capture, place in zip(captures, first.positions, strict=True)][: COPIES // 3]
    again = [
        revisit_of(original_of(capture, place), capture.exchange.body, capture.exchange.at + days * DAY_S)
        for capture, place in changed
        for days in (1, 2)
    ]
    write_home(folder, again)
    (folder / "config.yaml").write_text(
        f"collections:\n  all:\n    index_paths: {folder}/index/\n    archive_paths: {folder}/archive/\n"
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (folder / "pywb.log").open("w") as log:
        server = subprocess.Popen(
            [peer("wayback"), "--port", str(port), "--bind", "127.0.0.1"],
            cwd=folder,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        _wait_for(f"http://127.0.0.1:{port}/", server)
        yield f"http://127.0.0.1:{port}/all"
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(20)


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(url, timeout=20).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            assert server.poll() is None, "pywb did not start"
            assert time.monotonic() < deadline, "pywb does not answer"
            time.sleep(0.1)
        else:
            return
