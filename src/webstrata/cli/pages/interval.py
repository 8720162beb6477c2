"""`webstrata interval`: limits of the interval between visits, a fixed rhythm and visit windows, for a page or a tag."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from webstrata.cli.crawl.limit_demand import limit_demand_json, limit_demand_lines, limit_demand_of
from webstrata.cli.options import HomeOption, JsonOption, OptionalUrlArgument, TagOption
from webstrata.cli.output import print_json, print_table, printable
from webstrata.cli.pages.known_tags import CREATE_ADVICE, CreateOption, require_tags
from webstrata.cli.pages.visit_times import (
    NONE,
    AtOption,
    EveryOption,
    GivenTimes,
    given_times,
    selected_pages,
    set_times,
    timed_pages,
)
from webstrata.cli.session import open_node, run_async
from webstrata.clock import parse_span, span
from webstrata.errors import UsageError
from webstrata.flows.versions import watched_page
from webstrata.ports import Store
from webstrata.records import IntervalLimit, VisitTimes

if TYPE_CHECKING:
    from webstrata.flows.limit_demand import LimitDemand


def command(
    address: OptionalUrlArgument = None,
    tag: TagOption = None,
    minimum: Annotated[
        str | None,
        typer.Option("--min", metavar="SPAN", help="Shortest time between two visits, like 1h.", show_default=False),
    ] = None,
    maximum: Annotated[
        str | None,
        typer.Option("--max", metavar="SPAN", help="Longest time between two visits, like 7d.", show_default=False),
    ] = None,
    every: EveryOption = None,
    at: AtOption = None,
    none: Annotated[
        bool, typer.Option("--none", help="Remove limits, rhythm and windows, so that the settings apply.")
    ] = False,
    create: CreateOption = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set the minimum and maximum interval between visits, a fixed rhythm or visit windows, for a page or a tag.

    Limits of a tag also apply to pages that get the tag later; rhythm and windows are set for its present pages. A tag
    that no page or site has is an error (exit code 1) unless --create is given.
    Without a page or a tag, list all of them.
    """
    times = given_times(every, at)
    if none and not times.is_empty:
        raise UsageError("--none removes rhythm and windows: do not combine it with --every or --at.")
    if every is not None and (minimum or maximum):
        raise UsageError("--every is a fixed interval: do not combine it with --min or --max.")
    names_pages = (address is None) != (tag is None)
    if not names_pages and (address is not None or minimum or maximum or none or not times.is_empty):
        raise UsageError("name either a URL or a --tag.")
    limits = _limits(minimum, maximum, none) if names_pages and (times.is_empty or minimum or maximum) else None
    node = open_node(home)
    now = node.clock.now()

    async def apply() -> tuple[list[IntervalLimit], list[tuple[str, VisitTimes]], LimitDemand | None]:
        async with node.store() as store:
            if tag is not None and not create:
                set_already = [one.name for one in await store.budgets.interval_limits() if one.kind == "tag"]
                await require_tags(store, [tag], stored=set_already, advice=CREATE_ADVICE)
            if not times.is_empty or (none and await _has_pages(store, tag)):
                pages = await selected_pages(store, [address] if address is not None else [], tag)
                await set_times(store, pages, GivenTimes(every=NONE, windows=NONE) if none else times, now)
            if limits is not None:
                name = tag or "" if address is None else (await watched_page(store, address)).url
                await store.budgets.set_interval_limit(
                    IntervalLimit(
                        kind="tag" if address is None else "page", name=name, min_s=limits[0], max_s=limits[1]
                    )
                )
            demand = await limit_demand_of(node, store)
            return await store.budgets.interval_limits(), await timed_pages(store), demand

    _print(*run_async(apply), as_json)


async def _has_pages(store: Store, tag: str | None) -> bool:
    """Whether there are pages whose visit times can be removed: the limits of a tag may be there without any."""
    return tag is None or tag in await store.maintenance.tag_counts()


def _limits(minimum: str | None, maximum: str | None, none: bool) -> tuple[float | None, float | None]:
    """(minimum, maximum) in seconds."""
    if none and (minimum or maximum):
        raise UsageError("--none removes the limits: do not combine it with --min or --max.")
    if not none and not minimum and not maximum:
        raise UsageError("give --min, --max, --every, --at, or --none.")
    min_s = parse_span(minimum) if minimum else None
    max_s = parse_span(maximum) if maximum else None
    if (min_s is not None and min_s <= 0) or (max_s is not None and max_s <= 0):
        raise UsageError("an interval must be longer than 0 seconds.")
    if min_s is not None and max_s is not None and min_s > max_s:
        raise UsageError("--min is longer than --max. Exchange them.")
    return min_s, max_s


def _print(
    limits: list[IntervalLimit], timed: list[tuple[str, VisitTimes]], demand: LimitDemand | None, as_json: bool
) -> None:
    timed = [(url, times) for url, times in timed if times.every_s is not None or times.windows is not None]
    if as_json:
        rhythms = [{"url": url, "every_s": times.every_s, "windows": times.windows} for url, times in timed]
        print_json({"limits": limits, "visit_times": rhythms, "limit_demand": limit_demand_json(demand)})
        return
    if not limits and not timed:
        typer.echo("There are no limits: schedule.min_interval and schedule.max_interval apply to all pages.")
    if limits:
        rows = [(limit.kind, _span(limit.min_s), _span(limit.max_s), printable(limit.name)) for limit in limits]
        print_table(("kind", "min", "max", "name"), rows)
    if timed:
        print_table(
            ("every", "windows", "page"), ((_span(times.every_s), times.windows or "-", url) for url, times in timed)
        )
    for line in limit_demand_lines(limit_demand_json(demand)):
        typer.echo(line)


def _span(seconds: float | None) -> str:
    return "-" if seconds is None else span(seconds)
