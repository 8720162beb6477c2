"""`run_attack`: `webstrata run` beside healthy and hostile hosts or under a fault of its own machine, measured."""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from tests.attacks.behaviour import Behaviour
from tests.attacks.crawler import Crawler, call
from tests.attacks.events import Event, Places, RequestEvent, read_events
from tests.attacks.figures import GapFigures, HealthyFigures, forbidden, gap_figures, healthy_figures, met, sent_bytes
from tests.attacks.healthy import HEALTHY
from tests.attacks.process_memory import MemorySampler
from tests.attacks.served_hosts import serving
from tests.attacks.watched_home import make_home, watch_healthy, watch_hostile, watch_urls

_UNHANDLED = re.compile(r"Traceback \(most recent|never retrieved|Exception in callback|internal error", re.IGNORECASE)


class AttackRun:
    """What a running attack consists of, for the faults that happen during it."""

    def __init__(self, *, folder: Path, places: Places, crawler: Crawler, begins_at: float, ends_at: float) -> None:
        self.folder = folder
        self.places = places
        self.crawler = crawler
        self.begins_at = begins_at
        self.ends_at = ends_at
        self.notes: dict[str, float] = {}
        """Figures that only this attack has."""

    def events(self) -> list[Event]:
        return read_events(self.folder)

    def sleep_until(self, at: float) -> None:
        """Sleep, but not longer than the crawler runs."""
        while time.time() < at and self.crawler.exit_code is None:
            time.sleep(min(0.2, max(0.0, at - time.time())))

    def page_requests(self, start: float, end: float) -> dict[tuple[str, str], int]:
        """The number of requests for each page in a period, without robots.txt."""
        counts: dict[tuple[str, str], int] = {}
        for event in self.events():
            is_page = isinstance(event, RequestEvent) and not event.is_answer and event.path != "/robots.txt"
            if isinstance(event, RequestEvent) and is_page and start <= event.at < end:
                counts[event.host, event.path] = counts.get((event.host, event.path), 0) + 1
        return counts


class AttackPlan(Struct, frozen=True, kw_only=True):
    """What is attacked, how, and for how long."""

    behaviours: tuple[Behaviour, ...] = ()
    seconds: float = 300.0
    """Length of the attack."""
    max_seconds: float = 0.0
    """If this is longer, the attack goes on until then while behaviours were not met."""
    rhythm_s: float = 20.0
    """Each healthy page is visited this often; twice as long as the longest permitted delay."""
    hostile_rhythm_s: float = 30.0
    quiet_s: float = 15.0
    """The crawler runs for this time before the hostile pages are due, so that it knows the healthy hosts."""
    gap_tolerance_s: float = 0.1
    urls: tuple[str, ...] = ()
    """Further pages that are watched."""
    environment: dict[str, str] = {}
    limits: dict[int, int] = {}
    """Resource limits of the crawler."""
    prepare: Callable[[Path], str] | None = None
    """Is called with the home's path before it is made; returns further settings."""
    act: Callable[[AttackRun], None] | None = None
    """What happens while the crawler runs, from its start on."""
    clean_up: Callable[[Path], None] | None = None
    """Is called with the home's path at the end."""


class AttackResult(Struct, frozen=True, kw_only=True):
    """What was measured."""

    seconds: float
    behaviours: int
    not_met: tuple[str, ...]
    """Hostile hosts to which no connection was made."""
    requests: int
    """Requests that arrived at hostile hosts."""
    sent_mb: float
    """Sent by all hosts."""
    healthy: tuple[HealthyFigures, ...]
    gaps: GapFigures
    forbidden: tuple[str, ...]
    main_peak_mb: float
    others_peak_mb: float
    total_peak_mb: float
    stop_s: float
    was_killed: bool
    """It did not end after SIGTERM."""
    ended_early: bool
    """The crawler ended before it was told to."""
    exit_code: int
    check_code: int
    check_output: str
    unhandled: tuple[str, ...]
    """Lines of the crawler's log that show an exception that nothing handled."""
    notes: dict[str, float]
    """Figures that only this attack has."""
    log_end: tuple[str, ...]
    """The last lines of the crawler's log."""


