"""The crawl of `webstrata demo`: recorded sites on local servers, a clock that jumps, and the scores at the end."""

from __future__ import annotations

import logging
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import typer
from msgspec.structs import asdict

from webstrata import settings as settings_file
from webstrata import urls
from webstrata.cli.crawl.loop import stopped_by_signals
from webstrata.cli.demo.demo import MARKER
from webstrata.cli.demo.timeline import showing_progress
from webstrata.cli.messages import start_logging
from webstrata.cli.output import counted, print_table, size
from webstrata.clock import JumpingClock, iso
from webstrata.detect.memory import unpack
from webstrata.home import Home
from webstrata.lab.equal_visits import BEST, EqualVisits, equal_visits
from webstrata.lab.livingweb.recording import Recording, load_shipped
from webstrata.lab.livingweb.server import LivingWeb, PacedWeb
from webstrata.lab.livingweb.truth import TrueChange, TruthProcess
from webstrata.lab.scoreboard import Score, Scoreboard, score
from webstrata.node import Node
from webstrata.records import NewPage, Outcome, Visit
from webstrata.schedule.policy import Bounds
from webstrata.schedule.registry import is_budgeted

BOUNDS = Bounds(min_days=1, max_days=180, start_days=7)
BAR_WIDTH = 40

SETTINGS = """\
# Made by `webstrata demo`. The recorded sites are served on this machine only while the demo runs. The addresses below
# are the only ones that may be visited besides public addresses.

[polite]
contact = "demo@example.invalid"
delay = "1s"

[fetch]
allow_private = {allow}
hosts = {hosts}

[schedule]
policy = "{policy}"
start_interval = "{start_days}d"
min_interval = "{min_days}d"
max_interval = "{max_days}d"

[budget]
total = "{budget}"

[crawl]
round = "1d"
"""


async def crawl_recordings(
    path: Path, recordings: list[Recording], window: tuple[float, float], policy: str, budget: str
) -> tuple[Scoreboard, dict[str, Any]]:
    """Crawl the recorded sites into a new home; the scores, and facts to print with them."""
    start_at, end_at = window
    schedule = {
        "policy": policy,
        "budget": budget if is_budgeted(policy) else "",
        **{name: f"{days:g}" for name, days in asdict(BOUNDS).items()},
    }
    clock = JumpingClock(start_at)
    async with LivingWeb(recordings, clock) as living:
        allow = msgspec.json.encode(living.exceptions()).decode()
        hosts = ", ".join(f'"{host}" = "{address}"' for host, address in living.hosts().items())
        made, _ = Home.create(path, SETTINGS.format(allow=allow, hosts=f"{{ {hosts} }}", **schedule))
        (path / MARKER).touch()
        settings, _ = settings_file.load(path)
        node = Node(made, settings, clock)
        pages = living.urls()
        with TruthProcess(load_shipped, start_at, end_at, only=pages) as truth:
            with showing_progress(start_at, end_at) as tally:
                start_logging(logging.WARNING)
                async with node.store() as store:
                    await store.pages.add([NewPage(url=url, host=urls.host_of(url)) for url in pages], start_at)
                async with node.crawling(tally, wrap_web=lambda web: PacedWeb(web, clock, living)) as loop:
                    with stopped_by_signals(loop):
                        await loop.run(end_at)
            if loop.stopping:
                typer.echo("webstrata: stopped before the end, so there is nothing to score.", err=True)
                raise typer.Exit(1)
            log, noisy = await _read_log(node)
            changes = truth.result()
            board = score(log, changes, politeness_violations=living.meter.count)
        facts = {
            "pages": len(pages),
            "seconds": tally.summary()["seconds"],
            "most_changed": _most_changed(log),
            "noisy_pages": noisy,
            "equal_visits": _compare(changes, pages, board.counts.visits, (start_at, end_at)),
        }
        return board, facts


def _compare(
    changes: Sequence[TrueChange], pages: Sequence[str], visits: int, window: tuple[float, float]
) -> list[EqualVisits]:
    """What other policies would have captured; nothing where the `lab` extra is not installed."""
    try:
        return equal_visits(changes, pages, visits, window, BOUNDS)
    except ImportError:
        return []


