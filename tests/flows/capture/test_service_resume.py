"""Captures that were stopped or crashed continue at the end of their journal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.flows.capture.capturing import SITE, capture, links, site
from tests.flows.conftest import Archiver
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
def test_interrupted_and_resumed(number: int, run_scenario: Callable[..., None]) -> None:
    """The certificate of a stopped capture is valid; the resumed capture repeats no request."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, **{name: links() for name in NAMES})
        stopped = await capture(archiver, on_event=stop_after(number))
        assert stopped.capture.stopped == ("it was interrupted" if number < 14 else "")
        resumed = await capture(archiver, resume=stopped.certificate["capture"])
        assert set(resumed.verdicts().values()) == {"sharp"}
        assert len(resumed.verdicts()) == 7
        asked = [path for path in archiver.servers.paths("a.test") if path != "/robots.txt"]
        assert sorted(asked.count(path) for path in set(asked)) == [1, 2, 2, 2, 2, 2, 2]

    run_scenario(scenario)


def test_a_crash_repeats_one_request(run_scenario: Callable[..., None]) -> None:
    """A capture whose journal ends with a torn line is resumed; only the lost download is repeated."""

    class DiedError(Exception):
        pass

    def die(running: SiteCapture, event: Event) -> None:
        if isinstance(event, PageDownloaded) and event.pass_number == 1:
            raise DiedError

    async def scenario(archiver: Archiver) -> None:
        site(archiver, **{name: links() for name in NAMES})
        with pytest.raises(DiedError):
            await capture(archiver, on_event=die)
        (journal,) = (archiver.home.path / "captures").glob("*.jsonl")
        journal.write_bytes(journal.read_bytes()[:-40])
        resumed = await capture(archiver, resume=journal.stem)
        assert set(resumed.verdicts().values()) == {"sharp"}
        asked = [path for path in archiver.servers.paths("a.test") if path != "/robots.txt"]
        assert len(asked) == 14, "13 downloads, and one that was lost"

    run_scenario(scenario)


def test_resume_a_finished_capture(run_scenario: Callable[..., None]) -> None:
    """A finished capture that is resumed sends no requests."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=links(), b=links())
        taken = await capture(archiver)
        asked = len(archiver.servers.received)
        again = await capture(archiver, resume=taken.certificate["capture"])
        assert len(archiver.servers.received) == asked
        assert again.certificate["pages"] == taken.certificate["pages"]

    run_scenario(scenario)


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
def test_resume_errors(name: str, text: bytes | None, what: str, run_scenario: Callable[..., None]) -> None:
    """Unknown captures and invalid journals raise an error."""

    async def scenario(archiver: Archiver) -> None:
        folder: Path = archiver.home.path / "captures"
        folder.mkdir(exist_ok=True)
        if text is not None:
            (folder / f"{name}.jsonl").write_bytes(text)
        with pytest.raises(UsageError, match=what):
            await capture(archiver, CaptureOrder(url=SITE), resume=name)

    run_scenario(scenario)
