"""`webstrata lab sharp`: compares algorithms by the number of pages that they capture as of one instant."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from webstrata.cli.options import JsonOption
from webstrata.cli.output import print_json, print_table
from webstrata.errors import UsageError

if TYPE_CHECKING:
    from webstrata.lab.sharp.sites import SiteRow
    from webstrata.lab.sharp.tables import TableRow


def command(
    lengths: Annotated[
        str | None,
        typer.Option(
            help="Confidence lengths in slots, like 1,1,9,9: print the schedule for these pages.", show_default=False
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(help="Weights of these pages, separated by commas; default: all 1.", show_default=False),
    ] = None,
    algorithm: Annotated[str, typer.Option(help="Algorithm that makes the schedule for --lengths.")] = "optimal",
    tree: Annotated[
        str | None,
        typer.Option(
            help="Tree of links, like 0->1,2;1->3, for online algorithms; default: all pages are seeds.",
            show_default=False,
        ),
    ] = None,
    tau: Annotated[float, typer.Option(help="Confidence of the lengths, in SOLAR and SHARC.")] = 0.7,
    runs: Annotated[int, typer.Option(min=1, help="Number of simulated executions of each schedule.")] = 1000,
    sites: Annotated[
        Path | None,
        typer.Option(help="Folder of recorded sites; default: the sites in the package.", show_default=False),
    ] = None,
    starts: Annotated[
        int, typer.Option(min=0, help="Number of captures of every recorded site; 0 leaves them out.")
    ] = 24,
    days: Annotated[str, typer.Option(help="Durations of these captures in days.")] = "1,14",
    live: Annotated[
        bool, typer.Option("--live", help="Instead, capture the living web over real HTTP and check every verdict.")
    ] = False,
    captures: Annotated[
        int, typer.Option(min=1, help="With --live: number of captures of every site in every way.")
    ] = 4,
    faults: Annotated[
        bool,
        typer.Option(
            "--faults", help="With --live: sites answer some requests with 403, 404, 500, a reset or another page."
        ),
    ] = False,
    only: Annotated[
        str | None, typer.Option(help="With --live: only these sites, separated by commas.", show_default=False)
    ] = None,
    calibration: Annotated[
        bool,
        typer.Option("--calibration", help="Instead, compare expected and realised sharp pages of recorded sites."),
    ] = False,
    picture: Annotated[
        Path | None,
        typer.Option(
            help="With --calibration: file for the reliability diagram (.svg, .png, .pdf).", show_default=False
        ),
    ] = None,
    hints: Annotated[
        bool, typer.Option("--hints", help="Instead, test whether the type, depth and words of URLs predict changes.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the tables as JSON and the pictures as SVG.", show_default=False)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Reproduce the tables of the SOLAR paper with an upper bound, and replay captures of recorded sites."""
    if lengths is not None:
        _one_schedule(lengths, weights, algorithm, tree, tau, out, as_json)
        return
    if live:
        _live(sites, captures, only, out, as_json, with_faults=faults)
        return
    if calibration:
        _calibration(sites, picture, as_json)
        return
    if hints:
        from webstrata.cli.lab import sharp_hints

        sharp_hints.show(_recordings(sites), as_json)
        return
    document = _experiments(runs, tau, sites, starts, days)
    if out is not None:
        _write(out, document)
    if as_json:
        print_json(document)
        return
    _print_tables(document["rows"])
    _print_sites(document["sites"])


def _one_schedule(
    lengths: str, weights: str | None, algorithm: str, tree: str | None, tau: float, out: Path | None, as_json: bool
) -> None:
    from webstrata.lab.sharp.algorithms import one_schedule

    schedule = one_schedule(_numbers(lengths), _numbers(weights) if weights else None, algorithm, tree or "", tau)
    if out is not None:
        from webstrata.plots.visits import draw_visits, schedule_panel

        schedule_file = _folder(out) / f"{algorithm}.svg"
        panel = schedule_panel(schedule.visits, schedule.revisits, schedule.hopeless, algorithm)
        draw_visits(schedule_file, [panel])
    if as_json:
        print_json(schedule)
        return
    hopeless = set(schedule.hopeless)
    slots = enumerate(zip(schedule.visits, schedule.revisits, strict=True))
    print_table(
        ("page", "visit", "revisit", ""),
        [(page, -visit, revisit, "hopeless" if page in hopeless else "") for page, (visit, revisit) in slots],
    )
    typer.echo(f"expected sharp: {schedule.expected:.6f}, upper bound of all schedules: {schedule.bound:.6f}")


