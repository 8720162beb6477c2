"""`webstrata lab cold-start`: pages of which only the first version is known: their groups, and what the schedule gains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webstrata.cli.lab.named_histories import named_histories
from webstrata.cli.options import HistoriesArgument, JsonOption, RecordedOption
from webstrata.cli.output import print_json, print_table, progress_bar
from webstrata.errors import UsageError

if TYPE_CHECKING:
    from webstrata.lab.cold_start.rows import ColdStartRow
    from webstrata.lab.cold_start.schedule_run import ScheduleRow
    from webstrata.lab.first_sight.recorded_pages import RecordedPage
    from webstrata.schedule.textbook.rate_groups import RateGroup

_MATCHES = ("state-2", "dyn")
_WHOLE_DAYS = 730
_MOST_PAGES = 100
"""Pages of each site in the replays of `--schedule`."""


def command(
    more: HistoriesArgument = None,
    histories: Annotated[
        list[Path] | None,
        typer.Option(
            "--histories",
            metavar="FILE",
            show_default=False,
            help="Instead, Parquet file of change histories, or a folder of such files. They have no contents: pages start "
            "in a random group of the paper's Table 4.",
        ),
    ] = None,
    recorded: RecordedOption = False,
    sites: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            show_default=False,
            help="Folder of recorded sites (default: the pages of the default model; with --schedule they teach, and "
            "those of --recorded are replayed).",
        ),
    ] = None,
    days: Annotated[
        int, typer.Option(min=2, max=1095, help="Days for which each page is watched after its first version.")
    ] = 100,
    seeds: Annotated[
        int, typer.Option(min=1, max=100, help="Number of random drawings: of the tested pages and initial classes.")
    ] = 5,
    schedule: Annotated[
        bool,
        typer.Option(
            "--schedule",
            help="Instead, compare the captures of the policy value with and without the classifier, at equal downloads.",
        ),
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write pictures to this folder.", show_default=False)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Classify pages at first sight and by their history, as in Tables 3 and 5 of «present and past», and compare."""
    files_given = [*(histories or []), *(more or [])]
    if bool(files_given) + recorded + (sites is not None) > 1:
        raise UsageError("name either --histories, --recorded or --sites.")
    if schedule:
        if files_given:
            raise UsageError("change histories have no contents to classify. Use --schedule with --sites or alone.")
        _show_schedule(_schedule(sites, days, recorded=recorded), plot, as_json)
        return
    if files_given:
        from webstrata.lab.cold_start.histories_run import history_rows

        rows = list(history_rows(named_histories(files_given, recorded=False), days, seeds))
        groups: dict[str, tuple[RateGroup, ...]] = {}
    else:
        from webstrata.lab.cold_start.experiment import cold_start_tables
        from webstrata.lab.cold_start.learners import TREE, learned
        from webstrata.lab.cold_start.monitored_pages import monitored_pages

        pages = monitored_pages(_pages(sites, recorded=recorded), days)
        with progress_bar("tests", unit="rows") as advance:
            tables = cold_start_tables(pages, partial(learned, method=TREE), seeds, lambda: advance(1))
        rows, groups = tables.rows, tables.groups
    if plot is not None:
        from webstrata.plots.cold_start import draw_errors

        draw_errors(_folder(plot) / "cold-start-errors.svg", rows)
    if as_json:
        print_json({"rows": rows, "groups": groups, "days": days, "seeds": seeds})
        return
    _show(rows, groups)


def _pages(sites: Path | None, *, recorded: bool) -> list[RecordedPage]:
    """The pages of a folder of sites, of the demo's sites, or of the table in the package."""
    from webstrata.lab.first_sight.page_table import shipped_pages
    from webstrata.lab.first_sight.recorded_pages import read_recorded_pages

    if sites is None and not recorded:
        return shipped_pages()
    with _folder_of(sites) as folder, progress_bar("sites", unit="rows") as advance:
        return read_recorded_pages(folder, lambda site, pages: advance(1))


