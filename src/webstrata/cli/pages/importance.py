"""`webstrata importance`: which pages are central in the link graph."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from webstrata.cli.options import HomeOption, HostOption, JsonOption
from webstrata.cli.output import counted, print_json, print_table, progress_bar
from webstrata.cli.session import open_node, run_async
from webstrata.errors import NothingFound
from webstrata.records import Importance, Page

_CHUNK = 1_000


def command(
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, max=10**9, help="Number of pages to show.")] = 20,
    host: HostOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compute and store the importance of all pages from their links, and show the most important ones.

    The rank is PageRank: 1 is the mean of all pages. Links that were ever seen on a page count. The depth is the number
    of links from the start page of the host.
    """
    from webstrata.flows.importance import update_importance

    node = open_node(home)

    async def compute() -> tuple[dict[str, int], list[tuple[Page, Importance]]]:
        async with node.store() as store:
            if host is not None and not [page async for page in store.pages.stream(host=host, limit=1)]:
                raise NothingFound(f"no page of the host {host[:100]!r} is known. `webstrata list` shows all pages.")
            with progress_bar("reading the links", unit="rows") as on_progress:
                result = await update_importance(store, on_progress)
            counts = {"pages": len(result.rows), "links": result.links, "unknown_links": result.unknown_links}
            ranked = sorted(result.rows, key=lambda row: (-row.rank, row.page_id))
            shown: list[tuple[Page, Importance]] = []
            for start in range(0, len(ranked), _CHUNK):
                part = ranked[start : start + _CHUNK]
                pages = await store.pages.by_id([row.page_id for row in part])
                found = [(pages[row.page_id], row) for row in part if row.page_id in pages]
                shown += [pair for pair in found if host is None or pair[0].host == host]
                if len(shown) >= top:
                    break
            return counts, shown[:top]

    counts, shown = run_async(compute)
    if as_json:
        print_json({**counts, "rows": [_row_json(page, row) for page, row in shown]})
        return
    typer.echo(
        f"{counted(counts['pages'], 'page')} with {counted(counts['links'], 'link')} between them; "
        f"{counted(counts['unknown_links'], 'link')} to other pages."
    )
    rows = [[f"{row.rank:.2f}", row.in_links, _depth(row), page.url] for page, row in shown]
    print_table(("rank", "in-links", "depth", "page"), rows)


def _row_json(page: Page, row: Importance) -> dict[str, Any]:
    return {"url": page.url, "rank": row.rank, "in_links": row.in_links, "link_depth": row.link_depth}


def _depth(row: Importance) -> str:
    return "-" if row.link_depth is None else str(row.link_depth)
