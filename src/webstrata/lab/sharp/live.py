"""Sharp captures end to end: real HTTP against the living web on a jumping clock, every verdict held against the truth.

Recorded sites are hurried: two years pass in some hours, so that pages change while a capture of minutes goes on. After
each capture every page of its certificate is compared with what the site really showed between its two downloads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from webstrata.clock import JumpingClock, parse_instant
from webstrata.flows.capture.events import CaptureOrder
from webstrata.flows.capture.proof import FinishedCapture
from webstrata.flows.capture.service import CaptureService
from webstrata.lab.livingweb.behaviour import behaviour_of
from webstrata.lab.livingweb.paced import PacedWeb
from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.livingweb.server import LivingWeb
from webstrata.lab.sharp.recorded_site import CompressedSite
from webstrata.lab.sharp.sites import STRATEGIES
from webstrata.lab.sharp.truth import PageTruth, SiteTruth
from webstrata.ports import Clock, Web

START_AT = parse_instant("2026-01-05")
HOURS = 1.0
"""In so many hours all that was recorded happens."""
SINGLE, SHARP, REPAIRED, BY_LINKS = "single pass", "sharp", "sharp, repaired", "sharp, by links"
WAYS = (SINGLE, *STRATEGIES, SHARP, REPAIRED, BY_LINKS)
"""The strategies are told the rates and where pages are found. Of the others, which learn rates from their own visits
alone, all but the last are given the pages; that one starts at the home page, where there is one."""


class CaptureNode(Protocol):
    """The assembled node, as much of it as the experiment uses."""

    def capturing(self, *, wrap_web: Callable[[Web], Web]) -> AbstractAsyncContextManager[CaptureService]: ...


Assemble = Callable[[Clock, Mapping[str, str], Sequence[str]], CaptureNode]
"""(clock, hosts, exceptions of the address guard) -> an archiver; its home is always the same."""
Check = Callable[[Path], int]
"""File -> faults that both verifiers find in it."""


class LiveRow(Struct, frozen=True, kw_only=True):
    """All captures of one site in one way."""

    site: str
    way: str
    captures: int
    pages: int
    sharp: int
    blurred: int
    unreachable: int
    expected: float
    changes: int
    """Of these pages between their two downloads."""
    false_sharp: int
    """Called sharp, and not as recorded at the instant."""
    changed_and_back: int
    """Of these, those that changed and changed back between their downloads: no archiver can see that."""
    false_blurred: int
    """Downloaded on both sides of the instant, called blurred, and the same all the time."""
    faults: int
    politeness_violations: int


async def live_rows(
    recordings: Iterable[Recording],
    assemble: Assemble,
    check: Check,
    folder: Path,
    *,
    captures: int,
    ways: Sequence[str] = WAYS,
    told: Callable[[str], None] = lambda _: None,
) -> list[LiveRow]:
    """Capture every site so often in every way, spread over the hours that it lives."""
    rows: list[LiveRow] = []
    for recording in recordings:
        site = CompressedSite(recording, START_AT, HOURS)
        has_front = "index.html" in recording.pages
        for way in (way for way in ways if has_front or way != BY_LINKS):
            told(f"{recording.site}, {way}")
            rows.append(await _captures(site, way, assemble, check, folder, captures))
    return rows


async def _captures(
    site: CompressedSite, way: str, assemble: Assemble, check: Check, folder: Path, captures: int
) -> LiveRow:
    clock = JumpingClock(START_AT)
    name = site.recording.site
    truth = SiteTruth(site.recording, behaviour_of(name).gone_status)
    told: list[tuple[FinishedCapture, list[PageTruth], int]] = []
    async with LivingWeb([site.recording], clock) as living:
        archiver = assemble(clock, living.hosts(), living.exceptions())
        for number in range(captures):
            await clock.sleep_until(max(clock.now(), START_AT + (number + 0.5) * HOURS * 3600.0 / captures))
            order = _order(site, way, living.urls(clock.now()), clock.now())
            async with archiver.capturing(wrap_web=lambda web: PacedWeb(web, clock, living)) as capturing:
                capture = await capturing.begin(order, lambda one, event: None)
                await capture.run()
                proved = await capturing.finish(capture, folder / f"{name}-{WAYS.index(way)}-{number}.wacz")
            judged = [truth.of(page, proved.certificate["instant"]) for page in proved.certificate["pages"]]
            told.append((proved, judged, check(proved.file)))
        violations = living.meter.count
    return _row(name, way, told, violations)


def _order(site: CompressedSite, way: str, pages: Sequence[str], now: float) -> CaptureOrder:
    """What is asked for in this way."""
    return CaptureOrder(
        url=f"http://{site.recording.host}/",
        sharp=way != SINGLE,
        scope="host",
        repair=2 if way == REPAIRED else 0,
        listed=None if way == BY_LINKS else tuple(pages),
        ready=site.plan(way, pages, now) if way in STRATEGIES else None,
        max_requisites=0,
    )


def _row(site: str, way: str, told: Sequence[tuple[FinishedCapture, list[PageTruth], int]], violations: int) -> LiveRow:
    counts = [proved.certificate["counts"] for proved, _, _ in told]
    pages = [page for _, judged, _ in told for page in judged]

    def total(name: str) -> Any:
        return sum(float(one[name]) for one in counts)

    return LiveRow(
        site=site,
        way=way,
        captures=len(told),
        pages=int(total("pages")),
        sharp=int(total("sharp")),
        blurred=int(total("blurred")),
        unreachable=int(total("unreachable")),
        expected=total("expected_sharp"),
        changes=sum(page.changes for page in pages),
        false_sharp=sum(page.false_sharp for page in pages),
        changed_and_back=sum(page.changed_and_back for page in pages),
        false_blurred=sum(page.false_blurred for page in pages),
        faults=sum(faults for _, _, faults in told),
        politeness_violations=violations,
    )
