"""`webstrata noise URL`: the places of a page that were learned as noise."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from webstrata.cli.options import HomeOption, JsonOption, UrlArgument
from webstrata.cli.output import date_time, iso_or_none, print_json, print_table, printable
from webstrata.cli.session import open_node, run_async
from webstrata.detect.memory import unpack
from webstrata.detect.noise import NoisyPlace, with_counted_places
from webstrata.errors import UsageError
from webstrata.flows.versions import watched_page


def command(
    address: UrlArgument,
    count: Annotated[
        int | None,
        typer.Option("--count", metavar="N", help="Count changes of place N, even if it was learned as noise."),
    ] = None,
    uncount: Annotated[
        int | None, typer.Option("--uncount", metavar="N", help="Undo --count: place N can be learned as noise again.")
    ] = None,
    all_places: Annotated[
        bool, typer.Option("--all", help="Also show places that change often but are not yet learned as noise.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the places of a page that were learned as noise (clocks, counters, ads): their changes do not count."""
    places = run_async(lambda: _places(home, address, count, uncount))
    shown = [(number, place) for number, place in enumerate(places, 1) if all_places or place.state != "watched"]
    if as_json:
        print_json({"url": address, "noise": [_document(number, place) for number, place in shown]})
        return
    if not shown:
        typer.echo("No place of this page was learned as noise.", err=True)
        return
    print_table(
        ("n", "state", "kind", "since", "changed", "same", "example"),
        (
            (
                number,
                place.state,
                place.kind,
                date_time(place.since),
                place.changed,
                place.same,
                printable(place.example),
            )
            for number, place in shown
        ),
    )


def _document(number: int, place: NoisyPlace) -> dict[str, object]:
    return {
        "n": number,
        "state": place.state,
        "kind": place.kind,
        "since": iso_or_none(place.since),
        "changed": place.changed,
        "same": place.same,
        "example": place.example,
    }


async def _places(home: Path | None, address: str, count: int | None, uncount: int | None) -> tuple[NoisyPlace, ...]:
    """Apply --count and --uncount; returns all noisy places of the page."""
    async with open_node(home).store() as store:
        page = await watched_page(store, address)
        places = unpack(page.memory, page.counted).noise
        counted = set(page.counted)
        if count is not None:
            counted.add(_key(places, count))
        if uncount is not None:
            counted.discard(_key(places, uncount))
        if counted != set(page.counted):
            await store.pages.set_counted(page.id, sorted(counted))
        return with_counted_places(places, counted)


def _key(places: tuple[NoisyPlace, ...], number: int) -> int:
    if not 1 <= number <= len(places):
        raise UsageError(f"there is no place {number}. `webstrata noise --all URL` lists the places.")
    return places[number - 1].key
