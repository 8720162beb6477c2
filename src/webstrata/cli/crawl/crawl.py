"""`webstrata crawl`: one round over what is due."""

from __future__ import annotations

from typing import Annotated

import typer

from webstrata.cli.crawl.loop import keep_going
from webstrata.cli.session import HomeOption, JsonOption, PolicyOption, SetOption, open_node, run_async, with_policy
from webstrata.flows.versions import watched_page
from webstrata.node import Node
from webstrata.records import Batch


def command(
    addresses: Annotated[
        list[str] | None,
        typer.Argument(metavar="URL…", help="Watched pages to visit too, though they are not due.", show_default=False),
    ] = None,
    policy: PolicyOption = None,
    home: HomeOption = None,
    settings: SetOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Visit what is due, once, and exit: for cron."""
    node = open_node(home, with_policy(settings, policy))
    wanted = run_async(lambda: _make_due(node, addresses)) if addresses else []
    keep_going(node, lambda loop: loop.crawl(wanted), quiet=quiet, as_json=as_json)


async def _make_due(node: Node, addresses: list[str]) -> list[int]:
    """The ids of these pages, which are due from now on."""
    now = node.clock.now()
    async with node.store() as store:
        pages = [await watched_page(store, address) for address in addresses]
        await store.visit_log.commit(Batch(wake=tuple((page.url, now) for page in pages)))
    return [page.id for page in pages]
