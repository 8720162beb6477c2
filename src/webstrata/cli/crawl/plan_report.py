"""The report of `webstrata plan`, as JSON and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from webstrata.cli.crawl.budget_buys import budget_buys
from webstrata.cli.output import counted, date_time, iso_or_none, print_table, printable
from webstrata.clock import parse_instant, span
from webstrata.plan.load import SLOT_S
from webstrata.wording import agreeing

if TYPE_CHECKING:
    from webstrata.flows.budget_whatif import BudgetWhatIf
    from webstrata.flows.planning import PlanInput
    from webstrata.plan.estimate import CrawlTimeEstimate
    from webstrata.plan.firstfit import Packing

_LISTED_HOSTS = 3
"""Number of hosts that a line of output names."""


def plan_report(now: float, plan_input: PlanInput, simulated: CrawlTimeEstimate, paper: Packing) -> dict[str, Any]:
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


def show_plan(report: dict[str, Any], simulated: CrawlTimeEstimate, paper: Packing) -> None:
    visits, hosts = counted(report["visits"], "visit"), counted(report["hosts"], "host")
    typer.echo(
        f"{visits} to {hosts}, {counted(simulated.requests, 'request')}, {counted(simulated.threads, 'thread')} at most"
    )
    if report["resting_hosts"]:
        typer.echo(
            f"{counted(len(report['resting_hosts']), 'host')} left out: {agreeing(len(report['resting_hosts']), 'it', 'they')} asked for a pause."
        )
    if not report["visits"]:
        typer.echo("Nothing to visit: `webstrata status` shows the next visit, --within SPAN plans a longer time.")
        return
    typer.echo(
        f"simulated  {span(simulated.median_s)} ({span(simulated.low_s)} to {span(simulated.high_s)} in eight rounds of ten), "
        f"needs {counted(simulated.threads_needed, 'thread')}"
    )
    if simulated.machine_s:
        rate = f"{counted(round(report['visits'] / simulated.machine_s), 'visit')} a second in the last rounds"
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
        (host.host, host.requests, span(host.gap_s), span(host.ends_s), f"{host.last_share:.0%}")
        for host in simulated.bottlenecks
    ]
    print_table(("host", "requests", "gap", "ends after", "is the last"), rows)


def show_budget_whatif(what_ifs: list[BudgetWhatIf]) -> None:
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
        typer.echo(f"(from a random sample of {sampled} of {counted(what_ifs[0].pages, 'page')})")
    print_table(("budget", "visits a day", "changes captured a day", "copies up to date"), rows)
    if (buys := budget_buys(what_ifs)) is not None:
        typer.echo(f"In words: {buys['text']}.")


def _some(hosts: tuple[str, ...] | list[str]) -> str:
    named = ", ".join(printable(host) for host in hosts[:_LISTED_HOSTS])
    return named if len(hosts) <= _LISTED_HOSTS else f"{named} and {len(hosts) - _LISTED_HOSTS} more"
