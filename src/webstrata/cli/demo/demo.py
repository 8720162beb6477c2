"""`webstrata demo`: two years of real sites in about a minute, and a scoreboard against the truth."""

from __future__ import annotations

import logging
import shlex
import shutil
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from webstrata import settings as settings_file
from webstrata import urls
from webstrata.cli.crawl.loop import until_signalled
from webstrata.cli.demo.timeline import passing
from webstrata.cli.output import counted, print_json, print_table, size
from webstrata.cli.session import named_home, run_async
from webstrata.clock import DAY_S, JumpingClock, iso
from webstrata.detect.memory import unpack
from webstrata.errors import UsageError
from webstrata.home import Home
from webstrata.lab.livingweb.paced import PacedWeb
from webstrata.lab.livingweb.recording import SHIPPED_WINDOW, Recording, load_shipped
from webstrata.lab.livingweb.server import LivingWeb
from webstrata.lab.livingweb.truth_process import TruthProcess
from webstrata.lab.scoreboard import Scoreboard, score
from webstrata.node import Node
from webstrata.records import NewPage, Outcome, Visit
from webstrata.schedule.budgeted_registry import is_budgeted

DEFAULT_HOME = Path("demo-home")
MARK = "demo"
"""A file in the home that says: made by the demo, may be made anew."""

BUDGET = "0.0375/page/day"
"""A little less than what `dyn` takes."""

SETTINGS = """\
# Made by `webstrata demo`. The sites of the demo live on this machine only while it runs; the addresses below are
# theirs alone and nothing else that is not public may be visited.

[polite]
contact = "demo@example.invalid"
delay = "1s"

[fetch]
allow_private = {allow}
hosts = {hosts}

[schedule]
policy = "{policy}"
start_interval = "7d"
min_interval = "1d"
max_interval = "180d"

[budget]
total = "{budget}"

[crawl]
round = "1d"
"""


def command(
    home: Annotated[
        Path | None,
        typer.Option("--home", help="Where to leave the home folder (default: demo-home).", show_default=False),
    ] = None,
    days: Annotated[float, typer.Option(min=1, help="How much of the recorded time to live.")] = (
        SHIPPED_WINDOW[1] - SHIPPED_WINDOW[0]
    )
    / DAY_S,
    policy: Annotated[
        str, typer.Option("--policy", metavar="NAME", help="Schedule by this policy; `dyn` takes its own pace.")
    ] = "value",
    budget: Annotated[str, typer.Option("--budget", metavar="RATE", help="Of policies that share one.")] = BUDGET,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scoreboard as one JSON document.")] = False,
) -> None:
    """Live two years of recorded sites with the real loop (HTTP, WARC, SQLite) and compare with what really happened."""
    path = named_home(home) or DEFAULT_HOME
    _make_room(path)
    recordings = load_shipped()
    start_at = SHIPPED_WINDOW[0]
    end_at = min(SHIPPED_WINDOW[1], start_at + days * DAY_S)
    schedule = {"policy": policy, "budget": budget if is_budgeted(policy) else ""}
    board, tally = run_async(lambda: _live(path, recordings, start_at, end_at, schedule))
    if as_json:
        plain = msgspec.to_builtins(board.counts)
        print_json({**plain, "layers": msgspec.to_builtins(board), "home": str(path), **tally})
    else:
        _show(board, path, recordings, tally, start_at, end_at)
    if board.counts.politeness_violations:
        raise typer.Exit(1)


