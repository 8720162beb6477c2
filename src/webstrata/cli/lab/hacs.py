"""`webstrata lab hacs`: the experiments of the HACS paper, on real changes and sampled copies."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webstrata.cli.options import HistoriesArgument, HistoriesOption, JsonOption
from webstrata.cli.output import print_json, print_table
from webstrata.clock import DAY_S, parse_span
from webstrata.errors import UsageError

if TYPE_CHECKING:
    from webstrata.lab.hacs.distributions import UpdateDistribution
    from webstrata.lab.hacs.evaluation import HacsResults
    from webstrata.lab.hacs.timeline import UpdateTimeline
    from webstrata.lab.livingweb.recording import Recording

OnProgress = Callable[[str, int, int], object]
_MAX_WEEKS = 12


def command(
    more: HistoriesArgument = None,
    histories: HistoriesOption = None,
    recorded: Annotated[
        bool,
        typer.Option(
            "--recorded",
            help="Use the demo's recorded sites instead: new links and new contents of pages, homepages and websites.",
        ),
    ] = False,
    sites: Annotated[
        Path | None,
        typer.Option(
            "--sites", metavar="FOLDER", help="Use the recorded sites of this folder instead.", show_default=False
        ),
    ] = None,
    w: Annotated[
        str, typer.Option("--w", metavar="WEEKS", help="Windows of history: 1..12, or weeks separated by commas.")
    ] = "1..12",
    e: Annotated[str, typer.Option("--e", metavar="SPAN", help="Evaluation interval, and time between dates.")] = "1w",
    gaps: Annotated[
        str, typer.Option(metavar="DAYS", help="Range of the pages' mean gaps between sampled copies, in days.")
    ] = "2..30",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the copies, of Random, and of equal ranks.")] = 1,
    plot: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write the figures to this folder.", show_default=False)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Select and rank pages by the copies that an archive would have: HACS against its baselines."""
    from webstrata.lab.hacs.distributions import distribution, update_intervals
    from webstrata.lab.hacs.evaluation import evaluate

    weeks, ahead_days, gap_days = _weeks(w), _days(e), _gap_days(gaps)
    files = [*(histories or []), *(more or [])]
    if (sites is not None) + recorded + bool(files) > 1:
        raise UsageError("name either files of histories, or --recorded, or --sites.")
    with _progress_bar() as on_progress:
        if recorded or sites is not None:
            timelines = shown = _of_sites(sites, seed, gap_days, on_progress)
        else:
            timelines, shown = _of_histories(files, seed, gap_days)
        results = evaluate(timelines, weeks=weeks, ahead_days=ahead_days, seed=seed, on_progress=on_progress)
        if not results.rows:
            raise UsageError("no page has a copy before the last date: give longer histories, or a shorter --e.")
        intervals = [update_intervals(timeline) for timeline in shown]
        found = [distribution(timeline, of, seed) for timeline, of in zip(shown, intervals, strict=True)]
    if plot is not None:
        from webstrata.plots.hacs import draw_distributions, draw_evaluations

        plot.mkdir(parents=True, exist_ok=True)
        for file in (*draw_evaluations(plot, results), *draw_distributions(plot, shown, intervals, found)):
            typer.echo(f"wrote {file}", err=True)
    if as_json:
        print_json({"rows": results.rows, "ranking": results.ranking, "distributions": found})
    else:
        _show(results, found)


def _of_histories(
    files: Sequence[Path], seed: int, gap_days: tuple[float, float]
) -> tuple[list[UpdateTimeline], list[UpdateTimeline]]:
    """The corpora to evaluate, and those with their sites as one more corpus, whose distributions are shown."""
    from webstrata.cli.lab.named_histories import named_histories
    from webstrata.lab.hacs.timeline import sampled_timelines, site_timeline

    loaded = named_histories(files, recorded=False)
    timelines = sampled_timelines(loaded, seed, gap_days)
    return timelines, [*timelines, site_timeline(loaded, timelines, "all sites")] if timelines else []


def _of_sites(
    folder: Path | None, seed: int, gap_days: tuple[float, float], on_progress: OnProgress
) -> list[UpdateTimeline]:
    from webstrata.lab.hacs.recorded import recorded_pages, recorded_timelines
    from webstrata.lab.livingweb.recording import SHIPPED_WINDOW, load_shipped

    recordings = load_shipped() if folder is None else _each_site(folder)
    window = SHIPPED_WINDOW if folder is None else None
    return recorded_timelines(*recorded_pages(recordings, seed, window, gap_days, on_progress))


