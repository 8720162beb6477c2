"""`webstrata rules`: say how a page, or all pages of a tag, are looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from webstrata.cli.output import print_json, printable
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
    page_rules_json,
    page_rules_of,
)
from webstrata.cli.session import HomeOption, JsonOption, open_node, run_async
from webstrata.errors import UsageError
from webstrata.flows.versions import watched_page
from webstrata.records import PageRules


def command(
    address: Annotated[str | None, typer.Argument(metavar="URL", show_default=False)] = None,
    tag: Annotated[
        str | None, typer.Option("--tag", help="For all pages of this tag that have no wish of their own.")
    ] = None,
    handler: HandlerOption = None,
    layer: LayerOption = None,
    include: IncludeOption = None,
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
    clear: Annotated[bool, typer.Option("--clear", help="Back to the defaults.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show or set how a page (or a tag's pages) are looked at: handler, layer that counts, rules. `preview` tries rules out."""
    if (address is None) == (tag is None):
        raise UsageError("name either a watched URL or a --tag.")
    wish = page_rules_of(
        handler=handler or ("sparql" if graph else None),
        layer=layer,
        include=include,
        ignore=ignore,
        ignore_text=ignore_text,
        min_size=min_size,
        unordered=unordered,
        ordered=ordered,
        accept=accept,
        query=query,
        entries=entries,
        graphs=graph,
        page_rows=page_rows,
    )
    if clear and wish is not None:
        raise UsageError("--clear stands alone: it takes all wishes back.")
    held = run_async(lambda: _apply(home, address, tag, wish, clear=clear))
    document: dict[str, Any] = {"url": address, "tag": tag, "rules": page_rules_json(held)}
    if as_json:
        print_json(document)
    elif held is None:
        typer.echo("Looked at by the defaults: useful content or data, without rules.")
    else:
        for name, value in document["rules"].items():
            typer.echo(f"{name:<12} {printable(value)}")


async def _apply(
    home: Path | None, address: str | None, tag: str | None, wish: PageRules | None, *, clear: bool
) -> PageRules | None:
    """Set what was asked for; what holds then."""
    async with open_node(home).store() as store:
        if address is not None:
            page = await watched_page(store, address)
            if wish is not None or clear:
                await store.pages.set_rules(page.id, wish)
                return wish
            return page.page_rules
        assert tag is not None
        if wish is not None or clear:
            await store.pages.set_tag_rules(tag, wish)
            return wish
        return (await store.pages.tag_rules()).get(tag)
