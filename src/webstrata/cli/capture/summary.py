"""How captures ended: for people, for programs, and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import typer

from webstrata.cli.output import counted, moment, printable, size, when
from webstrata.clock import span

if TYPE_CHECKING:
    from webstrata.flows.capture.proof import FinishedCapture
    from webstrata.flows.capture.site_capture import SiteCapture
    from webstrata.sharp.proof.certificate import CapturedPage

_SHOWN = 20


def document(capture: SiteCapture, proved: FinishedCapture) -> dict[str, Any]:
    """One capture for programs."""
    state, result = capture.state, proved.outcome
    order, certificate = state.began.order, proved.certificate
    counts = certificate["counts"]
    sharp = set(result.instant.pages) if result.instant is not None else set()
    return {
        "id": state.began.capture,
        "url": order.url,
        "file": str(proved.file),
        "bytes": proved.file.stat().st_size,
        "records": proved.records,
        "sharp": order.sharp,
        "pages": counts["pages"],
        "counts": {name: counts[name] for name in ("sharp", "blurred", "unreachable")},
        "expected_sharp": float(counts["expected_sharp"]),
        "doubtful": sum(page.expected < order.tau for page in result.pages if page.visit is not None),
        "instant": certificate["instant"],
        "other_instants": [
            {
                "from": when(one.start),
                "to": when(one.end),
                "pages": len(one.pages),
                "serves": [result.pages[place].url for place in one.pages if place not in sharp],
            }
            for one in result.others
        ],
        "verdicts": [{name: page[name] for name in ("url", "verdict", "why")} for page in certificate["pages"]],
        "appeared": state.appeared,
        "left_out": state.left_out,
        "passes": state.turn + 1,
        "requisites": {
            "captured": sum(had is True for had in state.requisites.values()),
            "failed": sum(had is False for had in state.requisites.values()),
            "not_asked_for": sum(had is None for had in state.requisites.values()),
        },
        "delay_s": state.began.slot_s,
        "stopped": capture.stopped or None,
        "key": proved.key,
        "time_stamped": proved.stamped,
    }


def show(told: dict[str, Any]) -> None:
    """One capture for people."""
    counts, instant = told["counts"], told["instant"]
    typer.echo(f"{printable(told['url'])}  {told['id']}")
    as_of = f" as of {_short(instant['from'])} to {_short(instant['to'])}" if instant else ""
    typer.echo(f"  {counts['sharp']} of {counted(told['pages'], 'page')} sharp{as_of}")
    typer.echo(
        f"  {counts['blurred']} blurred, {counts['unreachable']} unreachable; {told['expected_sharp']:.1f} sharp were "
        f"expected, {told['doubtful']} were doubtful"
    )
    if not told["sharp"]:
        typer.echo("  one pass proves no two pages to have stood together: `--sharp` revisits them")
    for one in told["other_instants"] if told["sharp"] else ():
        typer.echo(
            f"  another instant, {_short(one['from'])} to {_short(one['to'])}, has {counted(one['pages'], 'page')}, "
            f"{len(one['serves'])} of them not in this one"
        )
    if told["stopped"]:
        typer.echo(f"  {printable(told['stopped'])}: `webstrata capture --resume {told['id']}` goes on")
    not_sharp = [one for one in told["verdicts"] if one["verdict"] != "sharp"]
    for one in not_sharp[:_SHOWN]:
        typer.echo(f"  {one['verdict']}  {printable(one['url'])}  {printable(one['why'])}")
    if len(not_sharp) > _SHOWN:
        typer.echo(f"  and {len(not_sharp) - _SHOWN} more: `webstrata certificate show {told['file']}`")
    typer.echo(f"  {told['file']}, {size(told['bytes'])}, signed by {told['key']}")


def picture(file: Path, captures: Sequence[tuple[SiteCapture, FinishedCapture]]) -> None:
    """The visit-revisit chart of the captures, one panel for each."""
    from webstrata.plots.visits import BLURRED, SHARP, SchedulePanel, VisitLine, draw_visits

    panels = []
    for capture, proved in captures:
        instant = proved.outcome.instant
        if instant is None:
            continue
        middle = (instant.start + instant.end) / 2
        unit_s, unit = (60.0, "minutes") if _reach_s(proved, middle) > 300 else (1.0, "seconds")
        lines = [
            VisitLine(
                _path(page),
                (page.visit.started - middle) / unit_s,
                ((page.revisit or page.visit).ended - middle) / unit_s,
                SHARP if judged["verdict"] == "sharp" else BLURRED,
            )
            for judged, page in zip(proved.certificate["pages"], proved.outcome.pages, strict=True)
            if page.visit is not None
        ]
        panels.append(SchedulePanel(capture.state.began.order.url, lines, unit))
    if panels:
        draw_visits(file, panels)
    else:
        typer.echo("webstrata: nothing was captured, so there is no picture.", err=True)


def _reach_s(proved: FinishedCapture, middle: float) -> float:
    return max((abs(page.visit.started - middle) for page in proved.outcome.pages if page.visit), default=0.0)


def _path(page: CapturedPage) -> str:
    parts = urlsplit(page.url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _short(at: str) -> str:
    from webstrata.clock import parse_instant

    return moment(parse_instant(at))


def waiting(at: float, now: float, relative: float, changes: int) -> str:
    """What is said before the quietest stretch of the week is waited for."""
    return (
        f"starting {moment(at)} (in {span(at - now)}): {relative:.0%} of the changes that one started now would meet, "
        f"by {counted(changes, 'change')} seen so far"
    )
