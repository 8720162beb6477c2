"""`webstrata log URL`: the visits of a page, or only those that found a change."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from webstrata.cli.options import FromOption, HomeOption, JsonOption, LimitOption, ToOption, UrlArgument
from webstrata.cli.output import body_size, cut_note, date_time, iso_or_none, print_json, print_table
from webstrata.cli.session import open_node, run_async, time_range
from webstrata.flows.versions import watched_page
from webstrata.records import Visit


def command(
    address: UrlArgument,
    changes: Annotated[
        bool, typer.Option("--changes", help="Only the first visit and the visits that found a change.")
    ] = False,
    since: FromOption = None,
    until: ToOption = None,
    limit: LimitOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the visits of a page, newest first."""
    start, end = time_range(since, until)
    node = open_node(home)

    async def collect() -> tuple[str, list[Visit]]:
        async with node.store() as store:
            page = await watched_page(store, address)
            return page.url, await store.visit_log.of_page(
                page.id,
                changes_only=changes,
                since=start,
                until=end,
                limit=limit,
            )

    url, visits = run_async(collect)
    if as_json:
        print_json({"url": url, "visits": [visit_json(visit) for visit in visits]})
        return
    if not visits:
        what = "changes" if changes else "visits"
        typer.echo(f"No {what} in this time range." if since or until else f"No {what} yet.", err=True)
        return
    print_table(
        ("at", "outcome", "status", "changed", "size", "duration", "WARC record", "reasons"),
        (
            (
                date_time(visit.at),
                visit.outcome,
                visit.failure.kind if visit.failure else visit.status,
                _changed(visit),
                body_size(visit),
                f"{visit.duration_s:.2f}s",
                f"{visit.position.file}:{visit.position.offset}" if visit.position else "-",
                "; ".join(filter(None, (*visit.reasons, *visit.learned, cut_note(visit)))) or "-",
            )
            for visit in visits
        ),
    )


def _changed(visit: Visit) -> str:
    if not visit.counts:
        return "bytes only" if visit.raw_changed else ""
    return f"{visit.kind} {visit.significance:.2f}" + (" (back)" if visit.reverted else "")


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
