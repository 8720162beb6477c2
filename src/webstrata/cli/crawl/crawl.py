"""`webstrata crawl`: visit the pages that are due, or the pages that are named, once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from webstrata import urls
from webstrata.cli.crawl.loop import run_loop
from webstrata.cli.options import HomeOption, JsonOption, PolicyOption, SetOption
from webstrata.cli.output import date_time
from webstrata.cli.pages.bad_lines import BadLine, require_good_lines, show_bad_lines
from webstrata.cli.pages.known_tags import require_tags
from webstrata.cli.pages.watch import read_lines
from webstrata.cli.session import open_node, run_async, with_policy
from webstrata.errors import NothingFound, UsageError
from webstrata.flows.versions import watched_page
from webstrata.ports import Store
from webstrata.records import Page, PageRole, PageState
from webstrata.schedule.visit_times import allowed_at

if TYPE_CHECKING:
    pass


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

    URLs, --from and --tag add up; of a tag, pages that are snoozed or outside their visit windows are left out. Lines of
    a file that name no page that may be visited are listed on stderr; a file of only such lines, and a tag that no page
    has, are errors (exit code 1). The budget counts these visits, but does not prevent them. Pages that are found on
    named pages are left to the next crawl of due pages.
    """
    node = open_node(home, with_policy(settings, policy))
    node.require_usable()
    names_pages = bool(addresses or tag) or from_file is not None
    lines = _listed(from_file) if from_file is not None else {}

    async def request() -> list[int]:
        async with node.store() as store:
            listed = await _listed_pages(store, from_file, lines, node.clock.now()) if from_file is not None else []
            return list(dict.fromkeys(await _requested(store, addresses or [], tag or (), node.clock.now()) + listed))

    requested = run_async(request) if names_pages else []
    run_loop(node, lambda loop: loop.crawl(requested, due=due or not names_pages), quiet=quiet, as_json=as_json)


def _listed(source: str) -> dict[int, str]:
    """The URLs of a list in the format of `watch --from`, by line number."""
    lines = {number: line.partition("\t")[0].strip() for number, line in enumerate(read_lines(source), 1)}
    return {number: line for number, line in lines.items() if line and not line.startswith("#")}


async def _listed_pages(store: Store, source: str, lines: dict[int, str], now: float) -> list[int]:
    """The ids of the pages of a list that may be visited; the other lines are listed. Raises NothingFound if there are
    none."""
    found: list[int] = []
    bad: list[BadLine] = []
    for number, address in lines.items():
        try:
            found.append((await _page(store, address, now)).id)
        except UsageError as problem:
            bad.append(BadLine(number, address[:200], str(problem)))
    show_bad_lines(bad)
    require_good_lines(source, len(found), bad)
    return found


async def _requested(store: Store, named: list[str], tags: Sequence[str], now: float) -> list[int]:
    """The ids of these pages, each once. Raises an error unless all of them are watched."""
    found = {page.id: page for page in [await _page(store, address, now) for address in dict.fromkeys(named)]}
    await require_tags(store, tags)
    for tag in tags:
        tagged = [page async for page in store.pages.stream(tag=tag, state=PageState.ACTIVE.value)]
        pages = [page for page in tagged if page.role is not PageRole.REQUISITE]
        found |= {page.id: page for page in pages if allowed_at(page, now) <= now}
        if not tagged:
            raise NothingFound(f"no watched page has the tag {tag!r}. `webstrata watch URL` resumes visits of a page.")
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
