"""`webstrata crawl`: visit the pages that are due, or the pages that are named, once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from webstrata import urls
from webstrata.cli.crawl.loop import run_loop
from webstrata.cli.options import HomeOption, JsonOption, PolicyOption, SetOption
from webstrata.cli.output import date_time, printable
from webstrata.cli.pages.watch import read_lines
from webstrata.cli.session import open_node, run_async, with_policy
from webstrata.errors import UsageError
from webstrata.flows.versions import watched_page
from webstrata.ports import Store
from webstrata.records import Page, PageRole, PageState
from webstrata.schedule.visit_times import allowed_at

if TYPE_CHECKING:
    from webstrata.node import Node


def command(
    addresses: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="URL…",
            help="URLs of watched pages to visit, due or not. Other pages are then not visited.",
            show_default=False,
        ),
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="TAG", help="Visit all pages with this tag, due or not. May be repeated."),
    ] = None,
    from_file: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Visit the watched pages of a file (- for stdin), one URL per line, due or not.",
            show_default=False,
        ),
    ] = None,
    due: Annotated[
        bool,
        typer.Option(
            "--due", help="Also visit all pages that are due. This is the default if no page, tag or file is named."
        ),
    ] = False,
    policy: PolicyOption = None,
    home: HomeOption = None,
    settings: SetOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Visit the pages that are due, once, and exit; suitable for cron. Or visit the pages that are named, and no others.

    URLs, --from and --tag add up; of a tag, pages that are snoozed or outside their visit windows are left out. The
    budget counts these visits, but does not prevent them. Pages that are found on named pages are left to the next
    crawl of due pages.
    """
    node = open_node(home, with_policy(settings, policy))
    named = list(addresses or ())
    if from_file is not None:
        named += _listed(from_file)
    requested = run_async(lambda: _requested(node, named, tag or ())) if named or tag else []
    run_loop(node, lambda loop: loop.crawl(requested, due=due or not (named or tag)), quiet=quiet, as_json=as_json)


def _listed(source: str) -> list[str]:
    """The URLs of a list in the format of `watch --from`."""
    lines = [line.partition("\t")[0].strip() for line in read_lines(source)]
    listed = [line for line in lines if line and not line.startswith("#")]
    if not listed:
        raise UsageError(f"{source} names no page. Write one URL per line.")
    return listed


async def _requested(node: Node, named: list[str], tags: Sequence[str]) -> list[int]:
    """The ids of these pages, each once. Raises UsageError unless all of them are watched."""
    now = node.clock.now()
    async with node.store() as store:
        found = {page.id: page for page in [await _page(store, address, now) for address in dict.fromkeys(named)]}
        for tag in tags:
            tagged = [page async for page in store.pages.stream(tag=tag, state=PageState.ACTIVE.value)]
            pages = [page for page in tagged if page.role is not PageRole.REQUISITE]
            found |= {page.id: page for page in pages if allowed_at(page, now) <= now}
            if not tagged:
                raise UsageError(
                    f"no watched page has the tag {printable(tag)}. `webstrata watch URL --tag TAG` adds it to a page."
                )
    return list(found)


async def _page(store: Store, address: str, now: float) -> Page:
    """A page that may be visited now. Raises UsageError with the remedy if it may not."""
    page = await watched_page(store, address)
    if page.state is not PageState.ACTIVE:
        url = urls.canonical(address)
        why = "only known from a capture" if page.state is PageState.CAPTURED else "no longer watched"
        raise UsageError(f"{url} is {why}. `webstrata watch {url}` resumes its visits.")
    opens_at = allowed_at(page, now)
    if page.snoozed_until is not None and page.snoozed_until > now:
        until = date_time(page.snoozed_until)
        raise UsageError(f"{page.url} is snoozed until {until} UTC. `webstrata snooze {page.url} --end` ends this.")
    if opens_at > now:
        raise UsageError(
            f"{page.url} may be visited only {page.windows}; the next window opens {date_time(opens_at)} UTC. "
            f"`webstrata interval {page.url} --at none` removes its windows."
        )
    return page
