"""`webstrata plan`: how long the upcoming visits take, how many threads they need, and how many more pages fit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from webstrata.cli.crawl.budget_buys import budget_buys, budget_whatifs
from webstrata.cli.crawl.limit_demand import limit_demand_json, limit_demand_lines, limit_demand_of
from webstrata.cli.options import HomeOption, JsonOption, SetOption
from webstrata.cli.output import counted, date_time, iso_or_none, print_json, print_table, printable
from webstrata.cli.session import open_node, run_async
from webstrata.clock import parse_instant, parse_span, span
from webstrata.errors import UsageError

if TYPE_CHECKING:
    from webstrata.flows.budget_whatif import BudgetWhatIf
    from webstrata.flows.planning import PlanInput
    from webstrata.node import Node
    from webstrata.plan.capacity import Capacity
    from webstrata.plan.estimate import CrawlTimeEstimate
    from webstrata.plan.firstfit import Packing
    from webstrata.ports import Store

_MAX_DRAWN_VISITS = 100_000
_LISTED_HOSTS = 3
"""Number of hosts that a line of output names."""


def command(
    addresses: Annotated[
        str | None,
        typer.Option("--urls", metavar="FILE", help="Plan these URLs (one a line, - for stdin), watched or not."),
    ] = None,
    within: Annotated[
        str | None,
        typer.Option(metavar="SPAN", help="Without --urls: plan what is due within this time (default: one hour)."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, max=100_000, help="Requests at a time (default: fetch.connections).")
    ] = None,
    capacity: Annotated[
        bool, typer.Option("--capacity", help="How many more pages like these there is room for.")
    ] = False,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the planned round (.svg, .png or .pdf).")
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Do not look up which hosts share an address.")] = False,
    home: HomeOption = None,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Estimate how long a round takes, which hosts end last and how many threads it needs; or how many more pages fit."""
    from webstrata.plan.slots import SLOT_S

    node = open_node(home, settings)
    used = threads or node.settings.fetch.connections
    if capacity:
        if addresses is not None or picture is not None:
            raise UsageError("--capacity is about the whole schedule: omit --urls and --picture.")
        _show_capacity(run_async(lambda: _capacity(node, used, offline)), used, as_json)
        return
    ahead_s = parse_span(within) if within is not None else SLOT_S
    listed = _read(addresses) if addresses is not None else None
    plan_input = run_async(lambda: _plan_input(node, listed, ahead_s, offline))
    budget_whatif, demand = run_async(lambda: _budget_whatif(node)) if listed is None else ([], None)
    _plan(node, plan_input, used, picture, budget_whatif, demand, as_json)


async def _budget_whatif(node: Node) -> tuple[list[BudgetWhatIf], dict[str, Any] | None]:
    """What the budget buys, and what the limits of pages ask for."""
    async with node.store() as store:
        return await budget_whatifs(node, store), limit_demand_json(await limit_demand_of(node, store))


def _plan(
    node: Node,
    plan_input: PlanInput,
    threads: int,
    picture: Path | None,
    budget_whatif: list[BudgetWhatIf],
    demand: dict[str, Any] | None,
    as_json: bool,
) -> None:
    from webstrata.flows.planning import domains_of
    from webstrata.plan.estimate import estimate
    from webstrata.plan.firstfit import pack

    spacing = node.spacing_model()
    simulated = estimate(plan_input.loads, plan_input.downloads, spacing, threads, plan_input.pace)
    paper = pack(domains_of(plan_input.loads, plan_input.downloads, spacing.delay_s), threads)
    if picture is not None:
        _draw(plan_input, node, threads, picture)
    report = _report(node.clock.now(), plan_input, simulated, paper)
    if as_json:
        bought = budget_buys(budget_whatif)
        print_json({**report, "budget": budget_whatif, "budget_buys": bought, "limit_demand": demand})
    else:
        _show(report, simulated, paper)
        _show_budget_whatif(budget_whatif)
        for line in limit_demand_lines(demand):
            typer.echo(line)
        if picture is not None:
            typer.echo(f"The round is drawn in {picture}.")


