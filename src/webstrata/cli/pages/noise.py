"""`webstrata noise URL`: the places of a page that were learned as noise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webstrata.cli.options import HomeOption, JsonOption, UrlArgument
from webstrata.cli.output import date_time, iso_or_none, print_json, print_table, printable
from webstrata.cli.session import open_node, run_async
from webstrata.errors import UsageError
from webstrata.flows.versions import watched_page

if TYPE_CHECKING:
    from webstrata.detect.noisy_place import NoisyPlace


def command(
    address: UrlArgument,
    count: Annotated[
        str | None,
        typer.Option(
            "--count",
            metavar="N",
            help="Let changes of place N (or of `all` places) count, even if the place was learned as noise.",
        ),
    ] = None,
    uncount: Annotated[
        str | None,
        typer.Option(
            "--uncount", metavar="N", help="Undo --count: place N (or `all` places) can be learned as noise again."
        ),
    ] = None,
    all_places: Annotated[
        bool, typer.Option("--all", help="Also show places that change often but are not yet learned as noise.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the places of a page that were learned as noise (clocks, counters, ads), whose changes do not count."""
    places = run_async(lambda: _places(home, address, count, uncount))
    shown = [place for place in places if all_places or place.state != "watched"]
    if as_json:
        print_json({"url": address, "noise": [_document(place) for place in shown]})
        return
    if not shown:
        typer.echo("No place of this page was learned as noise.", err=True)
        return
    print_table(
        ("n", "state", "kind", "since", "changed", "same", "example"),
        (
            (
                place.number or "-",
                place.state,
                place.kind,
                date_time(place.since),
                place.changed,
                place.same,
                printable(place.example),
            )
            for place in shown
        ),
    )


def _document(place: NoisyPlace) -> dict[str, object]:
    return {
        "n": place.number or None,
        "state": place.state,
        "kind": place.kind,
        "since": iso_or_none(place.since),
        "changed": place.changed,
        "same": place.same,
        "example": place.example,
    }


async def _places(home: Path | None, address: str, count: str | None, uncount: str | None) -> tuple[NoisyPlace, ...]:
    """Apply --count and --uncount; returns all noisy places of the page."""
    from webstrata.detect.memory import unpack
    from webstrata.detect.noise import with_counted_places

    async with open_node(home).store() as store:
        page = await watched_page(store, address)
        places = unpack(page.memory, page.counted).noise
        counted = set(page.counted)
        if count is not None:
            counted |= _keys(places, count)
        if uncount is not None:
            counted -= _keys(places, uncount)
        if counted != set(page.counted):
            await store.pages.set_counted(page.id, sorted(counted))
        return with_counted_places(places, counted)


def _keys(places: tuple[NoisyPlace, ...], number: str) -> set[int]:
    """The keys of the places with a number; a place has one from its first learning on, and keeps it."""
    chosen = {place.key for place in places if place.number and number in ("all", str(place.number))}
    if not chosen and number != "all":
        raise UsageError(f"there is no place {number}. `webstrata noise URL` lists the places.")
    return chosen
