"""The results of captures: as JSON documents, as text, and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import typer

from webstrata.cli.output import counted, date_time, iso_or_none, printable, size
from webstrata.clock import parse_instant, span
from webstrata.sharp.proof.verdicts import PAGE_VERDICTS

if TYPE_CHECKING:
    from webstrata.flows.capture.proof import FinishedCapture
    from webstrata.flows.capture.site_capture import SiteCapture

_SHOWN = 20


def document(capture: SiteCapture, finished: FinishedCapture) -> dict[str, Any]:
    """One capture as a JSON document."""
    state, outcome = capture.state, finished.outcome
    order, certificate = state.started.order, finished.certificate
    counts = certificate["counts"]
    urls = [page["url"] for page in certificate["pages"]]
    sharp = {index for index, page in enumerate(outcome.pages) if page.verdict == "sharp"}
    return {
        "id": state.started.capture,
        "url": order.url,
        "file": str(finished.file),
        "bytes": finished.file.stat().st_size,
        "records": finished.records,
        "sharp": order.sharp,
        "pages": counts["pages"],
        "counts": {name: counts[name] for name in PAGE_VERDICTS},
        "expected_sharp": float(counts["expected_sharp"]),
        "doubtful": sum(page.expected < order.tau for page in state.pages.values() if page.contents),
        "instant": certificate["instant"],
        "other_instants": [
            {
                "from": iso_or_none(instant.start),
                "to": iso_or_none(instant.end),
                "pages": len(instant.pages),
                "serves": [urls[index] for index in instant.pages if index not in sharp],
            }
            for instant in outcome.others
        ],
        "verdicts": [{name: page[name] for name in ("url", "verdict", "why")} for page in certificate["pages"]],
        "appeared": state.appeared,
        "left_out": state.left_out,
        "passes": state.pass_number + 1,
        "requisites": {
            "captured": sum(succeeded is True for succeeded in state.requisites.values()),
            "failed": sum(succeeded is False for succeeded in state.requisites.values()),
            "not_asked_for": sum(succeeded is None for succeeded in state.requisites.values()),
        },
        "delay_s": state.started.slot_s,
        "stopped": capture.stopped or None,
        "key": finished.key,
        "time_stamped": finished.stamped,
    }


def show(entry: dict[str, Any]) -> None:
    """Print one capture as text."""
    counts, instant = entry["counts"], entry["instant"]
    typer.echo(f"{printable(entry['url'])}  {entry['id']}")
    as_of = f" as of {_short(instant['from'])} to {_short(instant['to'])}" if instant else ""
    typer.echo(f"  {counts['sharp']} of {counted(entry['pages'], 'page')} sharp{as_of}")
    typer.echo(
        f"  {counts['blurred']} blurred, {counts['unreachable']} unreachable; {entry['expected_sharp']:.1f} sharp were "
        f"expected, {entry['doubtful']} were doubtful"
    )
    if not entry["sharp"]:
        typer.echo("  a single pass does not prove that any two pages coexisted: `--sharp` revisits them")
    for other in entry["other_instants"] if entry["sharp"] else ():
        typer.echo(
            f"  another instant, {_short(other['from'])} to {_short(other['to'])}, has {counted(other['pages'], 'page')}, "
            f"{len(other['serves'])} of them not in this one"
        )
    if entry["stopped"]:
        typer.echo(f"  {printable(entry['stopped'])}: `webstrata capture --resume {entry['id']}` continues it")
    not_sharp = [page for page in entry["verdicts"] if page["verdict"] != "sharp"]
    for page in not_sharp[:_SHOWN]:
        typer.echo(f"  {page['verdict']}  {printable(page['url'])}  {printable(page['why'])}")
    if len(not_sharp) > _SHOWN:
        typer.echo(f"  and {len(not_sharp) - _SHOWN} more: `webstrata certificate show {entry['file']}`")
    typer.echo(f"  {entry['file']}, {size(entry['bytes'])}, signed by {entry['key']}")


def picture(file: Path, captures: Sequence[tuple[SiteCapture, FinishedCapture]]) -> None:
    """Draw the visit-revisit chart, with one panel for each capture."""
    from webstrata.plots.visits import BLURRED, SHARP, SchedulePanel, VisitLine, draw_visits

    panels = []
    for capture, finished in captures:
        instant = finished.outcome.instant
        if instant is None:
            continue
        middle = (instant.start + instant.end) / 2
        spans = _spans(capture, finished)
        reach_s = max((abs(start - middle) for _, start, _, _ in spans), default=0.0)
        unit_s, unit = (60.0, "minutes") if reach_s > 300 else (1.0, "seconds")
        lines = [
            VisitLine(_path(url), (start - middle) / unit_s, (end - middle) / unit_s, SHARP if is_sharp else BLURRED)
            for url, start, end, is_sharp in spans
        ]
        panels.append(SchedulePanel(capture.state.started.order.url, lines, unit))
    if panels:
        draw_visits(file, panels)
    else:
        typer.echo("webstrata: nothing was captured, so there is no picture.", err=True)


def _spans(capture: SiteCapture, finished: FinishedCapture) -> list[tuple[str, float, float, bool]]:
    """(URL, start of the visit, end of the revisit, whether it is sharp) of the pages with observations around the
    instant."""
    spans = []
    for history, page in zip(capture.state.pages.values(), finished.outcome.pages, strict=True):
        around = [history.observations[index] for index in (page.visit, page.revisit) if index is not None]
        if around:
            spans.append((history.url, around[0].started, around[-1].ended, page.verdict == "sharp"))
    return spans


def _path(url: str) -> str:
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _short(at: str) -> str:
    return date_time(parse_instant(at))


def waiting_message(at: float, now: float, relative: float, changes: int) -> str:
    """The message before the wait for the quietest period of the week."""
    return (
        f"starting {date_time(at)} (in {span(at - now)}): {relative:.0%} of the changes expected if it started now, "
        f"estimated from {counted(changes, 'change')}"
    )
