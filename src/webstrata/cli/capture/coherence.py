"""`webstrata coherence`: which pages of a collection provably coexisted, and when."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from webstrata.cli.output import bar, counted, moment, print_json, print_table, when
from webstrata.cli.session import HomeOption, JsonOption, open_node, run_async
from webstrata.clock import parse_instant, span
from webstrata.errors import UsageError

if TYPE_CHECKING:
    from webstrata.records import Sighting
    from webstrata.sharp.proof.coherence import Coherence

_SHOWN = 40


def command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE…", show_default=False, help="WARC, ARC or WACZ files, made by any crawler."),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option("--store", metavar="SITE", help="Judge the home's own visits of this host or address instead."),
    ] = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="T", help="The instant; else the best one is found.")
    ] = None,
    layer: Annotated[
        Literal["content", "raw"],
        typer.Option("--layer", help="With --store: what counts as the same, content or every byte."),
    ] = "content",
    media_type: Annotated[
        str | None, typer.Option("--type", metavar="MEDIA", help="Only captures of this media type, like text/html.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="List every page, not the first forty.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Which pages provably coexisted at one instant: seen with the same content before and after it."""
    from webstrata.sharp.proof.coherence import coherence

    if bool(files) == (store is not None):
        raise UsageError("name archive files, or a site of the home with --store.")
    seen = _in_store(home, store, layer) if store is not None else _in_files(files or [], media_type)
    result = coherence(seen, at=parse_instant(at) if at is not None else None)
    if as_json:
        print_json(_document(result))
    else:
        _show(result, None if every else _SHOWN, from_store=store is not None)


def _in_store(home: Path | None, site: str, layer: str) -> Iterable[Sighting]:
    from webstrata.flows.versions import logged_sightings

    node = open_node(home)

    async def read() -> list[Sighting]:
        async with node.store() as store:
            return await logged_sightings(store, site, layer=layer)

    return run_async(read)


def _in_files(files: list[Path], media_type: str | None) -> list[Sighting]:
    from webstrata.node import sightings

    missing = [str(file) for file in files if not file.is_file()]
    if missing:
        raise UsageError(f"there is no file {', '.join(missing)}.")
    with bar("reading", sum(file.stat().st_size for file in files)) as on_progress:
        return [one for file in files for one in sightings(file, media_type=media_type, on_progress=on_progress)]


def _document(result: Coherence) -> dict[str, Any]:
    return {
        "instant": _stretch(result.instant),
        "pages": len(result.pages),
        "proved": result.proved,
        "first": when(result.first),
        "last": when(result.last),
        "spread_s": _spread_s(result),
        "standings": [
            {
                "url": page.url,
                "standing": page.standing,
                "from": when(page.start),
                "to": when(page.end),
                "sightings": page.sightings,
            }
            for page in result.pages
        ],
        "revisit": [page.url for page in result.pages if page.standing == "open"],
        "other_instants": [
            {"from": when(one.start), "to": when(one.end), "pages": len(one.pages)} for one in result.others
        ],
    }


def _show(result: Coherence, limit: int | None, *, from_store: bool) -> None:
    if result.instant is None:
        typer.echo("Nothing was seen of any page.")
        return
    standings = [page.standing for page in result.pages]
    typer.echo(f"instant    {moment(result.instant[0])} to {moment(result.instant[1])}")
    typer.echo(
        f"pages      {result.proved} of {len(result.pages)} provably coexisted; {standings.count('changed')} changed, "
        f"{standings.count('open')} not seen since, {standings.count('later')} not seen before"
    )
    typer.echo(f"spread     {span(_spread_s(result))} from the first to the last sighting")
    for one in result.others:
        typer.echo(f"also       {counted(len(one.pages), 'page')} at {moment(one.start)} to {moment(one.end)}")
    rows = [(page.standing, moment(page.start), moment(page.end), page.url) for page in result.pages]
    print_table(("standing", "since", "until", "page"), rows[:limit])
    if limit is not None and len(rows) > limit:
        typer.echo(f"and {len(rows) - limit} more (--all)")
    if from_store and "open" in standings:
        typer.echo(
            f"A visit now could prove {counted(standings.count('open'), 'page')} more: "
            "`webstrata crawl URL…` with the pages that are open."
        )


def _stretch(instant: tuple[float, float] | None) -> dict[str, str | None] | None:
    return None if instant is None else {"from": when(instant[0]), "to": when(instant[1])}


def _spread_s(result: Coherence) -> float:
    return 0.0 if result.first is None or result.last is None else result.last - result.first
