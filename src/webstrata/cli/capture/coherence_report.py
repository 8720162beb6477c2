"""The report of `webstrata coherence` as text: what is proved, how precisely, on what evidence, and what is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from webstrata.cli.output import counted, date_time, print_table, printable
from webstrata.clock import iso, span

if TYPE_CHECKING:
    from webstrata.sharp.proof.collection import Coherence, PageStanding

_MAX_ROWS = 40
_MAX_NAMED = 5
_MEANINGS = (
    ("changed", "changed"),
    ("interrupted", "with something else in between"),
    ("uncertain", "seen too close to it"),
    ("open", "not seen since"),
    ("later", "not seen before"),
    ("error", "never seen with content"),
)


def show(result: Coherence, damaged: int, longest_download_s: float, *, lists_all: bool, from_store: bool) -> None:
    """Print the report; of the pages the first 40, if `lists_all` is not set."""
    if not result.pages:
        typer.echo("There are no sightings of any page.")
        return
    for heading, line in _lines(result, damaged, longest_download_s):
        typer.echo(f"{heading:<14}{line}")
    rows = [_row(page) for page in result.pages]
    print_table(("standing", "status", "since", "until", "page"), rows if lists_all else rows[:_MAX_ROWS])
    if not lists_all and len(rows) > _MAX_ROWS:
        typer.echo(f"and {len(rows) - _MAX_ROWS} more (--all)")
    is_open = sum(page.standing == "open" for page in result.pages)
    if from_store and is_open:
        typer.echo(
            f"A visit now could prove {counted(is_open, 'page')} more: "
            "run `webstrata crawl URL…` for the pages with the standing open."
        )


def _lines(result: Coherence, damaged: int, longest_download_s: float) -> Iterator[tuple[str, str]]:
    """The lines above the table, each with its heading."""
    if result.instant is None:
        yield "instant", "none: no page was certainly seen with the same content before and after any instant"
    else:
        start, end = map(_moment, result.instant)
        yield "instant", start if start == end else f"{start} to {end}"
    standings = [page.standing for page in result.pages]
    others = [f"{standings.count(standing)} {meaning}" for standing, meaning in _MEANINGS if standing in standings]
    verb = "provably coexisted" if result.instant is not None else "proved"
    yield "pages", "; ".join((f"{result.proved} of {len(standings)} {verb}", ", ".join(others))).rstrip("; ")
    if result.is_single_pass and "open" in standings:
        yield (
            "single pass",
            "no page was seen at two times that certainly differ. This proves that each page had its content at the "
            "time of its own download, and nothing about two pages together.",
        )
    yield "uncertainty", _uncertainty(result, longest_download_s)
    yield from _evidence(result, damaged)
    if result.first is not None and result.last is not None:
        yield "spread", f"{span(result.last - result.first)} from the first to the last sighting"
    for other in result.others:
        yield "also", f"{counted(len(other.pages), 'page')} at {_moment(other.start)} to {_moment(other.end)}"


def _uncertainty(result: Coherence, longest_download_s: float) -> str:
    width = f"{_duration(result.uncertainty_s)}, the resolution of the dates" if result.uncertainty_s else "none"
    if not result.assumed_ends:
        return f"{width}; all durations were recorded"
    return (
        f"{width}; the duration of {result.assumed_ends} of {counted(result.sightings, 'download')} was not recorded, "
        f"and is taken to be at most {_duration(longest_download_s)} (--longest-download)"
    )


def _evidence(result: Coherence, damaged: int) -> Iterator[tuple[str, str]]:
    weak = sum(page.window is not None and page.window.evidence == "revisit" for page in result.pages)
    if weak:
        yield "revisits", f"{counted(weak, 'page')} proved by revisit records: the crawler compared the contents"
    if result.declared:
        on_declared = sum(page.window is not None and page.window.evidence == "declared" for page in result.pages)
        yield (
            "declared",
            f"{counted(result.declared, 'content')} known by declared digests only, the payloads are not in these "
            f"files; {counted(on_declared, 'page')} proved by them",
        )
    if result.wrong_digests:
        named = ", ".join(printable(wrong.url) for wrong in result.wrong_digests[:_MAX_NAMED])
        rest = len(result.wrong_digests) - _MAX_NAMED
        yield (
            "wrong digest",
            f"{counted(len(result.wrong_digests), 'record')} with a declared digest that the payload does not have; "
            f"the payload counts: {named}" + (f" and {rest} more" if rest > 0 else ""),
        )
    if damaged:
        yield "damaged", f"{counted(damaged, 'place')} in the files cannot be read; what was seen there does not count"


def _row(page: PageStanding) -> tuple[str, ...]:
    statuses = " ".join(str(status) for status in page.statuses)
    window = page.window or (page.windows[-1] if page.windows else None)
    if window is None:
        return page.standing, statuses, "-", "-", page.url
    return page.standing, statuses, date_time(window.start), date_time(window.end), page.url


def _moment(at: float) -> str:
    return iso(at).replace("T", " ").rstrip("Z")


def _duration(seconds: float) -> str:
    return span(seconds) if seconds >= 0.1 else f"{seconds * 1000:g}ms"
