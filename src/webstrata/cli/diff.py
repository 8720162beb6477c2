"""`webstrata diff URL`: what changed between two versions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from webstrata.cli.output import moment, print_json, printable, when
from webstrata.cli.session import HomeOption, JsonOption, open_node, run_async, window
from webstrata.detect.textdiff import as_html, unified
from webstrata.flows.recall import Version, recall, text_of, two_versions, watched_page


def command(
    address: Annotated[str, typer.Argument(metavar="URL", show_default=False)],
    since: Annotated[str | None, typer.Option("--from", metavar="T", help="The version as of this time.")] = None,
    until: Annotated[
        str | None, typer.Option("--to", metavar="T", help="The version as of this time; else the newest.")
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Compare the source, not the useful text.")] = False,
    html: Annotated[bool, typer.Option("--html", help="One self-contained page to look at.")] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write to this file.")] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the difference between two versions of a page; without times, its last change."""
    start, end = window(since, until)
    node = open_node(home)

    async def read() -> tuple[Version, Version]:
        async with node.store() as store:
            page = await watched_page(store, address)
            before, after = await two_versions(store, page, start, end, raw=raw)
            read, limit = node.reader().read, node.settings.fetch.max_decoded
            return recall(read, before, limit), recall(read, after, limit)

    before, after = run_async(read)
    old, new = text_of(before, raw=raw), text_of(after, raw=raw)
    url = after.visit.url
    before_name, after_name = f"{url} {moment(before.visit.at)}", f"{url} {moment(after.visit.at)}"
    text = unified(old, new, before_name=before_name, after_name=after_name)
    if as_json:
        layer = "raw" if raw else "text"
        print_json(
            {
                "url": url,
                "from": when(before.visit.at),
                "to": when(after.visit.at),
                "layer": layer,
                "diff": _lines(text),
            }
        )
        return
    if html:
        text = as_html(old, new, title=url, before_name=before_name, after_name=after_name)
    if out is not None:
        out.write_text(text, encoding="utf-8")
        typer.echo(f"wrote {out}", err=True)
    elif html:
        typer.echo("\n".join(map(printable, _lines(text))))
    elif text:
        for line in _lines(text):
            typer.secho(printable(line), fg={"+": "green", "-": "red", "@": "cyan"}.get(line[:1]))
    else:
        typer.echo("No difference.")


def _lines(text: str) -> list[str]:
    """By the line feed only: other characters that could end a line are the page's own."""
    return text.removesuffix("\n").split("\n") if text else []
