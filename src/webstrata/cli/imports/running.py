"""How the commands of `import` run: the options that they share, the import of sources, its progress and its result."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from webstrata.cli.messages import safe
from webstrata.cli.output import counted, date_time, iso_or_none, print_json, printable
from webstrata.cli.session import open_node, run_async

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from webstrata.flows.import_copies import ImportResult
    from webstrata.flows.learn_copies import LearnedCopies
    from webstrata.node import Node
    from webstrata.ports import CopySource
    from webstrata.records import ImportProgress, ReadBatch
    from webstrata.wanted_pages import WantedPages

_SHOWN_ROWS = 20
"""Rows left out that are listed."""
_UNLISTED = ("outside", "too-deep")
"""The user asked to leave these out: they are counted only."""

OpenSources = Callable[["Node"], "AbstractAsyncContextManager[Sequence[CopySource]]"]

# ── options ─────────────────────────────────────────────────────────────────────────────────────────────────

ArchiveOption = Annotated[
    str,
    typer.Option(
        "--archive",
        metavar="NAME",
        help="The name of the archive that made the copies. Default: taken from the source.",
        show_default=False,
    ),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        "--match",
        metavar="PATTERN",
        help="Import only these pages: a URL, https://foo.edu/dir/* for all below a folder, foo.edu/* for a host, or "
        "*.foo.edu with its subdomains. May be repeated.",
        show_default=False,
    ),
]
DepthOption = Annotated[
    int | None,
    typer.Option(
        "--depth",
        min=0,
        max=1000,
        metavar="N",
        help="Import only pages at most N levels below the homepage of their site; 0 is the homepage itself.",
        show_default=False,
    ),
]
WatchedOption = Annotated[bool, typer.Option("--watched", help="Import only pages that are watched.")]
WatchOption = Annotated[
    bool,
    typer.Option(
        "--watch", help="Also watch the imported pages. Without it they are known, and not visited until `watch`."
    ),
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Read everything and print the counts, but store nothing.")
]
RestartOption = Annotated[
    bool, typer.Option("--restart", help="Read from the start although the source was read before, or in part.")
]

# ── running ─────────────────────────────────────────────────────────────────────────────────────────────────


def run_imports(
    open_sources: OpenSources,
    *,
    home: Path | None,
    wanted: WantedPages,
    dry_run: bool,
    restart: bool,
    as_json: bool,
    watch: bool = False,
) -> None:
    """Import sources one after the other, each with its own progress in the store, and print what was done."""
    from webstrata.flows.import_copies import import_copies
    from webstrata.flows.learn_copies import learn_copies

    node = open_node(home)

    async def run() -> tuple[list[ImportResult], LearnedCopies | None]:
        results = []
        async with node.store() as store, open_sources(node) as sources:
            for number, source in enumerate(sources, 1):
                with _shown(f"importing {number} of {len(sources)}" if len(sources) > 1 else "importing") as on_batch:
                    results.append(
                        await import_copies(
                            store,
                            source,
                            node.clock.now(),
                            wanted=wanted,
                            dry_run=dry_run,
                            restart=restart,
                            watch=watch,
                            on_batch=on_batch,
                        )
                    )
            if dry_run:
                return results, None
            with _bar("learning") as (advance, _):

                def on_learned(done: int, total: int) -> None:
                    advance(done / max(total, 1), counted(f"{done:,}", "page"))

                learned = await learn_copies(store, node.schedule(), node.clock.now(), on_learned=on_learned)
        return results, learned

    results, learned = run_async(run)
    if as_json:
        print_json(import_json(results, learned, dry_run=dry_run))
        return
    for result in results:
        typer.echo(import_line(result, dry_run=dry_run))
    if learned is not None and learned.pages:
        typer.echo(
            f"learned from {counted(f'{learned.copies:,}', 'copy', 'copies')} of {counted(f'{learned.pages:,}', 'page')}"
        )


def opened(make: Callable[[Node], Sequence[CopySource]]) -> OpenSources:
    """Sources that need no closing, in the form that `run_imports` takes."""

    @asynccontextmanager
    async def open_sources(node: Node) -> AsyncIterator[Sequence[CopySource]]:
        yield make(node)

    return open_sources


# ── showing ─────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _shown(what: str) -> Iterator[Callable[[ReadBatch, ImportProgress], None]]:
    """Lists the first rows that are left out on stderr and, on a terminal, shows the progress."""
    listed = left_out = 0
    with _bar(what) as (advance, write):

        def on_batch(batch: ReadBatch, progress: ImportProgress) -> None:
            nonlocal listed, left_out
            for row in batch.skipped:
                if listed < _SHOWN_ROWS and row.reason not in _UNLISTED:
                    listed += 1
                    detail = f": {row.detail}" if row.detail else ""
                    write(safe(f"{row.where}: {row.reason}{detail}"))
            advance(batch.done, counted(f"{progress.read:,}", "row"))
            left_out += sum(number for reason, number in batch.skipped_counts.items() if reason not in _UNLISTED)

        yield on_batch
    if left_out > listed:
        typer.echo(f"and {counted(f'{left_out - listed:,}', 'more row')} left out", err=True)


@contextmanager
def _bar(what: str) -> Iterator[tuple[Callable[[float | None, str], None], Callable[[str], None]]]:
    """A progress bar on a terminal; yields the functions to show a share of the source, and to print a line."""
    if not sys.stderr.isatty():
        yield lambda done, number: None, lambda text: typer.echo(text, err=True)
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from webstrata.cli.crawl.display import stderr

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[number]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=stderr, transient=True) as shown:
        task = shown.add_task(what, total=None, number="")

        def advance(done: float | None, number: str) -> None:
            shown.update(task, total=None if done is None else 1.0, completed=done or 0.0, number=number)

        yield advance, lambda text: stderr.print(text, markup=False)


def import_json(results: Sequence[ImportResult], learned: LearnedCopies | None, *, dry_run: bool) -> dict[str, Any]:
    """The document of an import: the sums over its sources, each of them, and what was learned."""
    skipped: dict[str, int] = {}
    for result in results:
        for reason, number in result.skipped.items():
            skipped[reason] = skipped.get(reason, 0) + number
    return {
        "read": sum(result.read for result in results),
        "kept": sum(result.kept for result in results),
        "skipped": skipped,
        "dry_run": dry_run,
        "learned": None if learned is None else {"pages": learned.pages, "copies": learned.copies},
        "imports": [
            {
                "key": result.key,
                "read": result.read,
                "kept": result.kept,
                "skipped": result.skipped,
                "resumed_rows": result.continued_from,
                "finished_before": _finished_json(result.finished_before),
            }
            for result in results
        ],
    }


def _finished_json(before: ImportProgress | None) -> dict[str, Any] | None:
    return None if before is None else {"at": iso_or_none(before.at), "read": before.read, "kept": before.kept}


def import_line(result: ImportResult, *, dry_run: bool) -> str:
    """What an import did, in one line."""
    key = printable(result.key)
    if result.finished_before is not None:
        when = date_time(result.finished_before.at)
        kept = counted(f"{result.finished_before.kept:,}", "copy", "copies")
        return f"{key}: was imported before ({when}, {kept}); nothing was read. To read it again: --restart"
    what = "would be kept" if dry_run else "kept"
    text = f"{counted(f'{result.read:,}', 'row')} read: {result.kept:,} {what}{left_out_text(result.skipped)}"
    since = f" (continued after {result.continued_from:,})" if result.continued_from else ""
    return f"{key}: {text}{since}"


def left_out_text(skipped: dict[str, int]) -> str:
    """The number of rows left out for each reason, the most frequent first."""
    parts = [f"{number:,} {reason}" for reason, number in sorted(skipped.items(), key=lambda item: -item[1])]
    return f", {sum(skipped.values()):,} left out ({', '.join(parts)})" if parts else ""