def _each_site(folder: Path) -> Iterator[Recording]:
    """The recorded sites of a folder, one in memory at a time."""
    from webstrata.lab.livingweb.recording import read_recording

    names = sorted(file.name.removesuffix(".versions.parquet") for file in folder.glob("*.versions.parquet"))
    if not names:
        raise UsageError(f"{folder} contains no recorded sites: files named NAME.versions.parquet.")
    for name in names:
        yield read_recording(folder, name)


def _weeks(text: str) -> list[int]:
    try:
        first, dots, last = text.partition("..")
        weeks = list(range(int(first), int(last) + 1)) if dots else sorted({int(one) for one in text.split(",")})
    except ValueError:
        weeks = []
    if not weeks or weeks[0] < 1 or weeks[-1] > _MAX_WEEKS:
        raise UsageError(f"--w {text} is no list of weeks: give 1..{_MAX_WEEKS}, or weeks of them like 1,4,12.")
    return weeks


def _days(text: str) -> float:
    try:
        days = parse_span(text) / DAY_S
    except ValueError as problem:
        raise UsageError(f"{problem}") from None
    if not days >= 1:
        raise UsageError(f"--e {text} is too short: dates are at least a day apart.")
    return days


def _gap_days(text: str) -> tuple[float, float]:
    try:
        low, high = (float(part) for part in text.split(".."))
    except ValueError:
        low = high = 0.0
    if not 0.1 <= low <= high <= 10_000:
        raise UsageError(f"--gaps {text} is no range of days: give the shortest and the longest mean gap, like 2..30.")
    return low, high


@contextmanager
def _progress_bar() -> Iterator[OnProgress]:
    """A progress bar on a terminal, nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda title, done, total: None
        return
    from rich.progress import Progress

    from webstrata.cli.crawl.display import stderr

    with Progress(console=stderr, transient=True) as bar:
        task = bar.add_task("")
        yield lambda title, done, total: bar.update(task, description=title, completed=done, total=total)


def _show(results: HacsResults, found: Sequence[UpdateDistribution]) -> None:
    from webstrata.lab.hacs.selection import best

    p_at_k = {(row.corpus, row.w, row.model): row.p_at_k for row in results.ranking}
    by_window: dict[tuple[str, int], dict[str, tuple[float, float, float, float]]] = {}
    for row in best(results.rows):
        if row.average == "micro":
            models = by_window.setdefault((row.corpus, row.w), {})
            models[row.model] = row.theta, row.precision, row.recall, row.f1
    typer.echo("Micro average at the threshold θ with the best F1 of HACS, and weighted P@K:\n")
    print_table(
        ("corpus", "w", "θ", "P", "R", "F1", "Random", "Brute Force", "P@K", "P@K Last-Obs", "P@K Random"),
        [
            (
                corpus,
                w,
                *(f"{value:.2f}" for value in models["hacs"][:1]),
                *(f"{value:.3f}" for value in models["hacs"][1:]),
                *(f"{models[model][3]:.3f}" for model in ("random", "brute-force")),
                *(f"{p_at_k[corpus, w, model]:.3f}" for model in ("hacs", "last-obs", "random")),
            )
            for (corpus, w), models in by_window.items()
        ],
    )
    typer.echo(
        "\nUpdates as the copies show them (days); pages whose gaps contradict a Poisson process at 5 %,"
        "\nand the median coefficient of variation of their true gaps:\n"
    )
    print_table(
        ("corpus", "pages", "copy gaps", "1/λ", "log-normal", "D", "ranks", "true", "shown", "simulated", "CV"),
        [_distribution_cells(one) for one in found],
    )


def _distribution_cells(one: UpdateDistribution) -> tuple[object, ...]:
    gaps = "-" if one.copy_gap_days is None else " ".join(f"{days:.1f}" for days in one.copy_gap_days)
    fit = "-" if one.log_mean is None else f"{one.log_mean:.2f} ±{one.log_deviation:.2f}"
    distance = "-" if one.log_normal_distance is None else f"{one.log_normal_distance:.3f}"
    if one.log_normal_rejected:
        distance += " rejected"
    return (
        one.corpus,
        one.pages,
        gaps,
        "-" if one.median_interval_days is None else f"{one.median_interval_days:.0f}",
        fit,
        distance,
        "-" if one.rank_correlation is None else f"{one.rank_correlation:.2f}",
        *("-" if check.share is None else f"{check.share:.0%} of {check.pages}" for check in one.poisson),
        "-" if one.poisson[0].median_variation is None else f"{one.poisson[0].median_variation:.2f}",
    )
