"""`webstrata interval`: the shortest and longest interval of a page or of a tag's pages."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from webstrata.cli.output import print_json, print_table, printable
from webstrata.cli.session import HomeOption, JsonOption, open_node, run_async
from webstrata.clock import parse_span, span
from webstrata.errors import UsageError
from webstrata.flows.versions import watched_page
from webstrata.records import IntervalLimit


def command(
    address: Annotated[str | None, typer.Argument(metavar="[URL]", show_default=False)] = None,
    tag: Annotated[str | None, typer.Option(help="All pages with this tag.", show_default=False)] = None,
    least: Annotated[
        str | None, typer.Option("--min", metavar="SPAN", help="Not more often than this.", show_default=False)
    ] = None,
    most: Annotated[
        str | None, typer.Option("--max", metavar="SPAN", help="Not less often than this.", show_default=False)
    ] = None,
    none: Annotated[bool, typer.Option("--none", help="As the settings say again.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set how often a page, or the pages of a tag, are visited at most and at least; without either, list all limits."""
    limit = None
    if (address is None) != (tag is None):
        limit = _limit(least, most, none)
    elif address is not None or least or most or none:
        raise UsageError("name either a URL or a --tag.")
    node = open_node(home)

    async def work() -> list[IntervalLimit]:
        async with node.store() as store:
            if limit is not None and address is not None:
                page = await watched_page(store, address)
                await store.budgets.set_interval_limit(
                    IntervalLimit(kind="page", name=page.url, min_s=limit[0], max_s=limit[1])
                )
            elif limit is not None and tag is not None:
                await store.budgets.set_interval_limit(
                    IntervalLimit(kind="tag", name=tag, min_s=limit[0], max_s=limit[1])
                )
            return await store.budgets.interval_limits()

    _show(run_async(work), as_json)


def _limit(least: str | None, most: str | None, none: bool) -> tuple[float | None, float | None]:
    if none and (least or most):
        raise UsageError("--none takes limits away: leave --min and --max out.")
    if not none and not least and not most:
        raise UsageError("give --min, --max or both, or --none.")
    min_s = parse_span(least) if least else None
    max_s = parse_span(most) if most else None
    if (min_s is not None and min_s <= 0) or (max_s is not None and max_s <= 0):
        raise UsageError("an interval must be longer than nothing.")
    if min_s is not None and max_s is not None and min_s > max_s:
        raise UsageError("--min is longer than --max. Exchange them.")
    return min_s, max_s


def _show(limits: list[IntervalLimit], as_json: bool) -> None:
    if as_json:
        told: list[dict[str, Any]] = [
            {"kind": one.kind, "name": one.name, "min_s": one.min_s, "max_s": one.max_s} for one in limits
        ]
        print_json({"limits": told})
        return
    if not limits:
        typer.echo("No page and no tag has limits of its own: schedule.min_interval and max_interval hold.")
        return
    rows = [
        (
            one.kind,
            "-" if one.min_s is None else span(one.min_s),
            "-" if one.max_s is None else span(one.max_s),
            printable(one.name),
        )
        for one in limits
    ]
    print_table(("of", "at least", "at most", "name"), rows)