def _make_room(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is not a folder. Choose another place with --home.")
    if not path.exists() or not any(path.iterdir()):
        return
    if not (path / MARK).exists():
        raise UsageError(f"{path} exists and was not made by the demo. Choose another place with --home.")
    with Home(path).locked():  # not under the feet of a demo that still runs
        shutil.rmtree(path)


async def _live(
    path: Path, recordings: list[Recording], start_at: float, end_at: float, schedule: dict[str, str]
) -> tuple[Scoreboard, dict[str, Any]]:
    clock = JumpingClock(start_at)
    async with LivingWeb(recordings, clock) as living:
        allow = msgspec.json.encode(living.exceptions()).decode()
        hosts = ", ".join(f'"{host}" = "{address}"' for host, address in living.hosts().items())
        made, _ = Home.create(path, SETTINGS.format(allow=allow, hosts=f"{{ {hosts} }}", **schedule))
        (path / MARK).touch()
        settings, _ = settings_file.load(path)
        node = Node(made, settings, clock)
        pages = living.urls()
        with TruthProcess(load_shipped, start_at, end_at, only=pages) as truth:
            with passing(start_at, end_at) as tally:
                logging.basicConfig(level=logging.WARNING, format="webstrata: %(message)s")
                async with node.store() as store:
                    await store.pages.add([NewPage(url=url, host=urls.host_of(url)) for url in pages], start_at)
                async with node.crawling(tally, wrap_web=lambda web: PacedWeb(web, clock, living)) as loop:
                    await until_signalled(loop, lambda loop: loop.run(end_at))
            if loop.stopping:
                typer.echo("webstrata: stopped before the end, so there is nothing to score.", err=True)
                raise typer.Exit(1)
            log, noisy = await _seen(node)
            board = score(log, truth.told(), politeness_violations=living.meter.count)
        told = {"pages": len(pages), "seconds": tally.summary()["seconds"], "liveliest": _liveliest(log)}
        return board, {**told, "noisy_pages": noisy}


async def _seen(node: Node) -> tuple[list[Visit], int]:
    """The whole log, and how many pages have places that were learned to be noise."""
    log: list[Visit] = []
    noisy = 0
    async with node.store() as store:
        async for page in store.pages.stream():
            log += await store.visit_log.of_page(page.id)
            noisy += any(place.state == "learned" for place in unpack(page.memory).noise)
    return log, noisy


def _liveliest(log: list[Visit]) -> str:
    """The page with the most changes seen: the one to look at."""
    seen = Counter({visit.url: 0 for visit in log})
    seen.update(visit.url for visit in log if visit.outcome is Outcome.CHANGED and visit.counts)
    return min(seen, key=lambda url: (-seen[url], len(url), url))


def _show(
    board: Scoreboard, path: Path, recordings: list[Recording], tally: dict[str, Any], start_at: float, end_at: float
) -> None:
    typer.echo(
        f"\n{tally['pages']} pages of {len(recordings)} recorded sites, {iso(start_at)[:10]} to {iso(end_at)[:10]}, "
        f"lived in {tally['seconds']:.0f} seconds:\n"
    )
    names = ("changes", "captured", "missed", "visits", "wasted", "recall", "precision")
    rows = []
    for name in names:
        values = (getattr(board.counts, name), getattr(board.raw, name))
        rows.append((name, *(f"{value:.3f}" if isinstance(value, float) else str(value) for value in values)))
    print_table(("", "useful content", "bytes"), rows)
    typer.echo(
        f"\n{size(board.raw.bytes)} downloaded; politeness violations counted by the servers: "
        f"{board.counts.politeness_violations}"
    )
    if tally["noisy_pages"]:
        typer.echo(
            f"On {counted(tally['noisy_pages'], 'page')} clocks or counters were learned to be noise and count no "
            "more; the truth above counts them all the same."
        )
    typer.echo()
    _suggest(path, tally["liveliest"])


def _suggest(path: Path, url: str) -> None:
    """What to try next, with the page that has most to show."""
    typer.echo("Try next:")
    for words in (
        ("status",),
        ("list", "--host", urls.host_of(url)),
        ("log", "--changes", url),
        ("diff", url),
        ("why", url),
        ("check",),
        ("export", "wacz", "demo.wacz"),
    ):
        typer.echo(f"  {shlex.join(['webstrata', '--home', str(path), *words])}")
