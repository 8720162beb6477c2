"""`webstrata lab live`: the real loop over sites made from change histories, beside the replay of the lab."""

from __future__ import annotations

import logging
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webstrata.cli.lab.named_histories import named_histories
from webstrata.cli.messages import start_logging
from webstrata.cli.options import CopiesOption, HistoriesArgument, HistoriesOption, JsonOption, RecordedOption
from webstrata.cli.output import print_json, print_table
from webstrata.cli.session import run_async
from webstrata.errors import UsageError

if TYPE_CHECKING:
    from webstrata.lab.live.crawl import Assemble, LiveSchedule
    from webstrata.lab.live.experiment import LiveCrawl, LiveCrawlRow, LiveMean
    from webstrata.lab.policies.histories import Histories
    from webstrata.node import Node
    from webstrata.ports import Clock

_SETTINGS = (
    "polite.contact=lab@example.invalid",
    "polite.delay=0s",
    "polite.delay_factor=0",
    "polite.address_delay=0s",
    "polite.obey_robots=false",
    "fetch.connections=1",
    "schedule.min_interval=1d",
    "schedule.first_sight=false",
    "crawl.round=1d",
    "crawl.workers=0",
)
"""One round a day without delays, as in the lab, and no page twice a day. With one connection, visits are made in the
same order each time. The made-up contents of pages say nothing about their changes. The sites are servers of this
process."""
_MEMORY = Path("/dev/shm")
_MOST_DAYS = 10_000

OnProgress = Callable[[str, float], object]
"""(what runs, crawls that are finished, with the part of the one that runs)"""
MakeCrawl = Callable[["LiveCrawl", "Histories", Callable[[float], object]], "LiveCrawlRow"]


