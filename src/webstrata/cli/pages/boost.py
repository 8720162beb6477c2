"""`webstrata boost TAG`: raise the value of visits to pages with a tag, for a limited time."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from webstrata.cli.options import HomeOption, JsonOption
from webstrata.cli.output import counted, date_time, iso_or_none, print_json, printable
from webstrata.cli.pages.known_tags import require_tags
from webstrata.cli.session import open_node, run_async
from webstrata.clock import parse_span
from webstrata.errors import UsageError
from webstrata.records import Boost

_MAX_FACTOR = 1000.0


def command(
    tag: Annotated[str, typer.Argument(metavar="TAG", help="Tag of the pages.", show_default=False)],
    factor: Annotated[
        float,
        typer.Option(
            help="How many times its usual value a visit to these pages is worth; visits of more value come sooner."
        ),
    ] = 3.0,
    duration: Annotated[
        str, typer.Option("--for", metavar="SPAN", help="Duration of the boost, like 12h or 2d.")
    ] = "1d",
    end: Annotated[bool, typer.Option("--end", help="End the boost of this tag now.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Visit the pages with a tag more often for a limited time, for example after an event.

    A running crawler applies the boost in its next round.
    """
    if not 0 < factor <= _MAX_FACTOR:
        raise UsageError(f"--factor must be greater than 0 and at most {_MAX_FACTOR:g}, not {factor:g}.")
    node = open_node(home)
    now = node.clock.now()
    boost = Boost(tag=tag, factor=factor, since=now, until=now + parse_span(duration))

    async def apply() -> dict[str, Any]:
        async with node.store() as store:
            await require_tags(store, [tag], stored=[one.tag for one in await store.budgets.boosts()] if end else ())
            pages = (await store.maintenance.tag_counts()).get(tag, 0)
            if end:
                return {"tag": tag, "pages": pages, "ended": await store.budgets.end_boost(tag)}
            await store.budgets.set_boost(boost)
            return {"tag": tag, "pages": pages, "factor": factor, "until": iso_or_none(boost.until)}

    document = run_async(apply)
    if as_json:
        print_json(document)
        return
    name = printable(tag)
    if end:
        typer.echo(f"The boost of {name} has ended." if document["ended"] else f"There is no boost of {name}.")
        return
    typer.echo(
        f"{counted(document['pages'], 'page')} with the tag {name}: value of visits times {factor:g} "
        f"until {date_time(boost.until)}."
    )