@contextmanager
def _folder_of(sites: Path | None) -> Iterator[Path]:
    if sites is not None:
        yield sites
        return
    with as_file(files("webstrata.lab") / "data" / "sites") as folder:
        yield folder


def _schedule(sites: Path | None, days: int, *, recorded: bool) -> list[ScheduleRow]:
    """Rows for the asked days and for two years, with beliefs from unseen sites and from unseen pages."""
    from webstrata.lab.cold_start.learners import BOOSTING, learned
    from webstrata.lab.cold_start.rows import PAGES, SITES
    from webstrata.lab.cold_start.schedule_run import schedule_rows
    from webstrata.lab.cold_start.starts import starts_by_fold
    from webstrata.lab.cold_start.watched_sites import watched_sites
    from webstrata.lab.first_sight.page_table import as_training_pages
    from webstrata.lab.first_sight.recorded_pages import VERSIONS
    from webstrata.lab.livingweb.recording import SHIPPED_WINDOW, read_recording

    training = as_training_pages(_pages(sites, recorded=recorded))
    with _folder_of(sites) as folder, progress_bar("first days", unit="rows") as advance:
        window = SHIPPED_WINDOW if sites is None else None
        names = sorted(file.name.removesuffix(VERSIONS) for file in folder.glob(f"*{VERSIONS}"))
        recordings = (read_recording(folder, name, window) for name in names)
        watched = watched_sites(recordings, _WHOLE_DAYS, _MOST_PAGES, window, lambda: advance(1))
    rows: list[ScheduleRow] = []
    with progress_bar("classifiers and replays", unit="rows") as advance:
        for split in (PAGES, SITES):
            starts = starts_by_fold(watched, training, partial(learned, method=BOOSTING), split, lambda: advance(1))
            for length in watched.covered(days, _WHOLE_DAYS):
                for match in _MATCHES:
                    rows += schedule_rows(watched, starts, length, match, split)
                    advance(1)
    return rows


def _show(rows: Sequence[ColdStartRow], groups: dict[str, tuple[RateGroup, ...]]) -> None:
    print_table(
        ("pages", "split", "initial class", "history", "error", "95 %", "of groups", "visits", "tested", "paper"),
        [
            (
                row.corpus,
                row.split,
                row.initial,
                row.history,
                f"{row.error:.3f}",
                f"{row.low:.3f} to {row.high:.3f}",
                f"{row.balanced_error:.3f}",
                f"{row.visits:.2f}",
                row.pages,
                "" if row.paper is None else f"{row.paper:.3f}",
            )
            for row in rows
        ],
    )
    for split, chosen in groups.items():
        shown = ", ".join(
            f"{group.days:.3g} d: {group.visits} visits, {group.slower_below:g} to {group.faster_above:g}"
            for group in chosen
        )
        typer.echo(f"{split}: groups of the first test ({shown})")


def _show_schedule(rows: Sequence[ScheduleRow], plot: Path | None, as_json: bool) -> None:
    if plot is not None:
        from webstrata.plots.cold_start import draw_schedule

        draw_schedule(_folder(plot) / "cold-start-schedule.svg", rows)
    if as_json:
        print_json({"schedule": rows})
        return
    print_table(
        (
            *("split", "days", "downloads of", "belief at first", "pages", "downloads", "captured", "changes"),
            *("freshness", "ratio", "95 % over sites", "over pages"),
        ),
        [
            (
                row.split,
                row.days,
                row.match,
                row.start,
                row.pages,
                row.downloads,
                row.captured,
                row.changes,
                f"{row.freshness:.3f}",
                f"{row.ratio:.3f}",
                f"{row.low:.3f} to {row.high:.3f}",
                f"{row.pages_low:.3f} to {row.pages_high:.3f}",
            )
            for row in rows
        ],
    )


def _folder(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
