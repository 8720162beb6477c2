"""`webstrata interval`: the minimum and maximum interval between visits, for a page or a tag."""

from __future__ import annotations

from typing import Annotated

import typer

from webstrata.cli.options import HomeOption, JsonOption, OptionalUrlArgument, TagOption
from webstrata.cli.output import print_json, print_table, printable
from webstrata.cli.session import open_node, run_async
from webstrata.clock import parse_span, span
from webstrata.errors import UsageError
from webstrata.flows.versions import watched_page
from webstrata.records import IntervalLimit


def command(
    address: OptionalUrlArgument = None,
    tag: TagOption = None,
    minimum: Annotated[
        str | None, typer.Option("--min", metavar="SPAN", help="Minimum interval.", show_default=False)
    ] = None,
    maximum: Annotated[
        str | None, typer.Option("--max", metavar="SPAN", help="Maximum interval.", show_default=False)
    ] = None,
    none: Annotated[bool, typer.Option("--none", help="Remove the limits, so that the settings apply.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set the minimum and maximum interval between visits, for a page or for all pages with a tag.

    Without a page or a tag, list all limits.
    """
    limits = None
    if (address is None) != (tag is None):
        limits = _limits(minimum, maximum, none)
    elif address is not None or minimum or maximum or none:
        raise UsageError("name either a URL or a --tag.")
    node = open_node(home)

    async def apply() -> list[IntervalLimit]:
        async with node.store() as store:
            if limits is not None:
                name = tag or "" if address is None else (await watched_page(store, address)).url
                await store.budgets.set_interval_limit(
                    IntervalLimit(
                        kind="tag" if address is None else "page", name=name, min_s=limits[0], max_s=limits[1]
                    )
                )
            return await store.budgets.interval_limits()

    _print(run_async(apply), as_json)


def _limits(minimum: str | None, maximum: str | None, none: bool) -> tuple[float | None, float | None]:
    """(minimum, maximum) in seconds."""
    if none and (minimum or maximum):
        raise UsageError("--none removes the limits: do not combine it with --min or --max.")
    if not none and not minimum and not maximum:
        raise UsageError("give --min, --max or both, or --none.")
    min_s = parse_span(minimum) if minimum else None
    max_s = parse_span(maximum) if maximum else None
    if (min_s is not None and min_s <= 0) or (max_s is not None and max_s <= 0):
        raise UsageError("an interval must be longer than 0 seconds.")
    if min_s is not None and max_s is not None and min_s > max_s:
        raise UsageError("--min is longer than --max. Exchange them.")
    return min_s, max_s


def _print(limits: list[IntervalLimit], as_json: bool) -> None:
    if as_json:
        print_json({"limits": limits})
        return
    if not limits:
        typer.echo("There are no limits: schedule.min_interval and schedule.max_interval apply to all pages.")
        return
    rows = [
        (
            limit.kind,
            "-" if limit.min_s is None else span(limit.min_s),
            "-" if limit.max_s is None else span(limit.max_s),
            printable(limit.name),
        )
        for limit in limits
    ]
    print_table(("kind", "min", "max", "name"), rows)
