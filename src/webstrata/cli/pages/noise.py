"""`webstrata noise URL`: what was learned to be noise on a page, and how to undo it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from webstrata.cli.output import moment, print_json, print_table, printable, when
from webstrata.cli.session import HomeOption, JsonOption, open_node, run_async
from webstrata.detect.memory import unpack
from webstrata.detect.noise import NoisyPlace, with_counted_places
from webstrata.errors import UsageError
from webstrata.flows.versions import watched_page


def command(
    address: Annotated[str, typer.Argument(metavar="URL", show_default=False)],
    count_again: Annotated[int | None, typer.Option("--count", metavar="N", help="Place N counts from now on.")] = None,
    watch_again: Annotated[
        int | None, typer.Option("--uncount", metavar="N", help="Take --count back: place N may be learned again.")
    ] = None,
    all_places: Annotated[bool, typer.Option("--all", help="Show places that are only watched as yet, too.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the places of a page that keep changing and no longer count (clocks, counters, ads), and undo what is wrong."""
    places = run_async(lambda: _places(home, address, count_again, watch_again))
    shown = [(number, place) for number, place in enumerate(places, 1) if all_places or place.state != "watched"]
    if as_json:
        print_json({"url": address, "noise": [_document(number, place) for number, place in shown]})
        return
    if not shown:
        typer.echo("Nothing on this page was learned to be noise.", err=True)
        return
    print_table(
        ("n", "state", "kind", "since", "changed", "same", "says"),
        (
            (number, place.state, place.kind, moment(place.since), place.changed, place.same, printable(place.example))
            for number, place in shown
        ),
    )


def _document(number: int, place: NoisyPlace) -> dict[str, object]:
    return {
        "n": number,
        "state": place.state,
        "kind": place.kind,
        "since": when(place.since),
        "changed": place.changed,
        "same": place.same,
        "example": place.example,
    }


async def _places(home: Path | None, address: str, count: int | None, uncount: int | None) -> tuple[NoisyPlace, ...]:
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
        raise UsageError(f"there is no place {number}; `webstrata noise --all URL` numbers them.")
    return places[number - 1].key
