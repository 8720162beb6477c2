"""`webstrata watch`: add pages, lists of pages, or whole sites to the schedule."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

import typer
from msgspec.structs import replace

from webstrata import urls
from webstrata.cli.crawl.limit_demand import limit_demand_json, limit_demand_lines, limit_demand_of
from webstrata.cli.options import HomeOption, JsonOption, RuleValues, page_rules_of, with_rule_options
from webstrata.cli.output import counted, print_json
from webstrata.cli.pages.bad_lines import BadLine, require_good_lines, show_bad_lines
from webstrata.cli.pages.known_tags import checked_tags
from webstrata.cli.pages.visit_times import AtOption, EveryOption, GivenTimes, given_times, set_times
from webstrata.cli.session import open_node, run_async
from webstrata.errors import BadUrl, UsageError
from webstrata.masking import masked
from webstrata.records import NewPage, Site
from webstrata.schedule.visit_windows import parse_windows

MAX_WEIGHT = 1e6
_LINE_END = re.compile(r"\r\n|\n|\r")


@with_rule_options()
def command(
    *,
    addresses: Annotated[
        list[str] | None, typer.Argument(metavar="URL", help="URLs of the pages.", show_default=False)
    ] = None,
    from_file: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Read URLs from a file (- for stdin), one per line, optionally followed by a tab and the weight, and "
            "a tab and tags separated by commas. Lines that begin with # are comments.",
        ),
    ] = None,
    site: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Watch a whole site from this URL on. Its pages are found by links and sitemaps."
        ),
    ] = None,
    scope: Annotated[
        Literal["prefix", "host", "domain"] | None,
        typer.Option(
            help="With --site: watch the pages below this URL (prefix, the default), of the same host, or of the same domain.",
            show_default=False,
        ),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=10**6,
            help="With --site: how many links away from the start page a page may be. Default: 5.",
            show_default=False,
        ),
    ] = None,
    max_pages: Annotated[
        int | None,
        typer.Option(
            min=1, max=10**9, help="With --site: maximum number of pages. Default: 10,000.", show_default=False
        ),
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="With --site: watch only URLs that match this pattern, like `*/news/*`; `*` stands for any text, `?` for one character. May be repeated.",
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN", help="With --site: do not watch URLs that match this pattern. May be repeated."
        ),
    ] = None,
    requisites: Annotated[
        bool, typer.Option(help="Also archive the images, style sheets and scripts of the pages.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="With --from: watch nothing, and exit with code 1, if any line is bad.")
    ] = False,
    tag: Annotated[list[str] | None, typer.Option(help="Add this tag to the pages. May be repeated.")] = None,
    weight: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=MAX_WEIGHT,
            help="How much a change of these pages is worth: 2 is worth twice the default of 1 when the budget is shared out.",
            show_default=False,
        ),
    ] = None,
    every: EveryOption = None,
    at: AtOption = None,
    rules: RuleValues,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Watch pages: visit them from now on, and archive their versions.

    Pages that are already watched keep their weight, rules and schedule unless options change them; tags and rules are
    added. Bad lines of a file are listed on stderr, and the other lines are used (exit code 0); if there are no other
    lines, or with --strict, nothing is watched and the exit code is 1.
    """
    if not addresses and from_file is None and site is None:
        raise UsageError("nothing to watch. Give URLs, --from FILE or --site URL.")
    if site is None and (include or exclude):
        raise UsageError("--include and --exclude require --site. Leave them out, or add --site URL.")
    if weight is not None and math.isnan(weight):
        raise UsageError("--weight must be a number of at least 0.")
    query = rules["query"]
    page_rules = page_rules_of(**rules | {"handler": "sparql", "query": ""}) if query else page_rules_of(**rules)
    if query and rules["graph"]:
        raise UsageError("--graph cannot be combined with --query: name the graphs in the query.")
    if site is not None and page_rules is not None:
        raise UsageError(
            "the pages of a --site have the rules of their tag. Add --tag TAG, and set the rules with "
            "`webstrata rules --tag TAG`."
        )
    times = given_times(every, at)
    tags = checked_tags(tag or ())
    if query:
        addresses = [_query_url(address, query) for address in addresses or ()]
    pages = [_page(address, weight=weight, tags=tags, requisites=requisites) for address in addresses or ()]
    bad: list[BadLine] = []
    if from_file is not None:
        listed, bad = read_list(read_lines(from_file), weight=weight, tags=tags, requisites=requisites)
        pages += listed
        show_bad_lines(bad)
        require_good_lines(from_file, len(listed), bad, strict=strict)
    if page_rules is not None:
        pages = [replace(page, page_rules=page_rules) for page in pages]
    changes: dict[str, Any] = {
        "scope": scope,
        "max_depth": depth,
        "max_pages": max_pages,
        "include": tuple(include) if include else None,
        "exclude": tuple(exclude) if exclude else None,
        "requisites": requisites or None,
        "weight": weight,
    }
    changes = {name: value for name, value in changes.items() if value is not None}
    site_url = urls.canonical(site) if site is not None else None
    (new, known), new_site, demand = run_async(lambda: _add(home, pages, times, site_url, changes, tags))
    if as_json:
        print_json(
            {"new": new, "known": known, "site": new_site.url if new_site else None, "bad": bad, "limit_demand": demand}
        )
        return
    skipped = f", {counted(len(bad), 'bad line')} skipped" if bad else ""
    typer.echo(f"{new} new, {known} already known{skipped}")
    if new_site is not None:
        typer.echo(
            f"The pages of {new_site.url} are discovered during visits (at most {counted(new_site.max_pages, 'page')})."
        )
    if new or new_site:
        typer.echo(
            "New pages are due now: `webstrata crawl` visits them once, `webstrata run` visits them continuously."
        )
    elif pages:
        typer.echo("Watched pages keep their schedule: `webstrata crawl URL` visits one now.")
    for warning in limit_demand_lines(demand):
        typer.echo(warning)