def command(
    more: HistoriesArgument = None,
    histories: HistoriesOption = None,
    recorded: RecordedOption = False,
    lists: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="What the sitemap of each site says: none (there is none), truth, random, shuffled (the times of another "
            "page), now (always the time of the request), half (half of the changes, and as many false entries) or silent "
            "(never a new time). Several separated by commas.",
        ),
    ] = "none",
    match: Annotated[
        str,
        typer.Option(help="Timer policy whose number of downloads is the budget; several separated by commas."),
    ] = "state-2",
    budget: Annotated[
        str, typer.Option(metavar="FACTOR", help="Multiple of these downloads; several separated by commas.")
    ] = "1",
    days: Annotated[
        int | None,
        typer.Option(
            min=2,
            show_default=False,
            help="Length of the window before the end of the histories (default: 1095; with --recorded, 730).",
        ),
    ] = None,
    pages: Annotated[
        int | None,
        typer.Option(min=1, help="Crawl about this many pages of each corpus, a sample by site.", show_default=False),
    ] = None,
    history_days: Annotated[
        str,
        typer.Option(
            metavar="DAYS",
            help="Days before the window of which an archive has copies, from which the policy learns before its first "
            "visit; several separated by commas.",
        ),
    ] = "0",
    copies: CopiesOption = "archive",
    policies: Annotated[
        str, typer.Option("--policies", help="Names of budgeted policies, separated by commas.")
    ] = "value",
    seed: Annotated[
        str,
        typer.Option(
            help="Seed of the random entries of lists and of the order of pages; several separated by commas, for means."
        ),
    ] = "1",
    lab_only: Annotated[
        bool, typer.Option("--lab-only", help="Only replay in the lab, which takes seconds instead of minutes.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Number of crawls that run at the same time.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Crawl real change histories with the real loop (HTTP, WARC, SQLite), and compare with the replay of the lab."""
    from webstrata.lab.live.experiment import LiveExperiment, means, planned
    from webstrata.lab.policies.past_histories import copy_times

    files = [*(histories or []), *(more or [])]
    experiment = LiveExperiment(
        policies=_names(policies),
        lists=_names(lists),
        match=_names(match),
        budgets=tuple(_factor(text) for text in _names(budget)),
        days=days or (2 if recorded else 3) * 365,
        pages=pages,
        history_days=tuple(_days(text) for text in _names(history_days)),
        copies=copy_times(copies),
        seeds=tuple(_seed(text) for text in _names(seed)),
    )
    crawls = planned(named_histories(files, recorded=recorded), experiment)
    with _progress_bar(len(crawls)) as on_progress:
        make = partial(_crawl, lab_only=lab_only)
        rows = _run(crawls, make, on_progress) if jobs == 1 else _run_parallel(crawls, make, jobs, on_progress)
    if as_json:
        print_json({"rows": rows, "means": means(rows)})
    else:
        _show(rows)


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _factor(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"no budget {text!r}. Write a factor of the matched downloads, for example 0.5.") from None


def _days(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > _MOST_DAYS:
        raise UsageError(f"no number of days {text!r}. Write a whole number up to {_MOST_DAYS}, for example 365.")
    return int(text)


def _seed(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise UsageError(f"no seed {text!r}. Write a whole number, for example 1.")
    return int(text)


# ── crawls ──────────────────────────────────────────────────────────────────────────────────────────────────


def _run(crawls: Sequence[tuple[LiveCrawl, Histories]], make: MakeCrawl, on_progress: OnProgress) -> list[LiveCrawlRow]:
    rows: list[LiveCrawlRow] = []
    for crawl, histories in crawls:
        rows.append(make(crawl, histories, partial(_part_done, on_progress, _title(crawl), len(rows))))
    return rows


def _part_done(on_progress: OnProgress, title: str, done: int, part: float) -> None:
    on_progress(title, done + part)


def _run_parallel(
    crawls: Sequence[tuple[LiveCrawl, Histories]], make: MakeCrawl, jobs: int, on_progress: OnProgress
) -> list[LiveCrawlRow]:
    """Each crawl in a process of its own: a crawl uses one core."""
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        running = [pool.submit(make, crawl, histories, _ignore_progress) for crawl, histories in crawls]
        for done, finished in enumerate(as_completed(running), 1):
            on_progress(_title(crawls[running.index(finished)][0]), done)
        return [future.result() for future in running]


def _ignore_progress(part: float) -> None:
    """The progress of a crawl in another process."""


def _crawl(
    crawl: LiveCrawl, histories: Histories, on_progress: Callable[[float], object], *, lab_only: bool
) -> LiveCrawlRow:
    """One crawl in a temporary home, in memory where the system has a folder for that."""
    from webstrata.lab.live.experiment import run_crawl

    start_logging(logging.ERROR)
    if lab_only:
        return run_async(lambda: run_crawl(crawl, histories, None))
    with tempfile.TemporaryDirectory(prefix="webstrata-lab-", dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        assemble = assembler(Path(folder))
        return run_async(lambda: run_crawl(crawl, histories, assemble, lambda day: on_progress(day / crawl.days)))


def assembler(folder: Path) -> Assemble:
    """Makes nodes with a home in this folder."""
    import msgspec

    from webstrata import settings as settings_file
    from webstrata.home import Home
    from webstrata.node import Node

    home, _ = Home.create(folder / "home")

    def assemble(clock: Clock, hosts: Mapping[str, str], exceptions: Sequence[str], schedule: LiveSchedule) -> Node:
        per_day = schedule.visits_per_day
        flags = (
            *_SETTINGS,
            f"schedule.policy={schedule.policy}",
            # A budget per page does not pay for first copies.
            f"budget.total={per_day / schedule.watched:.20f}/page/day",
            # The fraction of a visit that a day leaves is carried over, and nothing else.
            f"budget.carry_over={1.0 + (1.0 / per_day if per_day else 0.0):.6f}d",
        )
        loaded, _ = settings_file.load(home.path, environment={}, flags=flags)
        fetch = msgspec.structs.replace(loaded.fetch, hosts=dict(hosts), allow_private=tuple(exceptions))
        return Node(home, msgspec.structs.replace(loaded, fetch=fetch), clock)

    return assemble


# ── display ─────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _progress_bar(crawls: int) -> Iterator[OnProgress]:
    """A progress bar of the crawls on a terminal, nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda title, done: None
        return
    from rich.progress import Progress

    from webstrata.cli.crawl.display import stderr

    with Progress(console=stderr, transient=True) as bar:
        task = bar.add_task("", total=crawls)
        yield lambda title, done: bar.update(task, description=title, completed=done)


def _title(crawl: LiveCrawl) -> str:
    history = f", history {crawl.history_days} d" if crawl.history_days else ""
    budget = f"{crawl.budget:g} × {crawl.match}"
    return f"{crawl.corpus}, {crawl.policy}, lists: {crawl.lists}, {budget}, seed {crawl.seed}{history}"


def _show(rows: Sequence[LiveCrawlRow]) -> None:
    from webstrata.lab.live.experiment import means

    print_table(
        (
            "corpus",
            "policy",
            "lists",
            "budget",
            "seed",
            "history",
            "captured",
            "in the lab",
            "without history",
            "changes",
            "visits",
            "of lists",
            "of lists, lab",
            "allowed",
            "matched captured",
        ),
        [
            (
                row.corpus,
                row.policy,
                row.lists,
                f"{row.budget:g} × {row.match}",
                row.seed,
                _history(row.history_days),
                _or_dash(row.captured),
                row.lab_captured,
                _or_dash(row.lab_without_history),
                row.changes,
                _or_dash(row.visits),
                _or_dash(row.list_visits),
                row.lab_list_visits,
                f"{row.downloads_allowed:.0f}",
                row.matched_captured,
            )
            for row in rows
        ],
    )
    typer.echo(
        "\nChanges captured, divided by those that the matched policy captures at its own pace (geometric mean over the "
        "corpora and seeds), and in the lab by corpus; last, divided by those without lists, on the corpus where this is "
        "least, and by those without copies of an archive (95 % interval):\n"
    )
    corpora = list(dict.fromkeys(row.corpus for row in rows))
    print_table(
        ("policy", "lists", "budget", "history", "live", "in the lab", *corpora, "÷ no lists, least", "÷ no history"),
        [
            (
                mean.policy,
                mean.lists,
                f"{mean.budget:g} × {mean.match}",
                _history(mean.history_days),
                "-" if mean.ratio is None else f"{mean.ratio:.3f}",
                f"{mean.lab_ratio:.3f}",
                *(f"{mean.by_corpus[corpus]:.3f}" for corpus in corpora),
                _least(mean.of_no_list),
                _gain(mean),
            )
            for mean in means(rows)
        ],
    )


def _history(days: int) -> str:
    return f"{days} d" if days else "-"


def _gain(mean: LiveMean) -> str:
    if mean.gain is None or mean.gain_interval is None:
        return "-"
    low, high = mean.gain_interval
    return f"{mean.gain:.3f} ({low:.3f} to {high:.3f})"


def _or_dash(number: int | None) -> int | str:
    return "-" if number is None else number


def _least(ratios: Mapping[str, float]) -> str:
    if not ratios:
        return "-"
    corpus = min(ratios, key=lambda name: ratios[name])
    return f"{ratios[corpus]:.3f} ({corpus})"
