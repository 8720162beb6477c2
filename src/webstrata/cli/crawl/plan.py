"""`webstrata plan`: how long the upcoming visits take, how many threads they need, and how many more pages fit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from webstrata.cli.crawl.budget_buys import budget_buys, budget_whatifs
from webstrata.cli.crawl.limit_demand import limit_demand_json, limit_demand_lines, limit_demand_of
from webstrata.cli.crawl.plan_report import plan_report, show_budget_whatif, show_plan
from webstrata.cli.options import HomeOption, JsonOption, SetOption
from webstrata.cli.output import counted, print_json, print_table, printable
from webstrata.cli.session import open_node, run_async
from webstrata.clock import parse_span
from webstrata.errors import UsageError
from webstrata.plan.load import SLOT_S

if TYPE_CHECKING:
    from webstrata.flows.budget_whatif import BudgetWhatIf
    from webstrata.flows.planning import PlanInput
    from webstrata.node import Node
    from webstrata.plan.capacity import Capacity
    from webstrata.plan.estimate import CrawlTimeEstimate
    from webstrata.plan.firstfit import Packing
    from webstrata.ports import Store

    _BudgetReport = tuple[list[BudgetWhatIf], dict[str, Any] | None]
    """What the budget buys, and what the limits of pages ask for."""

_MAX_DRAWN_VISITS = 100_000


def command(
    addresses: Annotated[
        str | None,
        typer.Option(
            "--urls",
            metavar="FILE",
            help="Plan one visit to each URL of this file (one per line, - for stdin), watched or not.",
        ),
    ] = None,
    within: Annotated[
        str | None,
        typer.Option(
            metavar="SPAN", help="Without --urls: plan the visits that are due within this time, like 6h. Default: 1h."
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1, max=100_000, help="Maximum number of requests at a time. Default: the setting fetch.connections."
        ),
    ] = None,
    capacity: Annotated[
        bool,
        typer.Option(
            "--capacity", help="Instead, show how many more pages like the watched ones can be visited in time."
        ),
    ] = False,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the planned round (.svg, .png or .pdf).")
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Do not look up addresses (DNS), which show which hosts share a server.")
    ] = False,
    home: HomeOption = None,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Estimate how long a round takes, which hosts end last and how many threads it needs; or how many more pages fit."""
    node = open_node(home, settings)
    used = threads or node.settings.fetch.connections
    if capacity:
        if addresses is not None or picture is not None:
            raise UsageError("--capacity is about the whole schedule: omit --urls and --picture.")
        _show_capacity(run_async(lambda: _capacity(node, used, offline)), used, as_json)
        return
    ahead_s = parse_span(within) if within is not None else SLOT_S
    if addresses is not None:
        listed = _read(addresses)
        forecast = run_async(lambda: _forecast_listed(node, listed, used, offline))
        budget: _BudgetReport = ([], None)
    else:
        forecast, budget = run_async(lambda: _forecast_due(node, ahead_s, used, offline))
    if picture is not None:
        _draw(forecast.plan_input, node, used, picture)
    _print(node, forecast, picture, *budget, as_json)


class _Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """The input of a plan, and its two estimates."""

    plan_input: PlanInput
    simulated: CrawlTimeEstimate
    paper: Packing


async def _forecast_due(node: Node, ahead_s: float, threads: int, offline: bool) -> tuple[_Forecast, _BudgetReport]:
    """The forecast of the visits that are due, and what the budget buys.

    With a million pages each query takes tenths of a second, in which this thread imports modules and computes.
    """
    async with node.store() as store:
        due = asyncio.ensure_future(store.queue.due_by_host(node.clock.now() + ahead_s))
        await asyncio.sleep(0)  # starts the query
        for module in ("flows.budget_whatif", "flows.planning", "plan.estimate"):
            import_module(f"webstrata.{module}")
        forecast, budget = await asyncio.gather(
            _forecast(node, store, await due, threads, offline), _budget_whatif(node, store)
        )
        return forecast, budget


