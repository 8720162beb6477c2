"""`webstrata coherence`: shows which pages of a collection provably coexisted, and when."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from webstrata.cli.options import HomeOption, JsonOption
from webstrata.cli.output import counted, date_time, iso_or_none, print_json, print_table, progress_bar
from webstrata.cli.session import open_node, run_async
from webstrata.clock import parse_instant, span
from webstrata.errors import UsageError

if TYPE_CHECKING:
    from webstrata.records import Sighting
    from webstrata.sharp.proof.coherence import Coherence

_MAX_ROWS = 40


def command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE…", show_default=False, help="WARC, ARC or WACZ files of any crawler."),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option("--store", metavar="SITE", help="Use the home's own visits of this host or address instead."),
    ] = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="T", help="The instant; default: the one that most pages share.")
    ] = None,
    layer: Annotated[
        Literal["content", "raw"],
        typer.Option("--layer", help="With --store: compare the content or all bytes."),
    ] = "content",
    media_type: Annotated[
        str | None, typer.Option("--type", metavar="MEDIA", help="Only captures of this media type, like text/html.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="List all pages, not only the first 40.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which pages provably coexisted at one instant: seen with the same content before and after it."""
    from webstrata.sharp.proof.coherence import coherence

    if bool(files) == (store is not None):
        raise UsageError("name archive files, or a site in the home with --store.")
    found = _store_sightings(home, store, layer) if store is not None else _file_sightings(files or [], media_type)
    result = coherence(found, at=parse_instant(at) if at is not None else None)
    if as_json:
        print_json(_document(result))
    else:
        _show(result, None if every else _MAX_ROWS, from_store=store is not None)


def _store_sightings(home: Path | None, site: str, layer: str) -> Iterable[Sighting]:
    from webstrata.flows.versions import logged_sightings

    node = open_node(home)

    async def read() -> list[Sighting]:
        async with node.store() as store:
            return await logged_sightings(store, site, layer=layer)

    return run_async(read)


def _file_sightings(files: list[Path], media_type: str | None) -> list[Sighting]:
    from webstrata.node import sightings

    missing = [str(file) for file in files if not file.is_file()]
    if missing:
        raise UsageError(f"there is no file {', '.join(missing)}.")
    with progress_bar("reading", sum(file.stat().st_size for file in files)) as on_progress:
        return [one for file in files for one in sightings(file, media_type=media_type, on_progress=on_progress)]


def _document(result: Coherence) -> dict[str, Any]:
    return {
        "instant": _period(result.instant),
        "pages": len(result.pages),
        "proved": result.proved,
        "first": iso_or_none(result.first),
        "last": iso_or_none(result.last),
        "spread_s": _spread_s(result),
        "standings": [
            {
                "url": page.url,
                "standing": page.standing,
                "from": iso_or_none(page.start),
                "to": iso_or_none(page.end),
                "sightings": page.sightings,
            }
            for page in result.pages
        ],
        "revisit": [page.url for page in result.pages if page.standing == "open"],
        "other_instants": [
            {"from": iso_or_none(other.start), "to": iso_or_none(other.end), "pages": len(other.pages)}
            for other in result.others
        ],
    }


def _show(result: Coherence, limit: int | None, *, from_store: bool) -> None:
    if result.instant is None:
        typer.echo("There are no sightings of any page.")
        return
    standings = [page.standing for page in result.pages]
    typer.echo(f"instant    {date_time(result.instant[0])} to {date_time(result.instant[1])}")
    typer.echo(
        f"pages      {result.proved} of {len(result.pages)} provably coexisted; {standings.count('changed')} changed, "
        f"{standings.count('open')} not seen since, {standings.count('later')} not seen before"
    )
    typer.echo(f"spread     {span(_spread_s(result))} from the first to the last sighting")
    for other in result.others:
        typer.echo(
            f"also       {counted(len(other.pages), 'page')} at {date_time(other.start)} to {date_time(other.end)}"
        )
    rows = [(page.standing, date_time(page.start), date_time(page.end), page.url) for page in result.pages]
    print_table(("standing", "since", "until", "page"), rows[:limit])
    if limit is not None and len(rows) > limit:
        typer.echo(f"and {len(rows) - limit} more (--all)")
    if from_store and "open" in standings:
        typer.echo(
            f"A visit now could prove {counted(standings.count('open'), 'page')} more: "
            "run `webstrata crawl URL…` for the pages with the standing open."
        )


def _period(instant: tuple[float, float] | None) -> dict[str, str | None] | None:
    return None if instant is None else {"from": iso_or_none(instant[0]), "to": iso_or_none(instant[1])}


def _spread_s(result: Coherence) -> float:
    return 0.0 if result.first is None or result.last is None else result.last - result.first
