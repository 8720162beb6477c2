"""`webstrata crawl`: visit the pages that are due, once."""

from __future__ import annotations

from typing import Annotated

import typer

from webstrata.cli.crawl.loop import run_loop
from webstrata.cli.options import HomeOption, JsonOption, PolicyOption, SetOption
from webstrata.cli.session import open_node, run_async, with_policy
from webstrata.flows.versions import watched_page
from webstrata.node import Node
from webstrata.records import Batch


def command(
    addresses: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="URL…", help="Watched pages to visit as well, even if they are not due.", show_default=False
        ),
    ] = None,
    policy: PolicyOption = None,
    home: HomeOption = None,
    settings: SetOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Visit the pages that are due, once, and exit. Suitable for cron."""
    node = open_node(home, with_policy(settings, policy))
    requested = run_async(lambda: _make_due(node, addresses)) if addresses else []
    run_loop(node, lambda loop: loop.crawl(requested), quiet=quiet, as_json=as_json)


async def _make_due(node: Node, addresses: list[str]) -> list[int]:
    """Make these pages due; returns their ids."""
    now = node.clock.now()
    async with node.store() as store:
        pages = [await watched_page(store, address) for address in addresses]
        await store.visit_log.commit(Batch(wake=tuple((page.url, now) for page in pages)))
    return [page.id for page in pages]