async def _forecast_listed(node: Node, listed: list[str], threads: int, offline: bool) -> _Forecast:
    from webstrata.flows.planning import by_host

    async with node.store() as store:
        return await _forecast(node, store, by_host(listed), threads, offline)


async def _forecast(
    node: Node, store: Store, pages: Sequence[tuple[str, str, int]], threads: int, offline: bool
) -> _Forecast:
    from webstrata.flows.planning import domains_of
    from webstrata.plan.estimate import estimate
    from webstrata.plan.firstfit import pack

    plan_input = await _hosts(node, store, pages, offline)
    spacing = node.spacing_model()
    return _Forecast(
        plan_input=plan_input,
        simulated=estimate(plan_input.loads, plan_input.downloads, spacing, threads, plan_input.pace),
        paper=pack(domains_of(plan_input.loads, plan_input.downloads, spacing.delay_s), threads),
    )


async def _budget_whatif(node: Node, store: Store) -> _BudgetReport:
    """What the budget buys, and what the limits of pages ask for."""
    return await budget_whatifs(node, store), limit_demand_json(await limit_demand_of(node, store))


def _print(
    node: Node,
    forecast: _Forecast,
    picture: Path | None,
    budget_whatif: list[BudgetWhatIf],
    demand: dict[str, Any] | None,
    as_json: bool,
) -> None:
    simulated, paper = forecast.simulated, forecast.paper
    report = plan_report(node.clock.now(), forecast.plan_input, simulated, paper)
    if as_json:
        bought = budget_buys(budget_whatif)
        print_json({**report, "budget": budget_whatif, "budget_buys": bought, "limit_demand": demand})
    else:
        show_plan(report, simulated, paper)
        show_budget_whatif(budget_whatif)
        for line in limit_demand_lines(demand):
            typer.echo(line)
        if picture is not None:
            typer.echo(f"The round is drawn in {picture}.")


def _read(source: str) -> list[str]:
    from webstrata import urls
    from webstrata.cli.pages.bad_lines import BadLine, require_good_lines, show_bad_lines
    from webstrata.cli.pages.watch import read_lines

    listed: dict[str, None] = {}
    bad: list[BadLine] = []
    for number, line in enumerate(read_lines(source), 1):
        address = line.partition("\t")[0].strip()
        if address and not address.startswith("#"):
            try:
                listed[urls.canonical(address)] = None
            except UsageError as problem:
                bad.append(BadLine(number, address[:200], str(problem)))
    show_bad_lines(bad)
    require_good_lines(source, len(listed), bad)
    return list(listed)


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
    title = (
        f"A planned round: {counted(requests, 'visit')}, {counted(len(hosts), 'host')}, {counted(threads, 'thread')}"
    )
    draw_round([printable(host) for host in hosts], bars, picture, title=title)


def _show_capacity(capacity: Capacity, threads: int, as_json: bool) -> None:
    if as_json:
        print_json({"threads": threads, **msgspec.to_builtins(capacity)})
        return
    if not capacity.pages:
        typer.echo("No page has an interval yet: run `webstrata crawl`, which visits due pages and schedules them.")
        return
    typer.echo(
        f"{counted(capacity.pages, 'page')}, {capacity.visits_per_hour:.1f} visits an hour by their intervals, "
        f"{counted(threads, 'thread')}"
    )
    if capacity.more_pages_same_hosts >= 0:
        typer.echo(f"room for {counted(capacity.more_pages_same_hosts, 'more page')} like these on the same hosts")
    else:
        typer.echo(f"{counted(-capacity.more_pages_same_hosts, 'page')} too many: visits will be late")
    typer.echo(
        f"room for {counted(max(0, capacity.more_pages_new_hosts), 'more page')} on other hosts like these, by the number of threads"
    )
    typer.echo("\nFullest:")
    print_table(("used", "what"), [(f"{one.used:.2%}", one.what) for one in capacity.fullest])
