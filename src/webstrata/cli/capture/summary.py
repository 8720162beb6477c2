"""The results of captures: as JSON documents, as text, and as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import typer

from webstrata.cli.capture.capture_result import capture_result
from webstrata.cli.output import counted, date_time, iso_or_none, printable, size
from webstrata.clock import parse_instant, span
from webstrata.sharp.proof.verdicts import PAGE_VERDICTS
from webstrata.wording import agreeing

if TYPE_CHECKING:
    from webstrata.flows.capture.proof import FinishedCapture
    from webstrata.flows.capture.site_capture import SiteCapture

_SHOWN = 20
_SHOWN_SHELLS = 5
_SLOWER = 1.5
"""The summary mentions a pace that is slower than planned by this factor."""


LAYER_NAMES = {
    "visible": "visible text and links",
    "raw": "raw bytes",
    "links": "links",
    "main": "useful content",
    "data": "canonical data",
    "selected": "what the rules of pages select",
    "auto": "what decides about changes",
}


def document(capture: SiteCapture, finished: FinishedCapture) -> dict[str, Any]:
    """One capture as a JSON document."""
    state, outcome = capture.state, finished.outcome
    order, certificate = state.started.order, finished.certificate
    counts, pages = certificate["counts"], certificate["pages"]
    sharp = {index for index, page in enumerate(outcome.pages) if page.verdict == "sharp"}
    return {
        "id": state.started.capture,
        "url": order.url,
        "file": str(finished.file),
        "bytes": finished.file.stat().st_size,
        "records": finished.records,
        "result": capture_result(capture, finished),
        "sharp": order.sharp,
        "layer": order.layer,
        "pages": counts["pages"],
        "counts": {name: counts[name] for name in PAGE_VERDICTS},
        "sharp_by": counts["sharp_by"],
        "cached": counts["cached"],
        "script_shells": [page["url"] for page in pages if page["script_shell"]],
        "expected_sharp": float(counts["expected_sharp"]),
        "doubtful": sum(page.expected < order.tau for page in state.pages.values() if page.contents),
        "instant": certificate["instant"],
        "other_instants": [
            {
                "from": iso_or_none(instant.start),
                "to": iso_or_none(instant.end),
                "pages": len(instant.pages),
                "serves": [pages[index]["url"] for index in instant.pages if index not in sharp],
            }
            for instant in outcome.others
        ],
        "verdicts": [{name: page[name] for name in ("url", "verdict", "why")} for page in pages],
        "appeared": state.appeared,
        "left_out": state.left_out,
        "passes": state.pass_number + 1,
        "requisites": {
            "captured": sum(succeeded is True for succeeded in state.requisites.values()),
            "failed": sum(succeeded is False for succeeded in state.requisites.values()),
            "not_asked_for": sum(succeeded is None for succeeded in state.requisites.values()),
        },
        "composite": counts["composite"],
        "contradicting": _contradicting(pages),
        "delay_s": state.started.slot_s,
        "delay_from": state.started.slot_from,
        "pace_s": round(state.pace_s(), 3),
        "pauses": sum(seen.status in (429, 503) for history in state.observed.values() for seen in history),
        "stopped": capture.stopped or None,
        "unfinished": certificate["unfinished"],
        "key": finished.key,
        "time_stamped": finished.stamped,
    }


def _contradicting(pages: Sequence[dict[str, Any]]) -> list[str]:
    """The files that were certainly others at the instant, of sharp pages."""
    composites = (page["composite"] for page in pages if page["composite"] is not None)
    return sorted({url for composite in composites for url in composite["contradicting"]})


def show(entry: dict[str, Any]) -> None:
    """Print one capture as text."""
    typer.echo(f"{printable(entry['url'])}  {entry['id']}")
    for line in _lines(entry):
        typer.echo(f"  {line}")
    not_sharp = [page for page in entry["verdicts"] if page["verdict"] != "sharp"]
    for page in not_sharp[:_SHOWN]:
        typer.echo(f"  {page['verdict']}  {printable(page['url'])}  {printable(page['why'])}")
    if len(not_sharp) > _SHOWN:
        typer.echo(f"  and {len(not_sharp) - _SHOWN} more: `webstrata certificate show {entry['file']}`")
    typer.echo(f"  {entry['file']}, {size(entry['bytes'])}, signed by {entry['key']}")


def _lines(entry: dict[str, Any]) -> Iterator[str]:
    counts = entry["counts"]
    yield headline(entry)
    others = [f"{counts[name]} {name}" for name in PAGE_VERDICTS[1:] if counts[name] or name == "blurred"]
    yield (
        f"{', '.join(others)}; {entry['expected_sharp']:.1f} sharp were expected, {entry['doubtful']} {agreeing(entry['doubtful'], 'was', 'were')} doubtful"
    )
    if not entry["sharp"]:
        yield "a single pass does not prove that any two pages coexisted: `--sharp` revisits them"
    for other in entry["other_instants"] if entry["sharp"] else ():
        yield (
            f"another instant, {_short(other['from'])} to {_short(other['to'])}, has {counted(other['pages'], 'page')}, "
            f"{len(other['serves'])} of them not in this one"
        )
    yield from _marks(entry)
    yield from _pace(entry)
    if entry["unfinished"] is not None:
        yield unfinished_line(entry["unfinished"])
    if entry["stopped"]:
        yield f"`webstrata capture --resume {entry['id']}` continues it"


def headline(entry: dict[str, Any]) -> str:
    """The number of sharp pages, by which layer, and by other layers at the same instant."""
    instant, layer = entry["instant"], entry["layer"]
    as_of = f" as of {_short(instant['from'])} to {_short(instant['to'])}" if instant else ""
    by_others = [f"{LAYER_NAMES[name]} {number}" for name, number in entry["sharp_by"].items() if name != layer]
    sharp = entry["counts"]["sharp"]
    return f"{sharp} of {counted(entry['pages'], 'page')} sharp by {LAYER_NAMES[layer]}{as_of}; {', '.join(by_others)}"


def _marks(entry: dict[str, Any]) -> Iterator[str]:
    """What a reader must know about the sharp pages."""
    if entry["cached"]:
        yield f"{counted(entry['cached'], 'sharp page')} came from caches, with copies older than the request"
    if shells := entry["script_shells"]:
        shown = ", ".join(printable(url) for url in shells[:_SHOWN_SHELLS])
        more = f" and {len(shells) - _SHOWN_SHELLS} more" if len(shells) > _SHOWN_SHELLS else ""
        yield f"content is loaded by scripts: use --render ({shown}{more})"
    composite = entry["composite"]
    if any(composite[state] for state in ("coherent", "violative", "unknown")):
        states = ", ".join(f"{composite[state]} {state}" for state in composite if composite[state])
        yield f"sharp pages with their images, styles and scripts: {states}"
    for url in entry["contradicting"][:_SHOWN_SHELLS]:
        yield f"contradicts  {printable(url)}  it was another file at the instant"


def _pace(entry: dict[str, Any]) -> Iterator[str]:
    """Why requests were farther apart than asked for."""
    if entry["delay_from"] not in ("", "own delay"):
        yield f"requests were {entry['delay_s']:g} s apart: {entry['delay_from']}"
    if entry["pauses"]:
        yield f"the site asked for pauses {counted(entry['pauses'], 'time')} (status 429 or 503)"
    elif entry["pace_s"] > _SLOWER * entry["delay_s"]:
        yield f"requests were {entry['pace_s']:g} s apart instead of {entry['delay_s']:g} s: the site responds slowly"


def unfinished_line(unfinished: dict[str, Any]) -> str:
    """What is missing in a capture that was cut short."""
    parts = [f"{unfinished['not_visited']} not visited", f"{unfinished['not_revisited']} not revisited"]
    if unfinished["not_discovered"] is not None:
        parts.append(f"about {unfinished['not_discovered']} not discovered")
    return f"incomplete, {printable(unfinished['why'])}: of its pages, {', '.join(parts)}"


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