def _read(source: str) -> list[str]:
    from webstrata import urls
    from webstrata.cli.pages.watch import read_lines

    listed: dict[str, None] = {}
    for number, line in enumerate(read_lines(source), 1):
        address = line.partition("\t")[0].strip()
        if address and not address.startswith("#"):
            try:
                listed[urls.canonical(address)] = None
            except UsageError as problem:
                typer.echo(f"line {number}: {printable(problem)}", err=True)
    return list(listed)


async def _plan_input(node: Node, listed: list[str] | None, ahead_s: float, offline: bool) -> PlanInput:
    from webstrata.flows.planning import by_host

    async with node.store() as store:
        if listed is None:
            pages = await store.queue.due_by_host(node.clock.now() + ahead_s)
        else:
            pages = by_host(listed)
        return await _hosts(node, store, pages, offline)


async def _hosts(node: Node, store: Store, pages: Sequence[tuple[str, str, int]], offline: bool) -> PlanInput:
    """The load of each host, and which hosts share an address unless `offline`."""
    from webstrata.flows.planning import plan_input

    web = None if offline else node.web()
    try:
        return await plan_input(pages, store=store, gate=await node.gate(store), web=web, now=node.clock.now())
    finally:
        if web is not None:
            await web.close()


async def _capacity(node: Node, threads: int, offline: bool) -> Capacity:
    from webstrata.plan.capacity import HostDemand, capacity
    from webstrata.plan.slots import SLOT_S

    async with node.store() as store:
        demand = await store.visit_log.demand()
        hosts = await _hosts(node, store, [(host, url, number) for host, url, number, _ in demand], offline)
    per_hour = {host: per_day / 24 for host, _, _, per_day in demand}
    demands = [HostDemand(load=load, visits_per_hour=per_hour[load.host]) for load in hosts.loads]
    return capacity(demands, hosts.downloads, node.spacing_model(), threads=threads, slot_s=SLOT_S)


def _draw(plan_input: PlanInput, node: Node, threads: int, picture: Path) -> None:
    from webstrata.plan.estimate import typical_round

    try:
        from webstrata.plots.crawl_time import draw_round
    except ImportError:
        raise UsageError("pictures need matplotlib: install webstrata with its `lab` extra.") from None
    requests = sum(load.docs for load in plan_input.loads)
    if requests > _MAX_DRAWN_VISITS:
        raise UsageError(f"{requests} visits are too many for a picture. Plan fewer with --within or --urls.")
    hosts, bars = typical_round(plan_input.loads, plan_input.downloads, node.spacing_model(), threads)
    title = f"A planned round: {counted(requests, 'visit')}, {counted(len(hosts), 'host')}, {threads} threads"
    draw_round([printable(host) for host in hosts], bars, picture, title=title)


def _report(now: float, plan_input: PlanInput, simulated: CrawlTimeEstimate, paper: Packing) -> dict[str, Any]:
    from webstrata.plan.slots import SLOT_S

    return {
        "visits": sum(load.docs for load in plan_input.loads),
        "hosts": len(plan_input.loads),
        "threads": simulated.threads,
        "estimate": simulated,
        "paper": paper,
        "starts": iso_or_none(now),
        "ends": iso_or_none(now + simulated.median_s),
        "ends_between": [iso_or_none(now + simulated.low_s), iso_or_none(now + simulated.high_s)],
        "slot_s": SLOT_S,
        "fits_slot": simulated.high_s <= SLOT_S,
        "unknown_hosts": [load.host for load in plan_input.loads if not plan_input.downloads.is_known(load.host)],
        "resting_hosts": plan_input.resting,
    }