def _live(
    sites: Path | None, captures: int, only: str | None, out: Path | None, as_json: bool, *, with_faults: bool
) -> None:
    import msgspec

    from webstrata.cli.lab import sharp_live

    names = set(only.split(",")) if only else None
    recordings = [recording for recording in _recordings(sites) if names is None or recording.site in names]
    if not recordings:
        raise UsageError(f"there is no recorded site {only}.")
    with _status() as on_progress:
        rows = sharp_live.live(recordings, captures, on_progress, with_faults=with_faults)
    if out is not None:
        text = msgspec.json.format(msgspec.json.encode({"live": rows}), indent=2) + b"\n"
        (_folder(out) / "sharp-live.json").write_bytes(text)
    if as_json:
        print_json({"live": rows})
    else:
        sharp_live.show(rows)
    if any(row.false_sharp > row.changed_and_back or row.faults or row.politeness_violations for row in rows):
        raise typer.Exit(1)


def _calibration(sites: Path | None, picture: Path | None, as_json: bool) -> None:
    from webstrata.cli.lab import sharp_calibration

    sharp_calibration.check_picture(picture)
    with _status() as on_progress:
        rows = sharp_calibration.measured(_recordings(sites), on_progress)
    sharp_calibration.show(rows, picture, as_json)


def _experiments(runs: int, tau: float, sites: Path | None, starts: int, days: str) -> dict[str, Any]:
    from webstrata.lab.sharp.sites import site_rows
    from webstrata.lab.sharp.tables import table_rows

    durations = _numbers(days)
    recordings = _recordings(sites) if starts else []
    with _status() as on_progress:
        rows = list(table_rows(runs=runs, on_progress=on_progress, tau=tau))
        captured = list(site_rows(recordings, durations, starts, on_progress=on_progress)) if recordings else []
    return {"rows": rows, "sites": captured}


@contextmanager
def _status() -> Iterator[Callable[[str], None]]:
    """Show the current step on a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from webstrata.cli.crawl.display import stderr

    with stderr.status("sharp captures") as status:
        yield lambda step: status.update(f"sharp captures: {step}")


def _recordings(folder: Path | None) -> list[Any]:
    from webstrata.lab.livingweb.recording import load_shipped, read_recordings

    if folder is None:
        return load_shipped()
    recordings = read_recordings(folder)
    if not recordings:
        raise UsageError(f"{folder} contains no recorded sites: files named NAME.versions.parquet.")
    return recordings


def _print_tables(rows: list[TableRow]) -> None:
    print_table(
        ("table", "data set", "algorithm", "E", "of the bound", "simulated", "95 %", "paper"),
        [
            (
                row.table,
                row.dataset,
                row.algorithm,
                f"{row.expected:.3f}",
                f"{row.expected / row.bound:.2%}",
                f"{row.simulated:.2f}",
                f"{row.simulated_low:.2f} to {row.simulated_high:.2f}",
                "" if row.paper is None else f"{row.paper:.3f}",
            )
            for row in rows
        ],
    )


def _print_sites(rows: list[SiteRow]) -> None:
    if not rows:
        return
    typer.echo("")
    print_table(
        ("site", "days", "starts", "algorithm", "captures", "pages", "sharp", "proved", "expected"),
        [
            (
                row.site,
                f"{row.days:g}",
                row.starts,
                row.algorithm,
                row.captures,
                f"{row.pages:.1f}",
                f"{row.sharp:.2f}",
                f"{row.proved:.2f}",
                "" if row.expected is None else f"{row.expected:.2f}",
            )
            for row in rows
        ],
    )


def _write(out: Path, document: dict[str, Any]) -> None:
    import msgspec

    from webstrata.plots.sharp import draw_all

    folder = _folder(out)
    (folder / "sharp.json").write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")
    draw_all(folder, document["rows"])


def _folder(out: Path) -> Path:
    out.mkdir(parents=True, exist_ok=True)
    return out


def _numbers(text: str) -> list[float]:
    try:
        return [float(number) for number in text.split(",")]
    except ValueError as problem:
        raise UsageError(f"cannot parse {text!r}: separate numbers by commas, like 1,1,9,9.") from problem
