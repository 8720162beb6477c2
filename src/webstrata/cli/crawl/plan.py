"""`webstrata plan`: how long the coming visits take, with how many threads, and how many more there is room for."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from webstrata.cli.output import counted, moment, print_json, print_table, printable, when
from webstrata.cli.session import HomeOption, JsonOption, SetOption, open_node, run_async
from webstrata.clock import DAY_S, parse_span, span
from webstrata.errors import UsageError

if TYPE_CHECKING:
    from webstrata.flows.budget_whatif import BudgetWhatIf
    from webstrata.flows.planning import PlanInput
    from webstrata.node import Node
    from webstrata.plan.capacity import Capacity
    from webstrata.plan.estimate import CrawlTimeEstimate
    from webstrata.plan.firstfit import Packing

_MOST_PAGES = 1_000_000
_NAMED = 3
"""Hosts that a sentence names."""


def command(
    addresses: Annotated[
        str | None,
        typer.Option("--urls", metavar="FILE", help="Plan these URLs (one a line, - for stdin), watched or not."),
    ] = None,
    within: Annotated[
        str | None,
        typer.Option(metavar="SPAN", help="Without --urls: plan what is due within this time (default: one slot)."),
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
    """Say how long a round takes, which hosts hold it up, how many threads it needs; or how many more pages fit."""
    node = open_node(home, settings)
    used = threads or node.settings.fetch.connections
    if capacity:
        if addresses is not None or picture is not None:
            raise UsageError("--capacity looks at the whole schedule: leave --urls and --picture out.")
        _show_capacity(run_async(lambda: _capacity(node, used, offline)), used, as_json)
        return
    slot_s = float(node.settings.schedule.slot) or 3600.0
    ahead_s = parse_span(within) if within is not None else slot_s
    listed = _read(addresses) if addresses is not None else None
    plan_input = run_async(lambda: _survey(node, listed, ahead_s, offline))
    budget_whatif = run_async(lambda: _prospects(node)) if listed is None else []
    _plan(node, plan_input, used, slot_s, picture, budget_whatif, as_json)


async def _prospects(node: Node) -> list[BudgetWhatIf]:
    """What a fifth more or less of the budget would buy."""
    from webstrata.flows.budget_whatif import budget_whatif
    from webstrata.schedule.budget import ONE_A_DAY
    from webstrata.schedule.budgeted_registry import is_budgeted
    from webstrata.schedule.policy import Bounds

    schedule = node.settings.schedule
    bounds = Bounds(min_days=schedule.min_interval / DAY_S, max_days=schedule.max_interval / DAY_S)
    rate = node.budget().total or (ONE_A_DAY if is_budgeted(schedule.policy) else None)
    async with node.store() as store:
        return await budget_whatif(store, node.timetable(), rate, node.clock.now(), bounds)


def _plan(
    node: Node,
    plan_input: PlanInput,
    threads: int,
    slot_s: float,
    picture: Path | None,
    budget_whatif: list[BudgetWhatIf],
    as_json: bool,
) -> None:
    from webstrata.flows.planning import domains_of
    from webstrata.plan.estimate import estimate
    from webstrata.plan.firstfit import pack

    manner = node.manner()
    ours = estimate(plan_input.loads, plan_input.downloads, manner, threads)
    paper = pack(domains_of(plan_input.loads, plan_input.downloads, manner.delay_s), threads)
    if picture is not None:
        _draw(plan_input, node, threads, picture)
    told = _told(node.clock.now(), plan_input, ours, paper, slot_s)
    if as_json:
        print_json({**told, "budget": budget_whatif})
    else:
        _show(told, ours, paper)
        _show_prospects(budget_whatif)
        if picture is not None:
            typer.echo(f"The round is drawn in {picture}.")


def _read(source: str) -> list[str]:
    from webstrata import urls

    try:
        text = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as problem:
        raise UsageError(f"cannot read {source}: {problem.strerror}. Name a file, or - for stdin.") from None
    lines = (line.partition("\t")[0].strip() for line in text.decode("utf-8-sig", "replace").splitlines())
    found: dict[str, None] = {}
    for number, line in enumerate(lines, 1):
        if line and not line.startswith("#"):
            try:
                found[urls.canonical(line)] = None
            except UsageError as problem:
                typer.echo(f"line {number}: {printable(problem)}", err=True)
    return list(found)


async def _survey(node: Node, listed: list[str] | None, ahead_s: float, offline: bool) -> PlanInput:
    from webstrata.flows.planning import by_host, plan_input

    now = node.clock.now()
    web = None if offline else node.web()
    try:
        async with node.store() as store:
            if listed is None:
                listed = [one.url for one in await store.queue.upcoming(now + ahead_s, _MOST_PAGES)]
            return await plan_input(by_host(listed), store=store, gate=await node.gate(store), web=web, now=now)
    finally:
        if web is not None:
            await web.close()


async def _capacity(node: Node, threads: int, offline: bool) -> Capacity:
    from webstrata.flows.planning import plan_input
    from webstrata.plan.capacity import HostDemand, capacity

    now = node.clock.now()
    web = None if offline else node.web()
    try:
        async with node.store() as store:
            demand = await store.visit_log.demand()
            pages = [(host, url, number) for host, url, number, _ in demand]
            found = await plan_input(pages, store=store, gate=await node.gate(store), web=web, now=now)
    finally:
        if web is not None:
            await web.close()
    per_hour = {host: per_day / 24 for host, _, _, per_day in demand}
    demands = [HostDemand(load=load, visits_per_hour=per_hour[load.host]) for load in found.loads]
    slot_s = float(node.settings.schedule.slot) or 3600.0
    return capacity(demands, found.downloads, node.manner(), threads=threads, slot_s=slot_s)


def _draw(plan_input: PlanInput, node: Node, threads: int, picture: Path) -> None:
    from webstrata.plan.estimate import typical_round

    try:
        from webstrata.plots.crawl_time import draw_round
    except ImportError:
        raise UsageError("pictures need matplotlib: install webstrata with its `lab` extra.") from None
    requests = sum(load.docs for load in plan_input.loads)
    if requests > _MOST_PAGES // 10:
        raise UsageError(f"{requests} visits are too many for a picture. Plan fewer with --within or --urls.")
    hosts, bars = typical_round(plan_input.loads, plan_input.downloads, node.manner(), threads)
    title = f"A planned round: {counted(requests, 'visit')}, {counted(len(hosts), 'host')}, {threads} threads"
    draw_round([printable(host) for host in hosts], bars, picture, title=title)


def _told(now: float, plan_input: PlanInput, ours: CrawlTimeEstimate, paper: Packing, slot_s: float) -> dict[str, Any]:
    return {
        "visits": sum(load.docs for load in plan_input.loads),
        "hosts": len(plan_input.loads),
        "threads": ours.threads,
        "estimate": ours,
        "paper": paper,
        "starts": when(now),
        "ends": when(now + ours.median_s),
        "ends_between": [when(now + ours.low_s), when(now + ours.high_s)],
        "slot_s": slot_s,
        "fits_slot": ours.high_s <= slot_s,
        "unknown_hosts": [load.host for load in plan_input.loads if not plan_input.downloads.is_known(load.host)],
        "resting_hosts": plan_input.resting,
    }


def _show(told: dict[str, Any], ours: CrawlTimeEstimate, paper: Packing) -> None:
    visits, hosts = counted(told["visits"], "visit"), counted(told["hosts"], "host")
    typer.echo(f"{visits} to {hosts}, {counted(ours.requests, 'request')}, {ours.threads} threads at most")
    if told["resting_hosts"]:
        typer.echo(f"{counted(len(told['resting_hosts']), 'host')} left out that asked for a rest.")
    if not told["visits"]:
        typer.echo("Nothing to visit: `webstrata status` says when the next visit is, --within SPAN looks further.")
        return
    typer.echo(
        f"simulated  {span(ours.median_s)} ({span(ours.low_s)} to {span(ours.high_s)} in eight rounds of ten), "
        f"needs {counted(ours.threads_needed, 'thread')}"
    )
    start, end, last = (told["starts"], told["ends"], told["ends_between"][1])
    typer.echo(f"           begun {_minute(start)} it ends {_minute(end)}, hardly after {_minute(last)}")
    fits = "fits" if told["fits_slot"] else "does not fit"
    typer.echo(f"           {fits} its slot of {span(told['slot_s'])}")
    typer.echo(
        f"paper's    {span(paper.crawl_s)} with {counted(paper.threads, 'thread')} in {counted(len(paper.bins), 'bin')}"
    )
    if paper.hurried:
        typer.echo(
            f"           too short where downloads take less than the delay: {_some(paper.hurried)} (the paper's "
            "formula leaves the waiting out)"
        )
    if told["unknown_hosts"]:
        typer.echo(f"           {_some(told['unknown_hosts'])}: nothing in the log yet, taken to be like the others")
    short = "; threads are short" if ours.threads_are_short else ""
    typer.echo(f"\nLast to end{short}:")
    rows = [(one.host, one.requests, span(one.gap_s), span(one.ends_s), f"{one.last:.0%}") for one in ours.bottlenecks]
    print_table(("host", "requests", "gap", "ends after", "is the last"), rows)


def _show_prospects(found: list[BudgetWhatIf]) -> None:
    if not found:
        return
    typer.echo("\nWhat the budget is expected to bring, if pages go on as forecast:")
    rows = [
        (
            "now" if one.share == 1.0 else f"{one.share - 1.0:+.0%}",
            f"{one.budget_per_day:.1f}",
            f"{one.captured_per_day:.2f} of {one.changes_per_day:.2f}",
            f"{one.freshness:.1%}",
        )
        for one in found
    ]
    print_table(("budget", "visits a day", "changes captured a day", "copies up to date"), rows)


def _minute(text: str | None) -> str:
    from webstrata.clock import parse_instant

    return moment(parse_instant(text)) if text else "-"


def _some(hosts: tuple[str, ...] | list[str]) -> str:
    named = ", ".join(printable(host) for host in hosts[:_NAMED])
    return named if len(hosts) <= _NAMED else f"{named} and {len(hosts) - _NAMED} more"


def _show_capacity(found: Capacity, threads: int, as_json: bool) -> None:
    if as_json:
        print_json({"threads": threads, **_plain(found)})
        return
    if not found.pages:
        typer.echo(
            "No page has an interval yet: `webstrata crawl` visits what is due, then there is a schedule to look at."
        )
        return
    typer.echo(
        f"{counted(found.pages, 'page')}, {found.visits_per_hour:.1f} visits an hour as their intervals ask, "
        f"{threads} threads"
    )
    if found.more_pages_same_hosts >= 0:
        typer.echo(f"room for {found.more_pages_same_hosts} more pages like these on the same hosts")
    else:
        typer.echo(f"{-found.more_pages_same_hosts} pages too many: not every change can be captured in time")
    typer.echo(f"room for {max(0, found.more_pages_new_hosts)} more on other hosts like these, as far as threads go")
    typer.echo("\nFullest:")
    print_table(("used", "what"), [(f"{one.used:.2%}", one.what) for one in found.fullest])


def _plain(found: Capacity) -> dict[str, Any]:
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(found)
    return plain
