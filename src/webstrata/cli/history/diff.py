"""`webstrata diff URL`: what changed between two versions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from webstrata.cli.output import moment, print_json, printable, when
from webstrata.cli.session import HomeOption, JsonOption, open_node, run_async, window
from webstrata.detect.diff.difference import Difference, SetDifference
from webstrata.detect.diff.html import as_html
from webstrata.detect.diff.json import JsonEdit
from webstrata.detect.diff.table import TableDifference
from webstrata.flows.crawl.parse import with_tag_rules
from webstrata.flows.versions import Version, read_version, two_versions, version_difference, watched_page
from webstrata.records import PageRules


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

    async def read() -> tuple[Version, Version, PageRules | None]:
        async with node.store() as store:
            page = await watched_page(store, address)
            (page,) = with_tag_rules([page], await store.pages.tag_rules())
            before, after = await two_versions(store, page, start, end, raw=raw)
            read, limit = node.reader().read, node.settings.fetch.max_decoded
            return read_version(read, before, limit), read_version(read, after, limit), page.page_rules

    before, after, page_rules = run_async(read)
    url = after.visit.url
    before_name, after_name = f"{url} {moment(before.visit.at)}", f"{url} {moment(after.visit.at)}"
    found = version_difference(before, after, page_rules, raw=raw, before_name=before_name, after_name=after_name)
    if as_json:
        print_json(_document(url, before, after, found, raw=raw))
        return
    text = (
        as_html(found, title=url, before_name=before_name, after_name=after_name) if html else "\n".join(_shown(found))
    )
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


def _document(url: str, before: Version, after: Version, found: Difference, *, raw: bool) -> dict[str, Any]:
    return {
        "url": url,
        "from": when(before.visit.at),
        "to": when(after.visit.at),
        "layer": "raw" if raw else "text",
        "diff": _lines(found.unified),
        "links": found.links,
        "triples": found.triples,
        "table": found.table,
        "json": found.json,
    }


def _shown(found: Difference) -> Iterator[str]:
    """For a terminal: data by its triples, cells or values where it has them, else lines; then links."""
    if found.triples is not None:
        yield from _members("triples", found.triples)
    elif found.table is not None:
        yield from _cells(found.table)
    elif found.json is not None:
        yield from (_edit(edit) for edit in found.json)
    else:
        yield from _lines(found.unified)
    if found.links is not None:
        yield from _members("links", found.links)


def _members(name: str, found: SetDifference) -> Iterator[str]:
    if found.added or found.removed:
        yield f"@@ {name}: {found.added_count} added, {found.removed_count} removed @@"
    yield from (f"-{member}" for member in found.removed)
    yield from (f"+{member}" for member in found.added)


def _cells(found: TableDifference) -> Iterator[str]:
    if found == TableDifference(key=found.key):
        return
    yield (
        f"@@ table: {found.rows_added_count} rows added, {found.rows_removed_count} removed, "
        f"{found.cells_count} cells changed @@"
    )
    yield from (f"-column {name}" for name in found.columns_removed)
    yield from (f"+column {name}" for name in found.columns_added)
    yield from (f" {cell.key} {cell.column}: {cell.before} → {cell.after}" for cell in found.cells)
    yield from (f"-{' | '.join(row)}" for row in found.rows_removed)
    yield from (f"+{' | '.join(row)}" for row in found.rows_added)


def _edit(edit: JsonEdit) -> str:
    before, after = (json.dumps(value, ensure_ascii=False) for value in (edit.before, edit.after))
    if edit.change == "changed":
        return f" {edit.path}: {before} → {after}"
    return f"+{edit.path}: {after}" if edit.change == "added" else f"-{edit.path}: {before}"


def _lines(text: str) -> list[str]:
    """By the line feed only: other characters that could end a line are the page's own."""
    return text.removesuffix("\n").split("\n") if text else []
