"""`webstrata list`: the watched pages."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from webstrata.cli.history.signals import trust_json
from webstrata.cli.options import HomeOption, JsonOption, LimitOption, TagOption
from webstrata.cli.output import date_time, iso_or_none, print_json, print_table, time_until
from webstrata.cli.pages.known_tags import require_tags
from webstrata.cli.pages.visit_times import visit_times_json
from webstrata.cli.session import open_node, run_async
from webstrata.clock import span
from webstrata.errors import NothingFound
from webstrata.records import Page, PageRole, PageState, SignalSource
from webstrata.schedule.visit_times import shown_next_at


def command(
    tag: TagOption = None,
    host: Annotated[str | None, typer.Option(help="Only pages of this host.")] = None,
    state: Annotated[
        Literal["active", "paused", "captured"] | None,
        typer.Option(
            help="Only pages in this state; paused pages are no longer watched, captured ones are only known from a "
            "site capture and not listed by default."
        ),
    ] = None,
    requisites: Annotated[bool, typer.Option(help="Also list images, style sheets and scripts.")] = False,
    limit: LimitOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the watched pages, with the last outcome, the last change and the next visit of each.

    A tag or a host that no page has is an error (exit code 1).
    """
    node = open_node(home)

    async def collect() -> tuple[list[Page], dict[str, SignalSource]]:
        pages: list[Page] = []
        async with node.store() as store:
            if tag is not None:
                await require_tags(store, [tag])
            sources = {source.url: source for source in await store.signals.sources()}
            async for page in store.pages.stream(tag=tag, host=host, state=state):
                if page.state is PageState.CAPTURED and state is None:
                    continue
                if requisites or page.role is not PageRole.REQUISITE:
                    pages.append(page)
                if limit is not None and len(pages) >= limit:
                    break
            if host is not None and not pages and not [page async for page in store.pages.stream(host=host)]:
                raise NothingFound(f"no page of the host {host[:100]!r} is known. `webstrata list` shows all pages.")
        return pages, sources

    pages, sources = run_async(collect)
    now = node.clock.now()
    if as_json:
        print_json({"pages": [page_json(page, now, sources.get(page.url)) for page in pages]})
        return
    if not pages:
        filtered = tag or host or state
        typer.echo(
            "No page matches." if filtered else "No page is watched yet. `webstrata watch URL` adds a page.", err=True
        )
        return
    print_table(
        ("status", "last change", "next visit", "visits", "changes", "tags", "page"),
        (
            (
                page.last_outcome or "-",
                date_time(page.last_change_at),
                _next_visit(page, now),
                page.visits,
                page.changes,
                ", ".join(page.tags) or "-",
                page.url,
            )
            for page in pages
        ),
    )


def _next_visit(page: Page, now: float) -> str:
    """The next visit, with the rhythm, window or snooze that a user set."""
    if page.state is not PageState.ACTIVE:
        return page.state
    at = shown_next_at(page, now)
    text = time_until(at, now)
    if page.snoozed_until is not None and page.snoozed_until > now:
        return f"{text}, snoozed"
    if page.every_s is not None:
        text += f", every {span(page.every_s)}"
    return text if at == page.next_at else f"{text}, by window"


def page_json(page: Page, now: float, source: SignalSource | None = None) -> dict[str, Any]:
    """A page for JSON documents; `source` is set if the page is a feed or sitemap that gives signals."""
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
        "last_visit": iso_or_none(page.last_visit_at),
        "last_change": iso_or_none(page.last_change_at),
        "interval_s": page.interval_s,
        "reason": page.reason,
        **visit_times_json(page, now),
        "as_source": None if source is None else trust_json(source),
    }
