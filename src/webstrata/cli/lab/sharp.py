"""`webstrata lab sharp`: how many pages of a site can be captured as of one instant, by every algorithm."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from webstrata.cli.output import print_json, print_table
from webstrata.cli.session import JsonOption
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
        str | None, typer.Option(help="Their weights, with commas between them; without: all 1.", show_default=False)
    ] = None,
    algorithm: Annotated[str, typer.Option(help="Which schedule to print for --lengths.")] = "optimal",
    tree: Annotated[
        str | None,
        typer.Option(
            help="Where pages are found, like 0->1,2;1->3, for online algorithms; without: all are seeds.",
            show_default=False,
        ),
    ] = None,
    tau: Annotated[float, typer.Option(help="Confidence that lengths stand for, in SOLAR and SHARC.")] = 0.7,
    runs: Annotated[int, typer.Option(min=1, help="Simulated executions of each schedule.")] = 1000,
    sites: Annotated[
        Path | None,
        typer.Option(help="Folder of recorded sites; without: those that come with the package.", show_default=False),
    ] = None,
    starts: Annotated[int, typer.Option(min=0, help="Captures of every recorded site; 0: none.")] = 24,
    days: Annotated[str, typer.Option(help="How long these captures last, in days.")] = "1,14",
    live: Annotated[
        bool, typer.Option("--live", help="Instead, capture the living web over real HTTP and judge every verdict.")
    ] = False,
    captures: Annotated[int, typer.Option(min=1, help="With --live: captures of every site, in every way.")] = 4,
    only: Annotated[
        str | None, typer.Option(help="With --live: only these sites, with commas between them.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the tables as JSON and the pictures as SVG.", show_default=False)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run the tables of the solar paper again, beside the bound that no schedule passes, and captures of real sites."""
    if lengths is not None:
        _one_schedule(lengths, weights, algorithm, tree, tau, out, as_json)
        return
    if live:
        _live(sites, captures, only, out, as_json)
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

    found = one_schedule(_numbers(lengths), _numbers(weights) if weights else None, algorithm, tree or "", tau)
    if out is not None:
        from webstrata.plots.visits import draw_visits, schedule_panel

        schedule_file = _folder(out) / f"{algorithm}.svg"
        draw_visits(schedule_file, [schedule_panel(found.visits, found.revisits, found.hopeless, algorithm)])
    if as_json:
        print_json(found)
        return
    hopeless = set(found.hopeless)
    slots = enumerate(zip(found.visits, found.revisits, strict=True))
    print_table(
        ("page", "visit", "revisit", ""),
        [(page, -visit, revisit, "hopeless" if page in hopeless else "") for page, (visit, revisit) in slots],
    )
    typer.echo(f"expected sharp: {found.expected:.6f}, no schedule has more than {found.bound:.6f}")


def _live(sites: Path | None, captures: int, only: str | None, out: Path | None, as_json: bool) -> None:
    import msgspec

    from webstrata.cli.lab import sharp_live

    wanted = set(only.split(",")) if only else None
    recordings = [one for one in _recordings(sites) if wanted is None or one.site in wanted]
    if not recordings:
        raise UsageError(f"no recorded site is called {only}.")
    with _telling() as told:
        rows = sharp_live.live(recordings, captures, told)
    if out is not None:
        text = msgspec.json.format(msgspec.json.encode({"live": rows}), indent=2) + b"\n"
        (_folder(out) / "sharp-live.json").write_bytes(text)
    if as_json:
        print_json({"live": rows})
    else:
        sharp_live.show(rows)
    if any(row.false_sharp > row.changed_and_back or row.faults or row.politeness_violations for row in rows):
        raise typer.Exit(1)


def _experiments(runs: int, tau: float, sites: Path | None, starts: int, days: str) -> dict[str, Any]:
    from webstrata.lab.sharp.sites import site_rows
    from webstrata.lab.sharp.tables import table_rows

    lasting = _numbers(days)
    recordings = _recordings(sites) if starts else []
    with _telling() as told:
        rows = list(table_rows(runs=runs, told=told, tau=tau))
        captured = list(site_rows(recordings, lasting, starts, told=told)) if recordings else []
    return {"rows": rows, "sites": captured}


@contextmanager
def _telling() -> Iterator[Callable[[str], None]]:
    """What is being done, on a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from webstrata.cli.crawl.display import stderr

    with stderr.status("sharp captures") as shown:
        yield lambda what: shown.update(f"sharp captures: {what}")


def _recordings(folder: Path | None) -> list[Any]:
    from webstrata.lab.livingweb.recording import load_shipped, read_recordings

    if folder is None:
        return load_shipped()
    found = read_recordings(folder)
    if not found:
        raise UsageError(f"no recorded sites in {folder}: they are files named NAME.versions.parquet.")
    return found


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
        return [float(one) for one in text.split(",")]
    except ValueError as problem:
        raise UsageError(f"cannot read {text!r}: write numbers with commas between them, like 1,1,9,9.") from problem
