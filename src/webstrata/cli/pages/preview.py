"""`webstrata preview URL`: the content that would be compared, before and after the rules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from webstrata import urls
from webstrata.cli.options import (
    HomeOption,
    JsonOption,
    RuleValues,
    UrlArgument,
    page_rules_json,
    page_rules_of,
    with_rule_options,
)
from webstrata.cli.output import counted, print_json, printable, size
from webstrata.cli.session import open_node, run_async
from webstrata.errors import UsageError
from webstrata.flows.versions import read_version, version_at
from webstrata.records import PageRules

if TYPE_CHECKING:
    from webstrata.flows.preview import Preview


@with_rule_options(
    *("handler", "layer", "select", "ignore", "ignore_text", "unordered", "ordered", "indentation", "accept", "query"),
    *("attributes", "ignore_attributes"),
)
def command(
    *,
    address: UrlArgument,
    rules: RuleValues,
    live: Annotated[
        bool, typer.Option("--live", help="Visit the page now, even if a version of it is archived.")
    ] = False,
    lines: Annotated[int, typer.Option(min=1, help="Maximum number of lines to show of each text.")] = 40,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the content of a page that would be compared, before and after the rules.

    Uses the newest archived version, or visits the page if there is none. No version is stored. Without rules on
    the command line, the rules of the page apply.
    """
    url = urls.canonical(address)
    given_rules = page_rules_of(**rules)
    shown, page_rules = run_async(lambda: _preview(home, url, given_rules, live=live))
    if as_json:
        print_json(
            {
                "url": url,
                "media_type": shown.media_type,
                "layers": shown.layers,
                "rules": page_rules_json(page_rules),
                "before": shown.before,
                "after": shown.after,
                "attributes": msgspec.to_builtins(shown.attributes),
                "note": shown.note,
                "fingerprint": msgspec.to_builtins(shown.fingerprint),
            }
        )
        return
    typer.echo(f"{printable(url)}  {shown.media_type}, compared by {', then '.join(shown.layers)}")
    if shown.note:
        typer.echo(f"note: {printable(shown.note)}")
    _print("before the rules" if shown.after is not None else "useful content", shown.before, lines)
    if shown.after is not None:
        _print("after the rules", shown.after, lines)
    if shown.attributes:
        written = [f"{one.kind} {one.name}: {one.value}" for one in shown.attributes]
        _print("attributes that count", "\n".join(written), lines)


def _print(heading: str, text: str, max_lines: int) -> None:
    lines = text.split("\n")
    typer.secho(f"── {heading} ({counted(len(lines), 'line')})", bold=True)
    for line in lines[:max_lines]:
        typer.echo(printable(line))
    if len(lines) > max_lines:
        typer.echo(f"… {counted(len(lines) - max_lines, 'more line')} (--lines N shows more)")


async def _preview(
    home: Path | None, url: str, page_rules: PageRules | None, *, live: bool
) -> tuple[Preview, PageRules | None]:
    """The preview, and the rules that were applied: those of the page with those given, or else those of its tags."""
    from webstrata.detect.response_class import StatusClass, status_class
    from webstrata.flows.preview import preview
    from webstrata.flows.tag_rules import with_tag_rules

    node = open_node(home)
    async with node.store() as store:
        page = await store.pages.get(url)
        if page is not None and page.page_rules is not None and page_rules is not None:
            page_rules = page.page_rules.extended(page_rules)  # as `rules` would set them
        elif page is not None and page_rules is None:
            (page,) = with_tag_rules([page], await store.pages.tag_rules())
            page_rules = page.page_rules
        if page is not None and page.fingerprint is not None and not live:
            visit = await version_at(store, page, None)
            version = read_version(node.reader().read, visit, node.settings.fetch.max_decoded)
            if version.large is not None:
                raise UsageError(
                    f"the archived body ({size(version.size)}) is larger than fetch.max_parsed and is compared by its "
                    "bytes: no rule applies to it. Raise fetch.max_parsed to parse it."
                )
            return preview(version.body, version.header("content-type"), url, page_rules), page_rules
        result = await node.visit_once(store, url, page_rules)
    content, response = result.content, result.answer
    if result.failure is not None or response is None:
        why = f"{result.failure.kind}: {result.failure.detail}" if result.failure is not None else "no response"
        raise UsageError(f"{url} could not be visited ({why}). Check the URL, or try again later.")
    if status_class(response.status or 0) is not StatusClass.CONTENT:
        raise UsageError(f"{url} has no content to compare: the server responded with status {response.status}.")
    if content is not None:
        return preview(content.body, content.content_type, url, page_rules), page_rules
    body = node.decoded(response)
    return preview(body, response.header("content-type"), response.url, page_rules), page_rules
