"""`webstrata list`: the watched pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from webstrata.cli.history.signals import trust_json
from webstrata.cli.history.visit_text import MAX_CELL, cut, failure_class, failure_json, failure_text
from webstrata.cli.options import HomeOption, HostOption, JsonOption, LimitOption, TagOption
from webstrata.cli.output import date_time, iso_or_none, print_json, print_table, size, time_until
from webstrata.cli.pages.known_tags import require_tags
from webstrata.cli.pages.visit_times import visit_times_json
from webstrata.cli.session import instant_or_ago, open_node, run_async
from webstrata.clock import span
from webstrata.errors import NothingFound, UsageError
from webstrata.records import FailingPage, Outcome, Page, PageFilter, PageOrder, PageState, SignalSource
from webstrata.schedule.visit_times import shown_next_at

if TYPE_CHECKING:
    from webstrata.ports import Store

_CHUNK = 500
"""Pages whose failures are read together."""


class PageRow(NamedTuple):
    """A page with its last failure, if its last visit failed."""

    page: Page
    failing: FailingPage | None = None


def command(
    tag: TagOption = None,
    host: HostOption = None,
    state: Annotated[
        Literal["active", "paused", "captured"] | None,
        typer.Option(
            help="Only pages in this state; paused pages are no longer watched, captured ones are only known from a "
            "site capture and not listed by default."
        ),
    ] = None,
    requisites: Annotated[bool, typer.Option(help="Also list images, style sheets and scripts.")] = False,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only pages that have changed, the newest change first.")
    ] = False,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="TIME",
            help="With --changed: only pages whose last change was found since this time, or in this duration before "
            "now (12h, 7d).",
            show_default=False,
        ),
    ] = None,
    errors: Annotated[
        bool, typer.Option("--errors", help="Only pages whose last visit failed: since when, how often, and why.")
    ] = False,
    sort: Annotated[
        PageOrder | None,
        typer.Option(
            "--sort",
            help="Order: URL, added and next visit from the first on; last change, last visit, number of changes and "
            "of failures in a row, and size from the latest or largest on. Default: added; changed with --changed, "
            "failures with --errors.",
            show_default=False,
        ),
    ] = None,
    reverse: Annotated[bool, typer.Option("--reverse", help="Reverse the order.")] = False,
    limit: LimitOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the watched pages, with the last outcome, the last change and the next visit of each.

    A tag or a host that no page has is an error (exit code 1).
    """
    node = open_node(home)
    now = node.clock.now()
    if since is not None and not changed:
        raise UsageError("--since selects pages by their last change: add --changed.")
    wanted = PageFilter(
        tag=tag,
        host=host,
        state=None if state is None else PageState(state),
        requisites=requisites,
        changed=changed,
        since=None if since is None else instant_or_ago(since, now),
        errors=errors,
    )
    order: PageOrder = sort or ("failures" if errors else "changed" if changed else "added")
    columns = _error_columns(now) if errors else _columns(now, order)

    async def collect() -> list[Any]:
        async with node.store() as store:
            if tag is not None:
                await require_tags(store, [tag])
            sources = {source.url: source for source in await store.signals.sources()}
            if host is not None and not [page async for page in store.pages.stream(host=host, limit=1)]:
                raise NothingFound(f"no page of the host {host[:100]!r} is known. `webstrata list` shows all pages.")

            def shown(listed: PageRow) -> Any:
                if as_json:
                    return page_json(listed.page, now, sources.get(listed.page.url), listed.failing)
                return [cell(listed) for cell in columns.values()]

            rows: list[Any] = []
            chunk: list[Page] = []
            async for page in store.pages.listed(wanted, order, reverse=reverse, limit=limit):
                chunk.append(page)
                if len(chunk) == _CHUNK:
                    rows += map(shown, await _with_failures(store, chunk))
                    chunk.clear()
            return [*rows, *map(shown, await _with_failures(store, chunk))]

    rows = run_async(collect)
    if as_json:
        print_json({"pages": rows})
        return
    if not rows:
        filtered = tag or host or state or changed or errors
        typer.echo(
            "No page matches." if filtered else "No page is watched yet. `webstrata watch URL` adds a page.", err=True
        )
        return
    print_table(list(columns), rows, MAX_CELL)


async def _with_failures(store: Store, pages: Sequence[Page]) -> list[PageRow]:
    """The pages, with the failures of those whose last visit failed."""
    failed = [page.id for page in pages if page.last_outcome is Outcome.ERROR]
    failing = await store.visit_log.failing(failed) if failed else {}
    return [PageRow(page, failing.get(page.id)) for page in pages]


Columns = dict[str, Callable[[PageRow], object]]
"""Heading -> cell."""


def _columns(now: float, order: PageOrder) -> Columns:
    """The columns of a table; a column that the table is sorted by is one of them."""
    sorted_by: dict[PageOrder, Columns] = {
        "added": {},
        "visited": {"last visit": lambda listed: date_time(listed.page.last_visit_at)},
        "failures": {"failures": lambda listed: listed.page.failures},
        "size": {"size": lambda listed: "-" if listed.page.full_bytes is None else size(listed.page.full_bytes)},
    }
    return {
        "status": _status,
        "last change": lambda listed: date_time(listed.page.last_change_at),
        "next visit": lambda listed: _next_visit(listed.page, now),
        "visits": lambda listed: listed.page.visits,
        "changes": lambda listed: listed.page.changes,
        **sorted_by.get(order, {}),
        "tags": lambda listed: ", ".join(listed.page.tags) or "-",
        "page": lambda listed: listed.page.url,
    }


def _error_columns(now: float) -> Columns:
    """The columns of a table of failing pages."""
    return {
        "fails since": lambda listed: date_time(listed.failing.since if listed.failing else None),
        "failures": lambda listed: listed.page.failures,
        "next visit": lambda listed: _next_visit(listed.page, now),
        "reason": _reason,
        "page": lambda listed: listed.page.url,
    }


def _status(listed: PageRow) -> str:
    """The last outcome; of a failing page with status and class of the failure."""
    if listed.failing is not None:
        return f"error: {failure_class(listed.failing.status, listed.failing.failure)}"
    return listed.page.last_outcome or "-"


def _reason(listed: PageRow) -> str:
    """Why the last visit failed, in words."""
    return "-" if listed.failing is None else cut(failure_text(listed.failing.status, listed.failing.failure))


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


def page_json(
    page: Page, now: float, source: SignalSource | None = None, failing: FailingPage | None = None
) -> dict[str, Any]:
    """A page for JSON documents; `source` is set if the page is a feed or sitemap that gives signals."""
    return {
        "url": page.url,
        "host": page.host,
        "role": page.role,
        "state": page.state,
        "tags": page.tags,
        "weight": page.weight,
        "added": iso_or_none(page.added_at),
        "visits": page.visits,
        "changes": page.changes,
        "failures": page.failures,
        "status": page.last_outcome,
        "last_failure": failure_json(failing),
        "gone": page.gone,
        "size": page.full_bytes,
        "last_visit": iso_or_none(page.last_visit_at),
        "last_change": iso_or_none(page.last_change_at),
        "interval_s": page.interval_s,
        "reason": page.reason,
        **visit_times_json(page, now),
        "as_source": None if source is None else trust_json(source),
    }
