"""Captures that end before they are done: stopped, torn off or crashed, they go on where their journal ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.flows.capturing import SITE, capture, links, site
from tests.flows.conftest import Life
from webstrata.errors import UsageError
from webstrata.flows.capture.events import CaptureOrder, Event, PageDownloaded
from webstrata.flows.capture.site_capture import SiteCapture

NAMES = [f"p{number}" for number in range(6)]


def stop_after(number: int) -> Callable[[SiteCapture, Event], None]:
    """A user who interrupts after so many downloads."""
    seen: list[Event] = []

    def told(one: SiteCapture, event: Event) -> None:
        seen.append(event)
        if sum(isinstance(event, PageDownloaded) for event in seen) == number:
            one.stop()

    return told


@pytest.mark.parametrize("number", [1, 3, 7, 9, 13], ids=lambda number: f"after {number}")
def test_interrupted_and_resumed(number: int, live: Callable[..., None]) -> None:
    """Wherever a capture is stopped, its certificate holds; resumed, it asks for no page too often."""

    async def scenario(life: Life) -> None:
        site(life, **{name: links() for name in NAMES})
        stopped = await capture(life, told=stop_after(number))
        assert stopped.capture.stopped == ("it was interrupted" if number < 14 else "")
        resumed = await capture(life, resume=stopped.certificate["capture"])
        assert set(resumed.verdicts().values()) == {"sharp"}
        assert len(resumed.verdicts()) == 7
        asked = [path for path in life.town.paths("a.test") if path != "/robots.txt"]
        assert sorted(asked.count(path) for path in set(asked)) == [1, 2, 2, 2, 2, 2, 2]

    live(scenario)


def test_a_crash_costs_a_visit_and_no_fact(live: Callable[..., None]) -> None:
    """A run that dies in the middle, its journal's last line torn, is resumed; what it lost is asked for again."""

    class DiedError(Exception):
        pass

    def die(one: SiteCapture, event: Event) -> None:
        if isinstance(event, PageDownloaded) and event.turn == 1:
            raise DiedError

    async def scenario(life: Life) -> None:
        site(life, **{name: links() for name in NAMES})
        with pytest.raises(DiedError):
            await capture(life, told=die)
        (journal,) = (life.home.path / "captures").glob("*.jsonl")
        journal.write_bytes(journal.read_bytes()[:-40])
        resumed = await capture(life, resume=journal.stem)
        assert set(resumed.verdicts().values()) == {"sharp"}
        asked = [path for path in life.town.paths("a.test") if path != "/robots.txt"]
        assert len(asked) == 14, "thirteen downloads make it, one was lost"

    live(scenario)


def test_resumed_once_it_was_done(live: Callable[..., None]) -> None:
    """A finished capture can be resumed for a further pass, and else asks for nothing."""

    async def scenario(life: Life) -> None:
        site(life, a=links(), b=links())
        taken = await capture(life)
        asked = len(life.town.asked)
        again = await capture(life, resume=taken.certificate["capture"])
        assert len(life.town.asked) == asked
        assert again.certificate["pages"] == taken.certificate["pages"]

    live(scenario)


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("nothing", None, "no capture"),
        ("../archive", None, "no capture"),
        ("empty", b"", "no beginning"),
        ("other", b'{"type":"fetched","url":"http://a.test/"}\n', "no beginning"),
        ("strange", b'{"type":"dance"}\n{"type":"fetched","url":"x"}\n', "cannot be read"),
    ],
)
def test_what_cannot_be_resumed(name: str, text: bytes | None, what: str, live: Callable[..., None]) -> None:
    """A capture that never was, and a journal that is none, are refused with words."""

    async def scenario(life: Life) -> None:
        folder: Path = life.home.path / "captures"
        folder.mkdir(exist_ok=True)
        if text is not None:
            (folder / f"{name}.jsonl").write_bytes(text)
        with pytest.raises(UsageError, match=what):
            await capture(life, CaptureOrder(url=SITE), resume=name)

    live(scenario)