async def _add(
    home: Path | None,
    pages: list[NewPage],
    times: GivenTimes,
    site_url: str | None,
    changes: dict[str, Any],
    tags: tuple[str, ...],
) -> tuple[tuple[int, int], Site | None, dict[str, Any] | None]:
    """Add pages, and a site with these changes to what is stored of it; returns (new, known), the site, and what limits
    ask for."""
    from webstrata.flows.crawl.discovery import seeds

    node = open_node(home)
    now = node.clock.now()
    async with node.store() as store:
        known = [] if times.is_empty else sorted(await store.pages.known([page.url for page in pages]))
        if not times.is_empty:
            first_at = parse_windows(times.new_windows).next_open(now) if times.new_windows else None
            pages = [
                replace(page, every_s=times.every_s, windows=times.new_windows, next_at=first_at) for page in pages
            ]
        site = None
        if site_url is not None:
            before = next((one for one in await store.pages.sites() if one.url == site_url), Site(id=0, url=site_url))
            site = replace(before, **changes, **times.site_fields(), tags=tuple(dict.fromkeys(before.tags + tags)))
            gate = await node.gate(store)  # a capture may have fetched robots.txt already
            sitemaps = gate.sitemaps(urls.origin(site.url), now)
            pages = pages + seeds(await store.pages.add_site(site, now), sitemaps)
        counts = await store.pages.add(pages, now)
        changed = [page for url in known if (page := await store.pages.get(url)) is not None]
        if changed:
            await set_times(store, changed, times, now)
        return counts, site, limit_demand_json(await limit_demand_of(node, store))


def read_list(
    lines: Iterable[str], *, weight: float | None, tags: tuple[str, ...], requisites: bool
) -> tuple[list[NewPage], list[BadLine]]:
    """The pages of a list, and its bad lines."""
    pages: list[NewPage] = []
    bad: list[BadLine] = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        address, *rest = text.split("\t")
        try:
            own_weight = _weight(rest[0]) if rest and rest[0].strip() else weight
            own_tags = tuple(part.strip() for part in rest[1].split(",") if part.strip()) if len(rest) > 1 else ()
            pages.append(_page(address, weight=own_weight, tags=tags + checked_tags(own_tags), requisites=requisites))
        except UsageError as problem:
            bad.append(BadLine(number, masked(text[:200]), str(problem)))
    return pages, bad


def _query_url(address: str, query: str) -> str:
    """The URL of a query: each query to an endpoint is a page of its own."""
    return f"{address}{'&' if '?' in address else '?'}query={quote(query, safe='')}"


def _weight(text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not 0 <= weight <= MAX_WEIGHT:
        raise UsageError(
            f"the weight {text[:40]!r} is not a number of at least 0 and at most {MAX_WEIGHT:g}. The columns are URL, "
            "weight and tags."
        )
    return weight


def _page(address: str, *, weight: float | None, tags: tuple[str, ...], requisites: bool) -> NewPage:
    try:
        url = urls.canonical(address.strip())
    except BadUrl:
        if "://" not in address and "." in address.partition("/")[0]:
            raise BadUrl(f"{address!r} has no scheme. Did you mean https://{address} ?") from None
        raise
    return NewPage(url=url, host=urls.host_of(url), weight=weight, tags=tags, requisites=requisites)


def read_lines(source: str) -> Iterable[str]:
    """The lines of a file or of stdin, with any line ending."""
    try:
        content = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as problem:
        raise UsageError(f"cannot read {source}: {problem.strerror}. Name a file, or - for stdin.") from None
    return _LINE_END.split(content.decode("utf-8-sig", "replace"))