def run_attack(plan: AttackPlan, keep: Path | None = None) -> AttackResult:
    """Run the attack in a temporary folder. `keep`: the folder to use, which is kept."""
    folder = keep or Path(tempfile.mkdtemp(prefix="attack-"))
    folder.mkdir(parents=True, exist_ok=True)
    home = folder / "home"
    try:
        with serving(folder) as places:
            more = plan.prepare(home) if plan.prepare is not None else ""
            make_home(home, places, more)
            return _attack(plan, folder, home, places)
    finally:
        if plan.clean_up is not None:
            plan.clean_up(home)
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)


def _attack(plan: AttackPlan, folder: Path, home: Path, places: Places) -> AttackResult:
    begins_at = time.time() + plan.quiet_s
    pages = asyncio.run(watch_healthy(home, begins_at, plan.rhythm_s))
    asyncio.run(watch_hostile(home, plan.behaviours, begins_at, plan.hostile_rhythm_s))
    asyncio.run(watch_urls(home, plan.urls, begins_at, plan.hostile_rhythm_s))
    hostile = {behaviour.host: behaviour for behaviour in plan.behaviours}
    crawler = Crawler(home, folder / "run.log", environment=plan.environment, limits=plan.limits)
    with crawler, MemorySampler(lambda: crawler.pid) as memory:
        ends_at = begins_at + plan.seconds
        run = AttackRun(folder=folder, places=places, crawler=crawler, begins_at=begins_at, ends_at=ends_at)
        if plan.act is not None:
            plan.act(run)
        run.sleep_until(ends_at)
        while (
            time.time() < begins_at + plan.max_seconds
            and crawler.exit_code is None
            and _not_met(plan, run.events(), run)
        ):
            run.sleep_until(time.time() + 2.0)
        ended_at = max(ends_at, time.time())
        ended_early = crawler.exit_code is not None
        crawler.stop()
    check = call(home, "check", more=plan.environment)
    events = read_events(folder)
    promised = {host.host: host.gap_s for host in HEALTHY} | {name: one.gap_s for name, one in hostile.items()}
    log_lines = crawler.log_text().splitlines()
    return AttackResult(
        seconds=ended_at - begins_at,
        behaviours=len(hostile),
        not_met=tuple(sorted(_not_met(plan, events, run))),
        requests=sum(isinstance(event, RequestEvent) and event.host in hostile for event in events),
        sent_mb=sent_bytes(events) / 1e6,
        healthy=tuple(healthy_figures(pages, events, begins_at, ended_at)),
        gaps=gap_figures(events, promised, plan.gap_tolerance_s),
        forbidden=tuple(forbidden(events)),
        main_peak_mb=memory.main_peak / 1e6,
        others_peak_mb=memory.others_peak / 1e6,
        total_peak_mb=memory.total_peak / 1e6,
        stop_s=crawler.stop_s,
        was_killed=crawler.was_killed,
        ended_early=ended_early,
        exit_code=crawler.exit_code or 0,
        check_code=check.returncode,
        check_output=check.stdout[-2000:] + check.stderr[-2000:],
        unhandled=tuple(line[:300] for line in log_lines if _UNHANDLED.search(line)),
        notes=run.notes,
        log_end=tuple(line[:300] for line in log_lines[-5:]),
    )


def _not_met(plan: AttackPlan, events: list[Event], run: AttackRun) -> set[str]:
    """Hostile hosts to which no connection was made; of those that refuse connections, the crawler's log tells."""
    connected = met(events)
    log = run.crawler.log_text()
    return {
        one.host
        for one in plan.behaviours
        if one.host not in connected and not (one.listening == "refused" and one.url in log)
    }


def as_json(result: AttackResult) -> dict[str, Any]:
    """The result with the medians and maxima of the delays instead of all delays."""
    document: dict[str, Any] = msgspec.to_builtins(result)
    for row, figures in zip(document["healthy"], result.healthy, strict=True):
        row |= {"median_s": figures.median_s, "max_s": figures.max_s}
        del row["delays"]
    return document
