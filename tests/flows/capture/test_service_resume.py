"""Captures that were stopped or crashed continue at the end of their journal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.flows.capture.capturing import SITE, capture, links, site
from tests.flows.conftest import Life
from webstrata.errors import UsageError
from webstrata.flows.capture.events import CaptureOrder, Event, PageDownloaded
from webstrata.flows.capture.site_capture import OnEvent, SiteCapture

NAMES = [f"p{number}" for number in range(6)]


def stop_after(number: int) -> OnEvent:
    """A listener that stops the capture after this number of downloads."""
    events: list[Event] = []

    def on_event(running: SiteCapture, event: Event) -> None:
        events.append(event)
        if sum(isinstance(event, PageDownloaded) for event in events) == number:
            running.stop()

    return on_event


@pytest.mark.parametrize("number", [1, 3, 7, 9, 13], ids=lambda number: f"after {number}")
def test_interrupted_and_resumed(number: int, live: Callable[..., None]) -> None:
    """The certificate of a stopped capture is valid; the resumed capture repeats no request."""

    async def scenario(life: Life) -> None:
        site(life, **{name: links() for name in NAMES})
        stopped = await capture(life, on_event=stop_after(number))
        assert stopped.capture.stopped == ("it was interrupted" if number < 14 else "")
        resumed = await capture(life, resume=stopped.certificate["capture"])
        assert set(resumed.verdicts().values()) == {"sharp"}
        assert len(resumed.verdicts()) == 7
        asked = [path for path in life.town.paths("a.test") if path != "/robots.txt"]
        assert sorted(asked.count(path) for path in set(asked)) == [1, 2, 2, 2, 2, 2, 2]

    live(scenario)


def test_a_crash_repeats_one_request(live: Callable[..., None]) -> None:
    """A capture whose journal ends with a torn line is resumed; only the lost download is repeated."""

    class DiedError(Exception):
        pass

    def die(running: SiteCapture, event: Event) -> None:
        if isinstance(event, PageDownloaded) and event.pass_number == 1:
            raise DiedError

    async def scenario(life: Life) -> None:
        site(life, **{name: links() for name in NAMES})
        with pytest.raises(DiedError):
            await capture(life, on_event=die)
        (journal,) = (life.home.path / "captures").glob("*.jsonl")
        journal.write_bytes(journal.read_bytes()[:-40])
        resumed = await capture(life, resume=journal.stem)
        assert set(resumed.verdicts().values()) == {"sharp"}
        asked = [path for path in life.town.paths("a.test") if path != "/robots.txt"]
        assert len(asked) == 14, "13 downloads, and one that was lost"

    live(scenario)


def test_resume_a_finished_capture(live: Callable[..., None]) -> None:
    """A finished capture that is resumed sends no requests."""

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
        ("empty", b"", "does not start"),
        ("other", b'{"type":"fetched","url":"http://a.test/"}\n', "does not start"),
        ("strange", b'{"type":"dance"}\n{"type":"fetched","url":"x"}\n', "cannot be parsed"),
    ],
)
def test_resume_errors(name: str, text: bytes | None, what: str, live: Callable[..., None]) -> None:
    """Unknown captures and invalid journals raise an error."""

    async def scenario(life: Life) -> None:
        folder: Path = life.home.path / "captures"
        folder.mkdir(exist_ok=True)
        if text is not None:
            (folder / f"{name}.jsonl").write_bytes(text)
        with pytest.raises(UsageError, match=what):
            await capture(life, CaptureOrder(url=SITE), resume=name)

    live(scenario)
