"""`webstrata demo`: two years of real sites in about a minute, and a scoreboard against the truth."""

from __future__ import annotations

import logging
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn

from webstrata import settings as settings_file
from webstrata import urls
from webstrata.cli.display import Tally
from webstrata.cli.output import print_json, print_table, size, stderr
from webstrata.cli.session import run_async
from webstrata.clock import DAY_S, JumpingClock, iso
from webstrata.detect.verdict import judge
from webstrata.errors import UsageError
from webstrata.home import Home
from webstrata.lab.livingweb.paced import PacedWeb
from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.livingweb.server import LivingWeb
from webstrata.lab.livingweb.shipped import SHIPPED_WINDOW, load_shipped
from webstrata.lab.livingweb.truth import what_happened
from webstrata.lab.scoreboard import Scoreboard, score
from webstrata.node import Node
from webstrata.observe.fingerprint import fingerprint
from webstrata.records import Fingerprint, NewPage, Observation, Visit

DEFAULT_HOME = Path("demo-home")
MARK = "demo"
"""A file in the home that says: made by the demo, may be made anew."""

SETTINGS = """\
# Made by `webstrata demo`. The sites of the demo live on this machine only while it runs; the addresses below are
# theirs alone and nothing else that is not public may be visited.

[polite]
contact = "demo@example.invalid"
delay = "1s"

[fetch]
allow = {allow}
hosts = {hosts}

[schedule]
policy = "dyn"
start_interval = "7d"
min_interval = "1d"
max_interval = "180d"

[crawl]
round = "1h"
"""


def command(
    home: Annotated[Path | None, typer.Option("--home", help="Where to leave the home folder.")] = None,
    days: Annotated[float, typer.Option(min=1, help="How much of the recorded time to live.")] = (
        SHIPPED_WINDOW[1] - SHIPPED_WINDOW[0]
    )
    / DAY_S,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scoreboard as one JSON document.")] = False,
) -> None:
    """Live two years of recorded sites with the real loop (HTTP, WARC, SQLite) and compare with what really happened."""
    path = home if home is not None else DEFAULT_HOME
    _make_room(path)
    logging.basicConfig(level=logging.WARNING, format="webstrata: %(message)s")
    recordings = load_shipped()
    start_at = SHIPPED_WINDOW[0]
    end_at = min(SHIPPED_WINDOW[1], start_at + days * DAY_S)
    board, tally = run_async(lambda: _live(path, recordings, start_at, end_at))
    if as_json:
        plain = msgspec.to_builtins(board.counts)
        print_json({**plain, "layers": msgspec.to_builtins(board), "home": str(path), **tally})
    else:
        _show(board, path, recordings, tally, start_at, end_at)
    if board.counts.politeness_violations:
        raise typer.Exit(1)


def _make_room(path: Path) -> None:
    if not path.exists() or not any(path.iterdir()):
        return
    if not (path / MARK).exists():
        raise UsageError(f"{path} exists and was not made by the demo. Choose another place with --home.")
    shutil.rmtree(path)


async def _live(
    path: Path, recordings: list[Recording], start_at: float, end_at: float
) -> tuple[Scoreboard, dict[str, Any]]:
    clock = JumpingClock(start_at)
    async with LivingWeb(recordings, clock) as living:
        allow = msgspec.json.encode(living.exceptions()).decode()
        hosts = ", ".join(f'"{host}" = "{address}"' for host, address in living.hosts().items())
        made, _ = Home.create(path, SETTINGS.format(allow=allow, hosts=f"{{ {hosts} }}"))
        (path / MARK).touch()
        settings, _ = settings_file.load(path)
        node = Node(made, settings, clock)
        pages = living.urls()
        with _showing(start_at, end_at) as tally:
            async with node.store() as store:
                await store.add_pages([NewPage(url=url, host=urls.host_of(url)) for url in pages], start_at)
            async with node.crawling(tally, wrap_web=lambda web: PacedWeb(web, clock, living)) as loop:
                await loop.run(end_at)
        log: list[Visit] = []
        async with node.store() as store:
            async for page in store.pages():
                log += await store.visits(page.id)
        truth = what_happened(recordings, start_at, end_at, see=fingerprint, counts=_counts, only=set(pages))
        board = score(log, truth, politeness_violations=living.meter.count)
        return board, {"pages": len(pages), "seconds": tally.summary()["seconds"]}


def _counts(before: Fingerprint, after: Fingerprint) -> bool:
    """Whether the loop itself would count the step as a change."""
    return judge(before, False, Observation(url="", at=0.0, status=200, fingerprint=after)).counts


class _Timeline(Tally):
    """The years passing by."""

    def __init__(self, start_at: float, end_at: float) -> None:
        super().__init__()
        self._start_at = start_at
        self.bar = Progress(
            TextColumn("{task.fields[date]}"),
            BarColumn(bar_width=40),
            TextColumn("{task.completed:.0f} of {task.total:.0f} days"),
            TextColumn("{task.fields[counts]}"),
            console=stderr,
        )
        self._task = self.bar.add_task("", total=(end_at - start_at) / DAY_S, date="", counts="")

    def visited(self, visits: list[Visit]) -> None:  # type: ignore[override]
        super().visited(visits)
        self.bar.update(
            self._task,
            completed=(self.last_at - self._start_at) / DAY_S,
            date=iso(self.last_at)[:10],
            counts=f"{self.visits} visits, {self.changed} changes, {self.per_second:.0f}/s",
        )


@contextmanager
def _showing(start_at: float, end_at: float) -> Iterator[Tally]:
    timeline = _Timeline(start_at, end_at)
    if sys.stderr.isatty():
        with Live(timeline.bar, console=stderr, refresh_per_second=8):
            yield timeline
    else:
        typer.echo(f"living from {iso(start_at)} to {iso(end_at)}", err=True)
        yield timeline
        typer.echo(f"{timeline.visits} visits in {timeline.summary()['seconds']:.1f} s", err=True)


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
        f"{size(board.raw.bytes)} downloaded; politeness violations counted by the servers: "
        f"{board.counts.politeness_violations}\n"
    )
    typer.echo("Try next:")
    for words in (
        "status",
        "list --host llvm.test",
        "log http://llvm.test/",
        "diff http://llvm.test/",
        "why http://llvm.test/",
        "check",
        "export wacz demo.wacz",
    ):
        typer.echo(f"  webstrata --home {path} {words}")
