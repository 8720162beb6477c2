"""`webstrata why URL`: the reason for the time of a page's next visit."""

from __future__ import annotations

import math
from typing import Any

import typer

from webstrata.cli.crawl.budget_buys import budget_buys, budget_whatifs
from webstrata.cli.history.signals import signal_text, signals_json, trust_json, trust_text
from webstrata.cli.options import HomeOption, JsonOption, UrlArgument
from webstrata.cli.output import date_time, iso_or_none, print_json, printable, time_until
from webstrata.cli.pages.visit_times import visit_times_json
from webstrata.cli.session import open_node, run_async
from webstrata.clock import parse_instant, span
from webstrata.flows.versions import watched_page
from webstrata.records import Page, PageState, Visit
from webstrata.schedule.visit_times import shown_next_at

_INSTANTS = ("_at", "_until")
"""How names of facts that are instants end."""


def command(
    address: UrlArgument,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Explain why the next visit of a page is when it is: policy, interval, evidence, politeness."""
    from webstrata.flows.crawl.selection.schedule_input import ScheduleInput

    node = open_node(home)
    now = node.clock.now()

    async def collect() -> dict[str, Any]:
        async with node.store() as store:
            page = await watched_page(store, address)
            gate = await node.gate(store)
            return {
                "url": page.url,
                "state": page.state,
                "next_at": shown_next_at(page, now),
                **visit_times_json(page, now),
                "reason": page.reason or _without_visit(page),
                "policy": page.policy or node.settings.schedule.policy,
                "interval_s": page.interval_s,
                "evidence": {
                    "visits": page.visits,
                    "changes": page.changes,
                    "failures_in_a_row": page.failures,
                    "last_visit": iso_or_none(page.last_visit_at),
                    "last_change": iso_or_none(page.last_change_at),
                    "last_outcome": page.last_outcome,
                    **_with_iso_times(await ScheduleInput(store, node.schedule()).evidence(page, now)),
                },
                "signals": signals_json(
                    await store.signals.announcements([page.id]), sources := await store.signals.sources()
                ),
                "as_source": next((trust_json(source) for source in sources if source.url == page.url), None),
                "noise": _noise(page),
                "last_change": _change((await store.visit_log.of_page(page.id, changes_only=True, limit=1))[:1]),
                "politeness": _with_iso_times(gate.explain(page.url, now)),
                "budget_buys": budget_buys(await budget_whatifs(node, store)),
            }

    report = run_async(collect)
    next_at = report.pop("next_at")
    if as_json:
        print_json(report)
        return
    typer.echo(printable(report["url"]))
    distance = "due now" if next_at is not None and next_at <= now else time_until(next_at, now)
    typer.echo(f"  next visit  {date_time(next_at)} ({distance})")
    typer.echo(f"  because     {printable(report['reason'])}")
    _show_visit_times(report)
    interval = span(report["interval_s"]) if report["interval_s"] else "not set yet"
    typer.echo(f"  policy      {report['policy']}, interval {interval}")
    for title in ("evidence", "last_change", "politeness"):
        typer.echo(f"  {title.replace('_', ' ')}")
        for name, value in (report[title] or {"at": None}).items():
            label, shown = _text(name, value)
            typer.echo(f"    {label:<24} {printable(shown)}")
    for place in report["noise"]:
        since = date_time(parse_instant(place["since"]))
        typer.echo(f"  noise {place['n']:<5} {place['kind']}, since {since}: {printable(place['example'])}")
    _show_signals(report)
    if report["budget_buys"] is not None:
        typer.echo(f"  all pages   {report['budget_buys']['text']}")


def _show_visit_times(report: dict[str, Any]) -> None:
    """The rhythm, windows and snooze that the user set."""
    if report["every_s"] is not None:
        typer.echo(f"  rhythm      every {span(report['every_s'])}, whatever the value of the visit")
    if report["windows"] is not None:
        opens_at = report["opens_at"]
        state = "open now" if opens_at is None else f"closed now, open from {date_time(parse_instant(opens_at))} UTC on"
        typer.echo(f"  windows     {printable(report['windows'])} ({state})")
    if report["snoozed_until"] is not None:
        typer.echo(f"  snoozed     until {date_time(parse_instant(report['snoozed_until']))} UTC")


def _show_signals(report: dict[str, Any]) -> None:
    """The announcements of feeds and sitemaps about the page, and its quality if it is a source itself."""
    if report["signals"]:
        typer.echo("  signals")
        for signal in report["signals"]:
            typer.echo(f"    {printable(signal_text(signal))}")
    if report["as_source"] is not None:
        typer.echo(f"  as a source of signals it is {trust_text(report['as_source'])}")


def _without_visit(page: Page) -> str:
    """The reason for the next visit of a page without one: whether it is known from copies or captures only."""
    if page.state is PageState.CAPTURED:
        return "not watched, so it is not visited: `webstrata watch` watches it"
    return "never visited: due at once"


def _noise(page: Page) -> list[dict[str, Any]]:
    """The places of the page that do not count, and since when."""
    from webstrata.detect.memory import unpack

    places = (place for place in unpack(page.memory, page.counted).noise if place.state == "learned")
    return [
        {"n": place.number, "kind": place.kind, "since": iso_or_none(place.since), "example": place.example}
        for place in places
    ]


def _change(visits: list[Visit]) -> dict[str, Any] | None:
    """The last change and its reasons; the first visit if there was no change since."""
    if not visits:
        return None
    last = visits[0]
    return {
        "at": iso_or_none(last.at),
        "outcome": last.outcome,
        "kind": last.kind,
        "significance": round(last.significance, 4),
        "reasons": last.reasons,
        "reverted": last.reverted,
        "new_links": last.new_links,
    }


def _with_iso_times(facts: dict[str, object]) -> dict[str, object]:
    """Facts of a policy or a gate with their instants as text; null for a time that never comes."""
    return {
        name: iso_or_none(value if math.isfinite(value) else None)
        if isinstance(value, float) and name.endswith(_INSTANTS)
        else value
        for name, value in facts.items()
    }


def _text(name: str, value: Any) -> tuple[str, str]:
    """Label and value of a fact as text: durations with units, instants as dates."""
    label = name.replace("_", " ")
    if value is None:
        return label.removesuffix(" s"), "-"
    if isinstance(value, bool):
        return label, "yes" if value else "no"
    if isinstance(value, list | tuple):
        return label, ", ".join(_text("", item)[1] for item in value) or "-"
    if isinstance(value, int | float) and name.endswith("_s"):
        return label.removesuffix(" s"), span(value)
    if name in ("at", "last_visit", "last_change") or name.endswith(_INSTANTS):
        return label, date_time(parse_instant(value))
    return label, str(value)
