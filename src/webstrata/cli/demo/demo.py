"""`webstrata demo`: crawl two recorded years of real sites in about a minute and compare with what really changed."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import msgspec
import typer

from webstrata.cli.output import print_json
from webstrata.cli.session import load_settings, named_home, run_async
from webstrata.clock import DAY_S
from webstrata.errors import UsageError
from webstrata.home import Home

DEFAULT_HOME = Path("demo-home")
MARKER = "demo"
"""A file in the home: the demo created this folder and may replace it."""

BUDGET = "0.0375/page/day"
"""A little less than what `dyn` spends."""


def command(
    home: Annotated[
        Path | None,
        typer.Option("--home", metavar="FOLDER", help="Home folder to create. Default: demo-home.", show_default=False),
    ] = None,
    days: Annotated[
        float | None,
        typer.Option(min=1, help="How many days of the recording to crawl. Default: all 731.", show_default=False),
    ] = None,
    policy: Annotated[
        str,
        typer.Option(
            "--policy",
            metavar="NAME",
            help="Policy that schedules the visits. A timer policy such as `dyn` ignores --budget.",
        ),
    ] = "value",
    budget: Annotated[
        str, typer.Option("--budget", metavar="RATE", help="Budget of the policy: visits for each page and day.")
    ] = BUDGET,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scoreboard as one JSON document.")] = False,
) -> None:
    """Crawl two recorded years of real sites with the real loop (HTTP, WARC, SQLite) and compare with what really changed."""
    from webstrata.cli.demo.recorded_crawl import crawl_recordings, show_scores
    from webstrata.lab.livingweb.recording import SHIPPED_WINDOW, load_shipped

    path = named_home(home) or DEFAULT_HOME
    with TemporaryDirectory() as empty:  # first: nothing is deleted or created if a value cannot be used
        load_settings(Path(empty), [f"schedule.policy={policy}", f"budget.total={budget}"])
    _make_room(path)
    recordings = load_shipped()
    start_at, end_at = SHIPPED_WINDOW
    if days is not None:
        end_at = min(end_at, start_at + days * DAY_S)
    board, facts = run_async(lambda: crawl_recordings(path, recordings, (start_at, end_at), policy, budget))
    if as_json:
        plain = msgspec.to_builtins(board.counts)
        print_json({**plain, "layers": msgspec.to_builtins(board), "home": str(path), **msgspec.to_builtins(facts)})
    else:
        show_scores(board, path, recordings, facts, (start_at, end_at), policy)
    if board.counts.politeness_violations:
        raise typer.Exit(1)


def _make_room(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is not a folder. Name another folder with --home.")
    if not path.exists() or not any(path.iterdir()):
        return
    if not (path / MARKER).exists():
        raise UsageError(f"{path} exists and was not made by the demo. Name another folder with --home.")
    with Home(path).locked():  # fails if another demo is still running
        shutil.rmtree(path)
