"""`webstrata status`: counts, due, in flight, budget, disk."""

from __future__ import annotations

from typing import Any

import typer

from webstrata.cli.crawl.budget import budget_json, spoken_budget
from webstrata.cli.history.signals import trust_json
from webstrata.cli.output import ahead, counted, print_json, size, when
from webstrata.cli.session import HomeOption, JsonOption, open_node, run_async
from webstrata.records import SignalSource, StoreTotals


def command(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """How things stand: pages, visits, what is due, what the schedule costs, disk."""
    node = open_node(home)
    now = node.clock.now()

    async def count() -> tuple[StoreTotals, list[SignalSource], dict[str, Any] | None]:
        async with node.store() as store:
            census = await store.maintenance.totals(now)
            return census, await store.signals.sources(), await budget_json(node, store, census.pages, now)

    census, sources, budget = run_async(count)
    trusted = sum(trust_json(source)["trusted"] for source in sources)
    disk = node.home.disk_bytes()
    if as_json:
        print_json(
            {
                "home": str(node.home.path),
                "pages": census.pages,
                "paused": census.paused,
                "requisites": census.requisites,
                "sites": census.sites,
                "hosts": census.hosts,
                "due": census.due,
                "in_flight": census.in_flight,
                "visits": census.visits,
                "changes": census.changes,
                "errors": census.errors,
                "bytes": census.bytes,
                "next_visit": when(census.next_at),
                "policy": node.settings.schedule.policy,
                "budget": budget,
                "expected_visits_per_day": census.expected_per_day,
                "disk": disk,
                "sources": {"lists": len(sources), "trusted": trusted},
            }
        )
        return
    typer.echo(f"home       {node.home.path}")
    typer.echo(
        f"pages      {census.pages} watched on {counted(census.hosts, 'host')}, {census.paused} paused, "
        f"{counted(census.requisites, 'requisite')}, {counted(census.sites, 'site')}"
    )
    next_at = ahead(census.next_at, now)
    following = f"the first {next_at}" if census.due and next_at != "now" else f"next {next_at}"
    typer.echo(f"due        {census.due} now, {census.in_flight} in flight, {following}")
    typer.echo(
        f"visits     {census.visits}: {counted(census.changes, 'change')}, {counted(census.errors, 'error')}, {size(census.bytes)}"
    )
    unset = "no budget is set, " if budget is None else ""
    typer.echo(
        f"schedule   {node.settings.schedule.policy}; {unset}the intervals amount to "
        f"{census.expected_per_day:.1f} visits a day"
    )
    for number, line in enumerate(spoken_budget(budget) if budget is not None else []):
        typer.echo(f"{'' if number else 'budget':<10} {line}")
    if sources:
        typer.echo(f"signals    {counted(len(sources), 'list')} read, {trusted} of them trusted by what visits found")
    typer.echo(
        f"disk       {size(sum(disk.values()))}: archive {size(disk['archive'])}, "
        f"index {size(disk['index'])}, database {size(disk['database'])}"
    )
    if not census.pages:
        typer.echo("Nothing is watched yet: `webstrata watch URL` adds a page.")
