"""`webstrata log`: the visits of a page or of all pages; or only those that found a change, or that failed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from webstrata.cli.history.visit_text import (
    MAX_CELL,
    changed_text,
    cut,
    result_text,
    size_text,
    status_text,
    warc_text,
    why_text,
)
from webstrata.cli.options import (
    FromOption,
    HomeOption,
    HostOption,
    JsonOption,
    OptionalUrlArgument,
    TagOption,
    ToOption,
)
from webstrata.cli.output import date_time, iso_or_none, print_json, print_table
from webstrata.cli.session import open_node, run_async, time_range
from webstrata.errors import UsageError
from webstrata.flows.versions import watched_page
from webstrata.records import PageVisit, Visit, VisitFilter

_LIMIT = 50
"""Visits of all pages, if the user does not give a number."""


def command(
    address: OptionalUrlArgument = None,
    changes: Annotated[
        bool, typer.Option("--changes", help="Only first visits and visits that found a change.")
    ] = False,
    errors: Annotated[bool, typer.Option("--errors", help="Only visits that failed.")] = False,
    tag: TagOption = None,
    host: HostOption = None,
    since: FromOption = None,
    until: ToOption = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            metavar="N",
            min=1,
            max=10**9,
            help=f"Maximum number of rows. Default: {_LIMIT} without a URL, otherwise all.",
            show_default=False,
        ),
    ] = None,
    warc: Annotated[
        bool, typer.Option("--warc", help="Also show file and offset of each visit's record in the archive.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the visits of a page, or the latest visits of all pages, newest first."""
    start, end = time_range(since, until)
    if changes and errors:
        raise UsageError("--changes and --errors exclude each other. Leave out one of them.")
    if address is not None and (tag or host):
        raise UsageError("--tag and --host select pages: leave them out, or leave out the URL.")
    wanted = VisitFilter(
        which="versions" if changes else "errors" if errors else "all", since=start, until=end, tag=tag, host=host
    )
    if address is not None:
        _show_page(home, address, wanted, limit, as_json=as_json, warc=warc)
    else:
        _show_all(home, wanted, limit or _LIMIT, as_json=as_json, warc=warc)


def _show_page(
    home: Path | None, address: str, wanted: VisitFilter, limit: int | None, *, as_json: bool, warc: bool
) -> None:
    """The visits of one page; the reasons are the last column."""
    node = open_node(home)

    async def collect() -> tuple[str, list[Visit]]:
        async with node.store() as store:
            page = await watched_page(store, address)
            return page.url, await store.visit_log.of_page(
                page.id,
                changes_only=wanted.which == "versions",
                errors_only=wanted.which == "errors",
                since=wanted.since,
                until=wanted.until,
                limit=limit,
            )

    url, visits = run_async(collect)
    if as_json:
        print_json({"url": url, "visits": [visit_json(visit) for visit in visits]})
    elif not visits:
        _say_none(wanted)
    else:
        names = ("at", "outcome", "status", "changed", "size", "duration", *(("WARC record",) if warc else ()), "why")
        print_table(names, (_page_row(visit, warc) for visit in visits))


def _page_row(visit: Visit, warc: bool) -> Sequence[object]:
    return (
        date_time(visit.at),
        visit.outcome,
        status_text(visit),
        changed_text(visit),
        size_text(visit),
        f"{visit.duration_s:.2f}s",
        *((warc_text(visit),) if warc else ()),
        why_text(visit),
    )


def _show_all(home: Path | None, wanted: VisitFilter, limit: int, *, as_json: bool, warc: bool) -> None:
    """The latest visits of all pages; the URL is the last column."""
    node = open_node(home)

    async def collect() -> list[PageVisit]:
        async with node.store() as store:
            return [row async for row in store.visit_log.listed(wanted, limit=limit)]

    found = run_async(collect)
    if as_json:
        print_json(
            {"limit": limit, "visits": [{"page": row.url, "tags": row.tags, **visit_json(row.visit)} for row in found]}
        )
        return
    if not found:
        _say_none(wanted)
        return
    names = ("at", "outcome", "result", "changed", "size", *(("WARC record",) if warc else ()), "page")
    print_table(names, (_all_row(row, warc) for row in found), MAX_CELL)
    if len(found) == limit:
        typer.echo(f"The newest {limit} visits are shown. `--limit N` sets another number.", err=True)


def _all_row(row: PageVisit, warc: bool) -> Sequence[object]:
    visit = row.visit
    return (
        date_time(visit.at),
        visit.outcome,
        cut(result_text(visit)),
        changed_text(visit),
        size_text(visit),
        *((warc_text(visit),) if warc else ()),
        row.url,
    )


def _say_none(wanted: VisitFilter) -> None:
    what = {"versions": "changes", "errors": "failed visits"}.get(wanted.which, "visits")
    has_range = wanted.since is not None or wanted.until is not None
    chosen = " of the selected pages" if wanted.tag or wanted.host else ""
    typer.echo(f"No {what}{chosen} in this time range." if has_range else f"No {what}{chosen} yet.", err=True)


def visit_json(visit: Visit) -> dict[str, Any]:
    """A visit for JSON documents."""
    return {
        "at": iso_or_none(visit.at),
        "outcome": visit.outcome,
        "changed": visit.counts,
        "bytes_changed": visit.raw_changed,
        "kind": visit.kind,
        "significance": visit.significance,
        "reasons": visit.reasons,
        "product_values": visit.product_values,
        "reverted": visit.reverted,
        "new_links": visit.new_links,
        "learned": visit.learned,
        "status": visit.status,
        "failure": visit.failure,
        "duration_s": visit.duration_s,
        "bytes": visit.bytes,
        "headers": visit.headers,
        "raw": visit.raw,
        "text": visit.text,
        "payload": visit.payload,
        "truncated": visit.truncated,
        "warc": visit.position,
        "hops": visit.hops,
    }
