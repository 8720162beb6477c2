"""Sharp captures of the living web over real HTTP on a jumping clock, with every verdict compared to the recording.

The recorded changes of two years are compressed to some hours, so that pages change during a capture of minutes. After
each capture every page of its certificate is compared with the contents of the recording between its two downloads.
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
from webstrata.lab.livingweb.faults import ServedFaults
from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.livingweb.server import LivingWeb, PacedWeb
from webstrata.lab.sharp.recorded_site import CompressedSite
from webstrata.lab.sharp.sites import STRATEGIES
from webstrata.lab.sharp.truth import PageTruth, SiteTruth
from webstrata.ports import Clock, Web

START_AT = parse_instant("2026-01-05")
HOURS = 1.0
"""The duration to which the recording is compressed."""
SINGLE, SHARP, REPAIRED, BY_LINKS = "single pass", "sharp", "sharp, repaired", "sharp, by links"
WAYS = (SINGLE, *STRATEGIES, SHARP, REPAIRED, BY_LINKS)
"""The ways to capture a site. `STRATEGIES` get a precomputed schedule with rates from the recording. The other ways
estimate rates from their own visits; they get the list of pages, except `BY_LINKS`, which starts at the home page."""


class CaptureNode(Protocol):
    """The part of the assembled node that the experiment uses."""

    def capturing(self, *, wrap_web: Callable[[Web], Web]) -> AbstractAsyncContextManager[CaptureService]: ...


Assemble = Callable[[Clock, Mapping[str, str], Sequence[str]], CaptureNode]
"""(clock, hosts, exceptions of the address guard) -> a node with a new home."""
Check = Callable[[Path], int]
"""File -> number of faults that the two verifiers find in it."""


class LiveRow(Struct, frozen=True, kw_only=True):
    """The totals of all captures of one site in one way."""

    site: str
    way: str
    captures: int
    pages: int
    sharp: int
    blurred: int
    absent: int
    error: int
    unreachable: int
    unvisited: int
    expected: float
    changes: int
    """Changes of these pages between their two downloads."""
    false_sharp: int
    """Pages with the verdict sharp that had another content at the instant, or whose site answered wrongly between."""
    changed_and_back: int
    """Those of `false_sharp` that changed and changed back between their downloads, which no archiver can detect."""
    false_blurred: int
    """Pages with the verdict blurred that were downloaded on both sides of the instant and never changed."""
    served_faults: int
    """Requests that the site answered wrongly on purpose."""
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
    fault_share: float = 0.0,
    on_progress: Callable[[str], None] = lambda _: None,
) -> list[LiveRow]:
    """Capture every site `captures` times in every way, at times spread over the recording.

    `fault_share`: the share of the requests that the sites answer wrongly.
    """
    rows: list[LiveRow] = []
    for recording in recordings:
        site = CompressedSite(recording, START_AT, HOURS)
        has_home = "index.html" in recording.pages
        for way in (way for way in ways if has_home or way != BY_LINKS):
            on_progress(f"{recording.site}, {way}")
            rows.append(await _captures(site, way, assemble, check, folder, captures, fault_share))
    return rows


async def _captures(
    site: CompressedSite, way: str, assemble: Assemble, check: Check, folder: Path, captures: int, fault_share: float
) -> LiveRow:
    clock = JumpingClock(START_AT)
    name = site.recording.site
    served = ServedFaults(fault_share)
    truth = SiteTruth(site.recording, served.ledger)
    results: list[tuple[FinishedCapture, list[PageTruth], int]] = []
    async with LivingWeb([site.recording], clock, faults=served) as living:
        node = assemble(clock, living.hosts(), living.exceptions())
        for number in range(captures):
            await clock.sleep_until(max(clock.now(), START_AT + (number + 0.5) * HOURS * 3600.0 / captures))
            order = _order(site, way, living.urls(clock.now()), clock.now())
            async with node.capturing(wrap_web=lambda web: PacedWeb(web, clock, living)) as service:
                capture = await service.begin(order, lambda capture, event: None)
                await capture.run()
                finished = await service.finish(capture, folder / f"{name}-{WAYS.index(way)}-{number}.wacz")
            truths = [truth.of(page, finished.certificate["instant"]) for page in finished.certificate["pages"]]
            results.append((finished, truths, check(finished.file)))
        violations = living.meter.count
    return _row(name, way, results, len(served.ledger), violations)


def _order(site: CompressedSite, way: str, pages: Sequence[str], now: float) -> CaptureOrder:
    """The order of a capture in this way."""
    return CaptureOrder(
        url=f"http://{site.recording.host}/",
        sharp=way != SINGLE,
        scope="host",
        repair=2 if way == REPAIRED else 0,
        listed=None if way == BY_LINKS else tuple(pages),
        schedule=site.plan(way, pages, now) if way in STRATEGIES else None,
        max_requisites=0,
    )


def _row(
    site: str, way: str, results: Sequence[tuple[FinishedCapture, list[PageTruth], int]], served: int, violations: int
) -> LiveRow:
    counts = [finished.certificate["counts"] for finished, _, _ in results]
    pages = [page for _, truths, _ in results for page in truths]

    def total(name: str) -> Any:
        return sum(float(count[name]) for count in counts)

    return LiveRow(
        site=site,
        way=way,
        captures=len(results),
        pages=int(total("pages")),
        sharp=int(total("sharp")),
        blurred=int(total("blurred")),
        absent=int(total("absent")),
        error=int(total("error")),
        unreachable=int(total("unreachable")),
        unvisited=int(total("unvisited")),
        expected=total("expected_sharp"),
        changes=sum(page.changes for page in pages),
        false_sharp=sum(page.false_sharp for page in pages),
        changed_and_back=sum(page.changed_and_back for page in pages),
        false_blurred=sum(page.false_blurred for page in pages),
        served_faults=served,
        faults=sum(faults for _, _, faults in results),
        politeness_violations=violations,
    )
