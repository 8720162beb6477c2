"""`webstrata capture`, killed several times, continues at the end of its journal."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from tests.cli.capture.capturing import verdicts
from tests.cli.conftest import Call, LocalServer, started
from webstrata.flows.capture.events import Event, PageDownloaded, RequisiteDownloaded, from_line

NAMES = [f"p{number}" for number in range(8)]
DEADLINE_S = 90.0
ANSWER_S = 0.3
"""How long each response takes. Promised gaps would be kept after a kill by waiting for the end of leases."""


class Counted(dict[str, tuple[str, bytes]]):
    """Pages, and the requested paths."""

    def __init__(self) -> None:
        super().__init__()
        self.requested: list[str] = []

    def get(self, path: str, default: object = None) -> tuple[str, bytes] | None:  # type: ignore[override]
        if path != "/robots.txt":
            self.requested.append(path)
            time.sleep(ANSWER_S)  # in a thread of the server
        return super().get(path)


@pytest.fixture
def pages(server: LocalServer) -> Counted:
    """A home page, eight other pages and a style sheet."""
    server.pages = counted = Counted()
    head = '<title>page</title><link rel="stylesheet" href="/s.css">'
    anchors = "".join(f'<p><a href="/{name}">to {name}</a>' for name in NAMES)
    counted["/"] = ("text/html", f"{head}<main><h1>Home</h1>{anchors}</main>".encode())
    for name in NAMES:
        counted[f"/{name}"] = ("text/html", f"{head}<main><h1>{name}</h1><p>words that stay</p></main>".encode())
    counted["/s.css"] = ("text/css", b"p { color: red }")
    return counted


def journal_events(home: Path) -> list[Event]:
    """The events in the complete lines of the journal."""
    files = list((home / "captures").glob("2*.jsonl"))
    lines = files[0].read_bytes().split(b"\n")[:-1] if files else []
    events: list[Event] = []
    for line in lines:
        try:
            events.append(from_line(line))
        except msgspec.DecodeError:
            break
    return events


def downloads(events: list[Event]) -> Counter[tuple[str, int]]:
    """How often each page (in each pass) and each requisite is in the journal."""
    return Counter(
        (event.url, event.pass_number if isinstance(event, PageDownloaded) else -1)
        for event in events
        if isinstance(event, PageDownloaded | RequisiteDownloaded)
    )


def run_and_kill(home: Path, words: tuple[object, ...], settings: dict[str, str], more: int, after_s: float) -> bool:
    """Start the command, wait for `more` events and `after_s`, and kill it. False if it ended before."""
    before = len(journal_events(home))
    with started("--home", home, "capture", *words, "--delay", "0s", "-q", "--json", **settings) as process:
        deadline = time.monotonic() + DEADLINE_S
        while process.poll() is None and len(journal_events(home)) < before + more:
            assert time.monotonic() < deadline, "nothing happens"
            time.sleep(0.005)  # another process: there is no clock to hand it
        time.sleep(after_s)
        if process.poll() is not None:
            return False
        process.send_signal(signal.SIGKILL)
        process.wait(DEADLINE_S)
    return True


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_at_random_moments(seed: int, home: Path, server: LocalServer, pages: Counted, call: Call) -> None:
    """A capture that is killed (SIGKILL) at random times and resumed has a valid certificate. Downloads in the journal
    are not repeated; each kill repeats at most the one request that was in flight."""
    chance = random.Random(seed)
    words: tuple[object, ...] = (server.url(), "--sharp")
    kills = 0
    for _ in range(3):
        known = downloads(journal_events(home))
        kills += run_and_kill(home, words, server.settings, chance.randint(1, 6), chance.uniform(0.0, 0.6))
        acknowledged = downloads(journal_events(home))
        assert known <= acknowledged, "events in the journal stay"
        (journal,) = (home / "captures").glob("2*.jsonl")
        words = ("--resume", journal.stem)
    assert kills >= 1
    result = call("--home", home, "capture", *words, "--delay", "0s", "--json", **server.settings)
    (one,) = result.json["captures"]
    assert one["counts"] == verdicts(sharp=9)
    assert one["requisites"] == {"captured": 1, "failed": 0, "not_asked_for": 0}
    verified = call("certificate", "verify", one["file"], "--key", one["key"])
    assert verified.code == 0, verified.text
    assert call("--home", home, "check").code == 0
    recorded = downloads(journal_events(home))
    assert set(recorded.values()) == {1}, "no page twice in a pass, no requisite twice"
    assert len(pages.requested) - len(recorded) <= kills, pages.requested
