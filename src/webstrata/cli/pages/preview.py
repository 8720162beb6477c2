"""`webstrata preview URL`: what would be compared, before and after the rules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from webstrata import urls
from webstrata.cli.output import print_json, printable
from webstrata.cli.page_options import (
    AcceptOption,
    HandlerOption,
    IgnoreOption,
    IgnoreTextOption,
    IncludeOption,
    LayerOption,
    OrderedOption,
    QueryOption,
    UnorderedOption,
    page_rules_json,
    page_rules_of,
)
from webstrata.cli.session import HomeOption, JsonOption, open_node, run_async
from webstrata.detect.response_class import StatusClass
from webstrata.detect.response_class import status_class
from webstrata.errors import UsageError
from webstrata.flows.crawl.parse import with_tag_rules
from webstrata.flows.preview import Preview, preview
from webstrata.flows.versions import read_version, version_at
from webstrata.records import PageRules


def command(
    address: Annotated[str, typer.Argument(metavar="URL", show_default=False)],
    handler: HandlerOption = None,
    layer: LayerOption = None,
    include: IncludeOption = None,
    ignore: IgnoreOption = None,
    ignore_text: IgnoreTextOption = None,
    unordered: UnorderedOption = False,
    ordered: OrderedOption = False,
    accept: AcceptOption = "",
    query: QueryOption = "",
    live: Annotated[bool, typer.Option("--live", help="Visit it now, though a version is archived.")] = False,
    lines: Annotated[int, typer.Option(min=1, help="Show this many lines of each text.")] = 40,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what would be compared of a page, before and after the rules; keeps nothing. Uses the newest archived version."""
    url = urls.canonical(address)
    wish = page_rules_of(
        handler=handler,
        layer=layer,
        include=include,
        ignore=ignore,
        ignore_text=ignore_text,
        unordered=unordered,
        ordered=ordered,
        accept=accept,
        query=query,
    )
    trial, page_rules = run_async(lambda: _try(home, url, wish, live=live))
    if as_json:
        print_json(
            {
                "url": url,
                "media_type": trial.media_type,
                "layers": trial.layers,
                "rules": page_rules_json(page_rules),
                "before": trial.before,
                "after": trial.after,
                "note": trial.note,
                "fingerprint": msgspec.to_builtins(trial.fingerprint),
            }
        )
        return
    typer.echo(f"{printable(url)}  {trial.media_type}, compared by {', then '.join(trial.layers)}")
    if trial.note:
        typer.echo(f"note: {printable(trial.note)}")
    _show("before the rules" if trial.after is not None else "useful content", trial.before, lines)
    if trial.after is not None:
        _show("after the rules", trial.after, lines)


def _show(heading: str, text: str, lines: int) -> None:
    found = text.split("\n")
    typer.secho(f"── {heading} ({len(found)} lines)", bold=True)
    for line in found[:lines]:
        typer.echo(printable(line))
    if len(found) > lines:
        typer.echo(f"… {len(found) - lines} more (--lines shows them)")


async def _try(home: Path | None, url: str, wish: PageRules | None, *, live: bool) -> tuple[Preview, PageRules | None]:
    node = open_node(home)
    async with node.store() as store:
        page = await store.pages.get(url)
        if page is not None and wish is None:
            (page,) = with_tag_rules([page], await store.pages.tag_rules())
            wish = page.page_rules
        if page is not None and page.fingerprint is not None and not live:
            visit = await version_at(store, page, None)
            version = read_version(node.reader().read, visit, node.settings.fetch.max_decoded)
            return preview(version.body, version.header("content-type"), url, wish), wish
        visited = await node.visit_once(store, url, wish)
    content, answer = visited.content, visited.answer
    if visited.failure is not None or answer is None:
        why = f"{visited.failure.kind}: {visited.failure.detail}" if visited.failure is not None else "no answer"
        raise UsageError(f"{url} could not be visited ({why}).")
    if status_class(answer.status or 0) is not StatusClass.CONTENT:
        raise UsageError(f"{url} has no content to compare: the answer is status {answer.status}.")
    if content is not None:
        return preview(content.body, content.content_type, url, wish), wish
    body = node.decoded(answer)
    return preview(body, answer.header("content-type"), answer.url, wish), wish
