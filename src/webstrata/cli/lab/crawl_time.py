"""`webstrata lab crawl-time`: real crawls of the living web, each estimated before it starts (datamonitor's Table 3)."""

from __future__ import annotations

import logging
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webstrata.cli.messages import start_logging
from webstrata.cli.options import JsonOption
from webstrata.cli.output import counted, print_json, print_table
from webstrata.cli.session import run_async

if TYPE_CHECKING:
    from webstrata.lab.crawl_time.experiment import Assemble, CrawlMeasurement, CrawlTimeResults, CrawlTimeRow
    from webstrata.node import Node
    from webstrata.ports import Clock

_SETTINGS = (
    "polite.contact=lab@example.invalid",
    "crawl.workers=0",
    "schedule.policy=week",
    "schedule.min_interval=3650d",
    "schedule.start_interval=3650d",
    "schedule.max_interval=3650d",
)
"""With these intervals a page is visited only when a crawl of the experiment wakes it."""


def command(
    crawls: Annotated[int, typer.Option(min=1, max=10_000, help="Number of crawls to estimate and make.")] = 100,
    teach: Annotated[
        int, typer.Option(min=0, max=10_000, help="Number of crawls before them, from which the estimators learn.")
    ] = 15,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random sites and crawls.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write crawl-time.json and a plot to this folder.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make real crawls on a jumping clock and compare their actual times with the estimates of both estimators."""
    from webstrata.lab.crawl_time.experiment import run

    start_logging(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="webstrata-lab-") as folder, _showing_progress(crawls) as on_progress:
        assemble = _assembler(Path(folder))
        result = run_async(lambda: run(assemble, crawls=crawls, seed=seed, on_progress=on_progress, teaching=teach))
    if out is not None:
        _write(result, out)
    if as_json:
        print_json(result)
    else:
        _show(result)
        if out is not None:
            typer.echo(f"\nResults written to {out}.")


def _assembler(folder: Path) -> Assemble:
    import msgspec

    from webstrata import settings as settings_file
    from webstrata.home import Home
    from webstrata.node import Node

    home, _ = Home.create(folder / "home")

    def assemble(
        clock: Clock, hosts: Mapping[str, str], exceptions: Sequence[str], delay_s: float, threads: int
    ) -> Node:
        flags = (*_SETTINGS, f"polite.delay={delay_s}s", f"fetch.connections={threads}")
        loaded, _ = settings_file.load(home.path, environment={}, flags=flags)
        fetch = msgspec.structs.replace(loaded.fetch, hosts=dict(hosts), allow_private=tuple(exceptions))
        return Node(home, msgspec.structs.replace(loaded, fetch=fetch), clock)

    return assemble


@contextmanager
def _showing_progress(crawls: int) -> Iterator[Callable[[CrawlMeasurement], None]]:
    """A progress bar of the crawls on a terminal, nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda measurement: None
        return
    from rich.progress import Progress

    from webstrata.cli.crawl.display import stderr

    with Progress(console=stderr) as progress:
        task = progress.add_task("crawls", total=crawls)
        yield lambda measurement: progress.advance(task)


def _show(result: CrawlTimeResults) -> None:
    crawls = counted(len(result.crawls), "crawl")
    visits = counted(sum(crawl.visits for crawl in result.crawls), "visit")
    typer.echo(f"{crawls} with {visits}, after {result.teaching} that only filled the log\n")
    columns = (
        "estimator",
        "actual crawl time",
        "overestimate (crawls)",
        "underestimate (crawls)",
        "within 10 %",
        "total",
    )
    print_table(columns, [_cells(row) for row in result.table if row.crawls])
    typer.echo("\n`informed` knows the true mean latency and Crawl-delay of each server, which no crawler does.")
    if result.inside_interval is not None:
        typer.echo(f"{result.inside_interval:.0%} of the actual times are in the 80% interval of our estimate.")


def _cells(row: CrawlTimeRow) -> tuple[str, ...]:
    over = f"{row.over:.0%}" if row.over is not None else "-"
    under = f"{row.under:.0%}" if row.under is not None else "-"
    close = f"{row.within_10_percent:.0%}" if row.within_10_percent is not None else "-"
    return (
        row.estimator,
        row.group,
        f"{over} ({row.over_crawls})",
        f"{under} ({row.under_crawls})",
        close,
        str(row.crawls),
    )


def _write(result: CrawlTimeResults, out: Path) -> None:
    import msgspec

    out.mkdir(parents=True, exist_ok=True)
    (out / "crawl-time.json").write_bytes(msgspec.json.format(msgspec.json.encode(result)))
    from webstrata.plots.crawl_time import draw_estimates

    draw_estimates(result.crawls, out / "crawl-time.svg")