def _show(report: dict[str, Any], simulated: CrawlTimeEstimate, paper: Packing) -> None:
    visits, hosts = counted(report["visits"], "visit"), counted(report["hosts"], "host")
    typer.echo(f"{visits} to {hosts}, {counted(simulated.requests, 'request')}, {simulated.threads} threads at most")
    if report["resting_hosts"]:
        typer.echo(f"{counted(len(report['resting_hosts']), 'host')} left out: they asked for a pause.")
    if not report["visits"]:
        typer.echo("Nothing to visit: `webstrata status` shows the next visit, --within SPAN plans a longer time.")
        return
    typer.echo(
        f"simulated  {span(simulated.median_s)} ({span(simulated.low_s)} to {span(simulated.high_s)} in eight rounds of ten), "
        f"needs {counted(simulated.threads_needed, 'thread')}"
    )
    if simulated.machine_s:
        rate = f"{report['visits'] / simulated.machine_s:.0f} visits a second in the last rounds"
        decides = ", which decides" if simulated.machine_is_slowest else ""
        typer.echo(f"           of it at least {span(simulated.machine_s)} for this machine ({rate}){decides}")
    times = (report["starts"], report["ends"], report["ends_between"][1])
    start, end, last = (date_time(parse_instant(time)) for time in times)
    typer.echo(f"           starts {start}, ends {end}, in nine of ten cases before {last}")
    fits = "fits" if report["fits_slot"] else "does not fit"
    typer.echo(f"           {fits} its slot of {span(report['slot_s'])}")
    typer.echo(
        f"paper's    {span(paper.crawl_s)} with {counted(paper.threads, 'thread')} in {counted(len(paper.bins), 'bin')}"
    )
    if paper.hurried:
        typer.echo(
            f"           too short for hosts whose downloads take less than the delay: {_some(paper.hurried)} (the paper's "
            "formula does not include the wait)"
        )
    if report["unknown_hosts"]:
        typer.echo(f"           {_some(report['unknown_hosts'])}: not in the log yet, assumed to be like the others")
    short = "; there are too few threads" if simulated.threads_are_short else ""
    typer.echo(f"\nLast to end{short}:")
    rows = [
        (host.host, host.requests, span(host.gap_s), span(host.ends_s), f"{host.last:.0%}")
        for host in simulated.bottlenecks
    ]
    print_table(("host", "requests", "gap", "ends after", "is the last"), rows)


def _show_budget_whatif(what_ifs: list[BudgetWhatIf]) -> None:
    if not what_ifs:
        return
    typer.echo("\nExpected result of the budget, if pages change as forecast:")
    rows = [
        (
            "now" if what_if.share == 1.0 else f"{what_if.share - 1.0:+.0%}",
            f"{what_if.budget_per_day:.1f}",
            f"{what_if.captured_per_day:.2f} of {what_if.changes_per_day:.2f}",
            f"{what_if.freshness:.1%}",
        )
        for what_if in what_ifs
    ]
    sampled = what_ifs[0].sampled_pages
    if sampled < what_ifs[0].pages:
        typer.echo(f"(from a random sample of {sampled} of {what_ifs[0].pages} pages)")
    print_table(("budget", "visits a day", "changes captured a day", "copies up to date"), rows)
    if (buys := budget_buys(what_ifs)) is not None:
        typer.echo(f"In words: {buys['text']}.")


def _some(hosts: tuple[str, ...] | list[str]) -> str:
    named = ", ".join(printable(host) for host in hosts[:_LISTED_HOSTS])
    return named if len(hosts) <= _LISTED_HOSTS else f"{named} and {len(hosts) - _LISTED_HOSTS} more"


def _show_capacity(capacity: Capacity, threads: int, as_json: bool) -> None:
    if as_json:
        print_json({"threads": threads, **msgspec.to_builtins(capacity)})
        return
    if not capacity.pages:
        typer.echo("No page has an interval yet: run `webstrata crawl`, which visits due pages and schedules them.")
        return
    typer.echo(
        f"{counted(capacity.pages, 'page')}, {capacity.visits_per_hour:.1f} visits an hour by their intervals, "
        f"{threads} threads"
    )
    if capacity.more_pages_same_hosts >= 0:
        typer.echo(f"room for {capacity.more_pages_same_hosts} more pages like these on the same hosts")
    else:
        typer.echo(f"{-capacity.more_pages_same_hosts} pages too many: visits will be late")
    typer.echo(
        f"room for {max(0, capacity.more_pages_new_hosts)} more pages on other hosts like these, by the number of threads"
    )
    typer.echo("\nFullest:")
    print_table(("used", "what"), [(f"{one.used:.2%}", one.what) for one in capacity.fullest])
