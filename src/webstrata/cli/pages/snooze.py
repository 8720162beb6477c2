"""`webstrata snooze`: no visits of pages for a time."""

from __future__ import annotations

from typing import Annotated

import typer

from webstrata.cli.options import HomeOption, JsonOption, TagOption
from webstrata.cli.output import counted, date_time, iso_or_none, print_json, print_table, time_until
from webstrata.cli.pages.visit_times import selected_pages, snooze_pages, timed_pages
from webstrata.cli.session import open_node, run_async
from webstrata.clock import DAY_S, parse_instant, parse_span
from webstrata.errors import UsageError

_LONGEST_S = 36_525 * DAY_S


def command(
    addresses: Annotated[
        list[str] | None, typer.Argument(metavar="URL", help="URLs of the pages.", show_default=False)
    ] = None,
    tag: TagOption = None,
    duration: Annotated[
        str | None, typer.Option("--for", metavar="SPAN", help="Duration of the snooze, like 2w.", show_default=False)
    ] = None,
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="TIME", help="End of the snooze, like 2027-01-07.", show_default=False),
    ] = None,
    end: Annotated[bool, typer.Option("--end", help="End the snooze now.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Do not visit pages until a time; then their visits continue. With --tag, the pages that have the tag now.

    Without pages or a tag, list the snoozed pages. `unwatch` ends visits for good.
    """
    node = open_node(home)
    now = node.clock.now()
    names_pages = bool(addresses) or tag is not None
    if not names_pages and (duration or until or end):
        raise UsageError("name URLs or a --tag.")
    until_at = _until(duration, until, end, now) if names_pages else None

    async def apply() -> int:
        async with node.store() as store:
            pages = await selected_pages(store, addresses or (), tag)
            await snooze_pages(store, pages, until_at)
            return len(pages)

    async def snoozed() -> list[tuple[str, float]]:
        async with node.store() as store:
            timed = await timed_pages(store)
        return [(url, times.snoozed_until) for url, times in timed if times.snoozed_until and times.snoozed_until > now]

    if not names_pages:
        _show(run_async(snoozed), now, as_json)
        return
    count = run_async(apply)
    if as_json:
        print_json({"pages": count, "until": iso_or_none(until_at)})
    elif until_at is None:
        typer.echo(f"The snooze of {counted(count, 'page')} has ended.")
    else:
        typer.echo(f"{counted(count, 'page')}: no visits until {date_time(until_at)} UTC.")


def _until(duration: str | None, until: str | None, end: bool, now: float) -> float | None:
    if (duration is not None) + (until is not None) + end != 1:
        raise UsageError("give one of --for SPAN, --until TIME and --end.")
    if end:
        return None
    at = now + parse_span(duration) if duration is not None else parse_instant(until or "")
    if not now < at <= now + _LONGEST_S:
        raise UsageError(f"the snooze must end after now and within 100 years, not at {until or duration!r}.")
    return at


def _show(pages: list[tuple[str, float]], now: float, as_json: bool) -> None:
    if as_json:
        print_json({"snoozed": [{"url": url, "until": iso_or_none(until)} for url, until in pages]})
    elif pages:
        print_table(
            ("until", "ends", "page"), ((date_time(until), time_until(until, now), url) for url, until in pages)
        )
    else:
        typer.echo("No page is snoozed. `webstrata snooze URL --for 3d` snoozes one.")
