"""`webstrata status`: pages, visits, schedule, budget and disk usage."""

from __future__ import annotations

from typing import Any

import typer

from webstrata.cli.crawl.budget import budget_json, budget_lines, within_budget
from webstrata.cli.crawl.budget_buys import budget_buys, budget_whatifs
from webstrata.cli.history.signals import trust_json
from webstrata.cli.home.access import access_json, access_warning
from webstrata.cli.options import HomeOption, JsonOption
from webstrata.cli.output import counted, iso_or_none, print_json, printable, size, time_until
from webstrata.cli.pages.left_out import left_out_json, left_out_lines
from webstrata.cli.pages.visit_times import visit_times_lines, visit_times_summary
from webstrata.cli.session import open_node, run_async
from webstrata.clock import iso, span
from webstrata.records import SignalSource, StoreTotals, VisitTimes

AHEAD_S = 60.0
"""A visit that is recorded less than this in the future is not worth a word."""


def command(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Show the number of pages and visits, the due pages, the schedule, the budget and the disk usage."""
    node = open_node(home)
    now = node.clock.now()

    async def count() -> tuple[
        StoreTotals,
        list[SignalSource],
        dict[str, Any] | None,
        list[VisitTimes],
        dict[str, Any] | None,
        list[dict[str, Any]],
        int,
    ]:
        async with node.store() as store:
            totals = await store.maintenance.totals(now)
            budget = await budget_json(node, store, totals.pages, now)
            buys = budget_buys(await budget_whatifs(node, store))
            left_out = left_out_json(await store.pages.left_out(), await store.pages.sites())
            sources, times = await store.signals.sources(), await store.pages.visit_times()
            return totals, sources, budget, times, buys, left_out, await store.maintenance.size_bytes()

    totals, sources, budget, times, buys, left_out, store_bytes = run_async(count)
    ahead_s = max((totals.last_visit_at or now) - now, 0.0)
    expected_per_day = within_budget(totals.expected_per_day, budget)
    visit_times = visit_times_summary(times, now)
    trusted = sum(trust_json(source)["trusted"] for source in sources)
    disk, database = node.home.disk_bytes(), node.database()
    if database.kind != "home":
        disk["database"] = store_bytes
    fault = node.home.fault()
    if as_json:
        print_json(
            {
                "home": str(node.home.path),
                "pages": totals.pages,
                "paused": totals.paused,
                "requisites": totals.requisites,
                "sites": totals.sites,
                "hosts": totals.hosts,
                "due": totals.due,
                "in_flight": totals.in_flight,
                "visits": totals.visits,
                "changes": totals.changes,
                "errors": totals.errors,
                "bytes": totals.bytes,
                "cut": totals.cut,
                "next_visit": iso_or_none(totals.next_at),
                "policy": node.settings.schedule.policy,
                "budget": budget,
                "budget_buys": buys,
                "expected_visits_per_day": expected_per_day,
                "disk": disk,
                "database": database.as_json(),
                "sources": {"lists": len(sources), "trusted": trusted},
                "visit_times": visit_times,
                "fault": None if fault is None else {"what": fault[0], "at": iso_or_none(fault[1])},
                "left_out": left_out,
                "open_to_others": access_json(node.home),
                "clock_was_ahead_s": ahead_s if ahead_s > AHEAD_S else None,
            }
        )
        return
    typer.echo(f"home       {node.home.path}")
    if database.kind != "home":
        typer.echo(f"database   {printable(str(database))}")
    typer.echo(
        f"pages      {totals.pages} watched on {counted(totals.hosts, 'host')}, {totals.paused} paused, "
        f"{counted(totals.requisites, 'requisite')}, {counted(totals.sites, 'site')}"
    )
    next_at = time_until(totals.next_at, now)
    following = f"first {next_at}" if totals.due and next_at != "now" else f"next {next_at}"
    typer.echo(f"due        {totals.due} now, {totals.in_flight} in flight, {following}")
    typer.echo(
        f"visits     {totals.visits}: {counted(totals.changes, 'change')}, {counted(totals.errors, 'error')}, {size(totals.bytes)}"
    )
    if totals.cut:
        what = "page has" if totals.cut == 1 else "pages have"
        typer.echo(f"cut        {totals.cut} {what} an incomplete last body (`webstrata log URL` says why)")
    unset = "no budget, " if budget is None else ""
    typer.echo(f"schedule   {node.settings.schedule.policy}; {unset}{expected_per_day:.1f} visits per day expected")
    for number, line in enumerate(budget_lines(budget) if budget is not None else []):
        typer.echo(f"{'' if number else 'budget':<10} {line}")
    if buys is not None:
        typer.echo(f"expected   {buys['text']}")
    for number, line in enumerate(visit_times_lines(visit_times, budget)):
        typer.echo(f"{'' if number else 'times':<10} {line}")
    if sources:
        typer.echo(f"signals    {counted(len(sources), 'source')} (feeds and sitemaps), {trusted} of them trusted")
    for number, line in enumerate(left_out_lines(left_out)):
        typer.echo(f"{'' if number else 'left out':<10} {line}")
    if ahead_s > AHEAD_S:
        typer.echo(
            f"clock      the last visit is recorded {span(ahead_s)} in the future: the clock of this machine was ahead "
            "then, or is behind now. `webstrata run` corrects the schedule; the log keeps its times"
        )
    typer.echo(
        f"disk       {size(sum(disk.values()))}: archive {size(disk['archive'])}, "
        f"index {size(disk['index'])}, database {size(disk['database'])}"
    )
    if (warning := access_warning(node.home)) is not None:
        typer.echo(f"access     {warning}")
    if fault is not None:
        what, at = fault
        typer.echo(f"FAULT      of this machine, {iso(float(int(at)))}: {printable(what)}")
    if not totals.pages:
        typer.echo("No page is watched yet. `webstrata watch URL` adds a page.")
