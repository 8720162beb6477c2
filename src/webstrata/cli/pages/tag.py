"""`webstrata tag`: add tags to watched pages, or remove them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from webstrata.cli.options import HomeOption, JsonOption, TagOption
from webstrata.cli.output import counted, print_json, print_table, printable
from webstrata.cli.pages.known_tags import checked_tags, require_tags
from webstrata.cli.session import open_node, run_async
from webstrata.errors import UsageError
from webstrata.flows.versions import watched_page


def command(
    addresses: Annotated[
        list[str] | None, typer.Argument(metavar="URL", help="URLs of the pages.", show_default=False)
    ] = None,
    tag: TagOption = None,
    add: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="Add this tag. May be repeated.", show_default=False)
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="Remove this tag. May be repeated.", show_default=False)
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add tags to pages, or remove them. --remove without pages removes the tag from all pages and sites.

    Without options, list all tags and the number of their pages. A running crawler applies new tags within a day.
    """
    added, removed = checked_tags(add or ()), tuple(remove or ())
    if both := sorted({*added} & {*removed}):
        raise UsageError(f"--add and --remove name the same tag ({printable(both[0])}). Leave one of them out.")
    if not added and not removed:
        if addresses or tag is not None:
            raise UsageError("nothing to do. Give --add TAG or --remove TAG.")
        _show(run_async(lambda: _counts(home)), as_json)
        return
    if added and not addresses and tag is None:
        raise UsageError("--add needs pages: name URLs, or --tag TAG for the pages with another tag.")

    async def apply() -> tuple[int, int]:
        async with open_node(home).store() as store:
            await require_tags(store, [tag] if tag is not None else removed if not addresses else ())
            ids = [(await watched_page(store, address)).id for address in addresses or ()]
            everywhere = removed if not addresses and tag is None else ()
            for one in [tag] if tag is not None else everywhere:
                ids += [page.id async for page in store.pages.stream(tag=one)]
            sites = await store.pages.remove_site_tags(everywhere) if everywhere else 0
            return await store.pages.retag(ids, added, removed), sites

    pages, sites = run_async(apply)
    if as_json:
        print_json({"changed": pages, "sites": sites})
        return
    more = f" and {counted(sites, 'site')}" if sites else ""
    typer.echo(f"{counted(pages, 'page')}{more} changed.")
    if not pages and not sites:
        typer.echo("`webstrata tag` lists all tags, `webstrata list` the tags of each page.")


def _show(counts: dict[str, int], as_json: bool) -> None:
    if as_json:
        print_json({"tags": [{"tag": tag, "pages": pages} for tag, pages in counts.items()]})
    elif counts:
        print_table(("pages", "tag"), ((pages, tag) for tag, pages in counts.items()))
    else:
        typer.echo("No page has a tag yet. `webstrata tag URL --add TAG` adds one.")


async def _counts(home: Path | None) -> dict[str, int]:
    async with open_node(home).store() as store:
        return dict(sorted((await store.maintenance.tag_counts()).items()))
