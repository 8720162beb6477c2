"""`webstrata boost TAG`: pages with a tag are worth more for a time."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from webstrata.cli.output import counted, moment, print_json, printable, when
from webstrata.cli.session import HomeOption, JsonOption, open_node, run_async
from webstrata.clock import parse_span
from webstrata.errors import UsageError
from webstrata.records import Boost

_LARGEST = 1000.0


def command(
    tag: Annotated[str, typer.Argument(metavar="TAG", show_default=False)],
    factor: Annotated[float, typer.Option(help="How many times its worth a visit has.")] = 3.0,
    lasting: Annotated[str, typer.Option("--for", metavar="SPAN", help="How long.")] = "1d",
    end: Annotated[bool, typer.Option("--end", help="End the tag's boost now.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Visit the pages of a tag more often for a time, after an event say; a running loop follows in its next round."""
    if not 0 < factor <= _LARGEST:
        raise UsageError(f"a factor is a number above 0, at most {_LARGEST:g}, not {factor:g}.")
    node = open_node(home)
    now = node.clock.now()
    boost = Boost(tag=tag, factor=factor, since=now, until=now + parse_span(lasting))

    async def work() -> dict[str, Any]:
        async with node.store() as store:
            pages = (await store.maintenance.tag_counts()).get(tag, 0)
            if end:
                return {"tag": tag, "pages": pages, "ended": await store.budgets.end_boost(tag)}
            await store.budgets.set_boost(boost)
            return {"tag": tag, "pages": pages, "factor": factor, "until": when(boost.until)}

    told = run_async(work)
    if as_json:
        print_json(told)
        return
    name = printable(tag)
    if end:
        typer.echo(f"{name}: boost ended." if told["ended"] else f"{name} had no boost.")
        return
    typer.echo(
        f"{counted(told['pages'], 'page')} with {name}: {factor:g} times their worth until {moment(boost.until)}."
    )
    if not told["pages"]:
        typer.echo("No page has this tag yet: `webstrata watch URL --tag` gives it.")
