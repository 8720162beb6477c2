"""`webstrata list`: the watched pages."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from webstrata.cli.history.signals import trust_json
from webstrata.cli.output import ahead, moment, print_json, print_table, when
from webstrata.cli.session import HomeOption, JsonOption, open_node, run_async
from webstrata.records import Page, PageRole, SignalSource


def command(
    tag: Annotated[str | None, typer.Option(help="Only pages with this tag.")] = None,
    host: Annotated[str | None, typer.Option(help="Only pages of this host.")] = None,
    state: Annotated[
        Literal["active", "paused"] | None, typer.Option(help="Only pages that are visited, or only unwatched ones.")
    ] = None,
    requisites: Annotated[bool, typer.Option(help="Show images, styles and scripts too.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="At most this many.")] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the watched pages: state, last change, next visit."""
    node = open_node(home)

    async def collect() -> tuple[list[Page], dict[str, SignalSource]]:
        found: list[Page] = []
        async with node.store() as store:
            sources = {source.url: source for source in await store.signals.sources()}
            async for page in store.pages.stream(tag=tag, host=host, state=state):
                if requisites or page.role is not PageRole.REQUISITE:
                    found.append(page)
                if limit is not None and len(found) >= limit:
                    break
        return found, sources

    pages, sources = run_async(collect)
    if as_json:
        print_json({"pages": [page_json(page, sources.get(page.url)) for page in pages]})
        return
    if not pages:
        filtered = tag or host or state
        typer.echo(
            "No watched page is like that." if filtered else "No pages yet. `webstrata watch URL` adds some.", err=True
        )
        return
    now = node.clock.now()
    print_table(
        ("status", "last change", "next visit", "visits", "changes", "tags", "page"),
        (
            (
                page.last_outcome or "-",
                moment(page.last_change_at),
                "paused" if page.state == "paused" else ahead(page.next_at, now),
                page.visits,
                page.changes,
                ", ".join(page.tags) or "-",
                page.url,
            )
            for page in pages
        ),
    )


def page_json(page: Page, source: SignalSource | None = None) -> dict[str, Any]:
    return {
        "url": page.url,
        "host": page.host,
        "role": page.role,
        "state": page.state,
        "tags": page.tags,
        "weight": page.weight,
        "visits": page.visits,
        "changes": page.changes,
        "failures": page.failures,
        "status": page.last_outcome,
        "gone": page.gone,
        "last_visit": when(page.last_visit_at),
        "last_change": when(page.last_change_at),
        "next_visit": when(page.next_at),
        "interval_s": page.interval_s,
        "reason": page.reason,
        "as_source": None if source is None else trust_json(source),
    }