async def _read_log(node: Node) -> tuple[list[Visit], int]:
    """All visits, and the number of pages with places that were learned as noise."""
    log: list[Visit] = []
    noisy = 0
    async with node.store() as store:
        async for page in store.pages.stream():
            log += await store.visit_log.of_page(page.id)
            noisy += any(place.state == "learned" for place in unpack(page.memory).noise)
    return log, noisy


def _most_changed(log: list[Visit]) -> str:
    """The URL with the most detected changes, for the suggested commands."""
    detected = Counter({visit.url: 0 for visit in log})
    detected.update(visit.url for visit in log if visit.outcome is Outcome.CHANGED and visit.counts)
    return min(detected, key=lambda url: (-detected[url], len(url), url))


def show_scores(
    board: Scoreboard,
    path: Path,
    recordings: list[Recording],
    facts: dict[str, Any],
    window: tuple[float, float],
    policy: str,
) -> None:
    """Print the scores, the comparison with other policies, and commands to try next."""
    typer.echo(
        f"\n{counted(facts['pages'], 'page')} of {counted(len(recordings), 'recorded site')}, {iso(window[0])[:10]} to {iso(window[1])[:10]}, "
        f"crawled in {counted(round(facts['seconds']), 'second')}:\n"
    )
    names = ("changes", "captured", "missed", "visits", "wasted", "recall", "precision")
    rows = []
    for name in names:
        values = (getattr(board.counts, name), getattr(board.raw, name))
        rows.append((name, *(f"{value:.3f}" if isinstance(value, float) else str(value) for value in values)))
    print_table(("", "useful content", "bytes"), rows)
    _show_comparison(board.counts, facts["equal_visits"], policy)
    typer.echo(
        f"\n{size(board.raw.bytes)} downloaded. The servers counted "
        f"{counted(board.counts.politeness_violations, 'politeness violation')}."
    )
    if facts["noisy_pages"]:
        typer.echo(
            f"On {counted(facts['noisy_pages'], 'page')}, clocks or counters were learned as noise and no longer count "
            "as changes; the figures above still count them as missed."
        )
    typer.echo()
    _suggest(path, facts["most_changed"])


def _show_comparison(crawled: Score, others: Sequence[EqualVisits], policy: str) -> None:
    """Captured changes of useful content as bars from zero."""
    if not others:
        typer.echo("\nInstall webstrata with its `lab` extra for the comparison with other policies.")
        return
    bars = [(f"{policy} (this crawl)", crawled.captured), *((_label(other), other.captured) for other in others)]
    longest = max(captured for _, captured in bars) or 1
    width = max(len(label) for label, _ in bars)
    typer.echo(f"\nChanges captured with {counted(crawled.visits, 'visit')} (bars start at zero):\n")
    for label, captured in bars:
        bar = "█" * round(BAR_WIDTH * captured / longest)
        typer.echo(f"  {label:<{width}}  {bar:<{BAR_WIDTH}} {captured}")
    typer.echo(
        '\n"Computed" rows were not crawled: they replay the policy on the recorded changes with the same number of\n'
        "visits (timers: with scaled intervals) and assume that each visit detects every change."
    )


def _label(other: EqualVisits) -> str:
    return (
        f"{other.policy} (computed)"
        if other.policy == BEST
        else f"{other.policy} (computed, {counted(other.visits, 'visit')})"
    )


def _suggest(path: Path, url: str) -> None:
    """Commands to try next, with the page that changed most often."""
    typer.echo("Try next:")
    for words in (
        ("status",),
        ("changes", "--since", "2023"),
        ("list", "--host", urls.host_of(url)),
        ("log", "--changes", url),
        ("diff", url),
        ("why", url),
        ("check",),
        ("export", "wacz", "demo.wacz"),
    ):
        typer.echo(f"  {shlex.join(['webstrata', '--home', str(path), *words])}")
