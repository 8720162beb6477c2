"""`webstrata watch`: add pages, lists of pages, or whole sites."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote

import typer
from msgspec import Struct
from msgspec.structs import replace

from webstrata import urls
from webstrata.cli.output import counted, print_json, printable
from webstrata.cli.page_options import (
    AcceptOption,
    EntriesOption,
    GraphOption,
    HandlerOption,
    IgnoreOption,
    IgnoreTextOption,
    IncludeOption,
    LayerOption,
    MinSizeOption,
    OrderedOption,
    PageRowsOption,
    QueryOption,
    UnorderedOption,
    page_rules_of,
)
from webstrata.cli.session import HomeOption, JsonOption, open_node, run_async
from webstrata.errors import BadUrl, UsageError
from webstrata.flows.crawl.discovery import seeds
from webstrata.records import NewPage, Site

_LINE_END = re.compile(r"\r\n|\n|\r")


class BadLine(Struct, frozen=True):
    line: int
    text: str
    problem: str


def command(
    addresses: Annotated[list[str] | None, typer.Argument(metavar="URL", show_default=False)] = None,
    from_file: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="FILE", help="One URL a line, `#` comments, - for stdin; tab: weight, tab: tags."
        ),
    ] = None,
    site: Annotated[
        str | None, typer.Option(metavar="URL", help="Watch a whole site, discovered by links and sitemaps.")
    ] = None,
    scope: Annotated[Literal["prefix", "host", "domain"], typer.Option(help="How far --site reaches.")] = "prefix",
    depth: Annotated[int, typer.Option(min=0, help="--site: links from the start at most.")] = 5,
    max_pages: Annotated[int, typer.Option(min=1, help="--site: pages at most.")] = 10_000,
    include: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="--site: only URLs like this (* and ?).")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="--site: no URLs like this (* and ?).")
    ] = None,
    requisites: Annotated[bool, typer.Option(help="Archive the images, styles and scripts of the pages too.")] = False,
    tag: Annotated[list[str] | None, typer.Option(help="Tag for the pages; may be repeated.")] = None,
    weight: Annotated[float, typer.Option(min=0, help="How much the pages matter, against 1.")] = 1.0,
    handler: HandlerOption = None,
    layer: LayerOption = None,
    select: IncludeOption = None,
    ignore: IgnoreOption = None,
    ignore_text: IgnoreTextOption = None,
    min_size: MinSizeOption = 0.0,
    unordered: UnorderedOption = False,
    ordered: OrderedOption = False,
    accept: AcceptOption = "",
    query: QueryOption = "",
    entries: EntriesOption = False,
    graph: GraphOption = None,
    page_rows: PageRowsOption = 0,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Watch pages. Adding a page again is harmless; a bad line in a file is reported and the rest is taken."""
    if not addresses and from_file is None and site is None:
        raise UsageError("nothing to watch. Give URLs, --from FILE or --site URL.")
    if site is None and (include or exclude):
        raise UsageError("--include and --exclude choose among the pages of a --site. Name one, or leave them out.")
    if not weight < float("inf"):
        raise UsageError("--weight is a number from 0 up.")
    page_rules = page_rules_of(
        handler="sparql" if query else handler or ("sparql" if graph else None),
        layer=layer,
        include=select,
        ignore=ignore,
        ignore_text=ignore_text,
        min_size=min_size,
        unordered=unordered,
        ordered=ordered,
        accept=accept,
        entries=entries,
        graphs=graph,
        page_rows=page_rows,
    )
    if query and graph:
        raise UsageError("a --query says itself which graphs it reads. Leave --graph out.")
    if site is not None and page_rules is not None:
        raise UsageError(
            "pages of a --site are looked at by their tag: `webstrata rules --tag TAG`, and --tag TAG here."
        )
    tags = tuple(tag or ())
    if query:
        addresses = [_asking(address, query) for address in addresses or ()]
    pages = [_page(address, weight=weight, tags=tags, requisites=requisites) for address in addresses or ()]
    bad: list[BadLine] = []
    if from_file is not None:
        listed, bad = read_list(read_lines(from_file), weight=weight, tags=tags, requisites=requisites)
        pages += listed
    if page_rules is not None:
        pages = [replace(page, page_rules=page_rules) for page in pages]
    wanted = None
    if site is not None:
        wanted = Site(
            id=0,
            url=urls.canonical(site),
            scope=scope,
            max_depth=depth,
            max_pages=max_pages,
            include=tuple(include or ()),
            exclude=tuple(exclude or ()),
            requisites=requisites,
            tags=tags,
            weight=weight,
        )
    new, known = run_async(lambda: _add(home, pages, wanted))
    for line in bad:
        typer.echo(f"line {line.line}: {printable(line.problem)}", err=True)
    if as_json:
        print_json({"new": new, "known": known, "site": wanted.url if wanted else None, "bad": bad})
        return
    left_out = f", {counted(len(bad), 'bad line')} left out" if bad else ""
    typer.echo(f"{new} new, {known} known already{left_out}")
    if wanted is not None:
        typer.echo(f"The site {wanted.url} is discovered as it is visited (at most {max_pages} pages).")
    if pages or wanted:
        typer.echo("They are due now: `webstrata crawl` visits them once, `webstrata run` keeps going.")


async def _add(home: Path | None, pages: list[NewPage], site: Site | None) -> tuple[int, int]:
    node = open_node(home)
    now = node.clock.now()
    async with node.store() as store:
        if site is not None:
            pages = pages + seeds(await store.pages.add_site(site, now))
        return await store.pages.add(pages, now)


def read_list(
    lines: Iterable[str], *, weight: float, tags: tuple[str, ...], requisites: bool
) -> tuple[list[NewPage], list[BadLine]]:
    """Pages of a list, and the lines that name none."""
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
            pages.append(_page(address, weight=own_weight, tags=tags + own_tags, requisites=requisites))
        except UsageError as problem:
            bad.append(BadLine(number, text[:200], str(problem)))
    return pages, bad


def _asking(address: str, query: str) -> str:
    """A query is part of the page's address, so that one endpoint can be asked many things."""
    return f"{address}{'&' if '?' in address else '?'}query={quote(query, safe='')}"


def _weight(text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not 0 <= weight < float("inf"):
        raise UsageError(f"the weight {text[:40]!r} is not a number from 0 up. A line is URL, tab, weight, tab, tags.")
    return weight


def _page(address: str, *, weight: float, tags: tuple[str, ...], requisites: bool) -> NewPage:
    try:
        url = urls.canonical(address.strip())
    except BadUrl:
        if "://" not in address and "." in address.partition("/")[0]:
            raise BadUrl(f"{address!r} has no scheme. Did you mean https://{address} ?") from None
        raise
    return NewPage(url=url, host=urls.host_of(url), weight=weight, tags=tags, requisites=requisites)


def read_lines(source: str) -> Iterable[str]:
    """Lines as an editor counts them."""
    try:
        content = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as problem:
        raise UsageError(f"cannot read {source}: {problem.strerror}. Name a file, or - for stdin.") from None
    return _LINE_END.split(content.decode("utf-8-sig", "replace"))
