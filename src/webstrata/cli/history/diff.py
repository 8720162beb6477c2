"""`webstrata diff URL`: the differences between two versions of a page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from webstrata.cli.options import HomeOption, JsonOption, UrlArgument
from webstrata.cli.output import date_time, iso_or_none, print_json, printable
from webstrata.cli.session import open_node, run_async, time_range
from webstrata.detect.diff.difference import Difference, SetDifference
from webstrata.detect.diff.html import as_html
from webstrata.detect.diff.json import JsonEdit
from webstrata.detect.diff.table import TableDifference
from webstrata.flows.crawl.parse import with_tag_rules
from webstrata.flows.versions import Version, read_version, two_versions, version_difference, watched_page
from webstrata.records import PageRules


def command(
    address: UrlArgument,
    since: Annotated[
        str | None,
        typer.Option("--from", metavar="T", help="Old version: the one at this time.", show_default=False),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="T", help="New version: the one at this time. Default: the newest.", show_default=False
        ),
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Compare the source instead of the useful text.")] = False,
    html: Annotated[bool, typer.Option("--html", help="Print a self-contained HTML page.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write to this file instead of stdout.", show_default=False)
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the differences between two versions of a page. Without times, show its last change."""
    start, end = time_range(since, until)
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
    before_name, after_name = f"{url} {date_time(before.visit.at)}", f"{url} {date_time(after.visit.at)}"
    difference = version_difference(before, after, page_rules, raw=raw, before_name=before_name, after_name=after_name)
    if as_json:
        print_json(_document(url, before, after, difference, raw=raw))
        return
    if html:
        text = as_html(difference, title=url, before_name=before_name, after_name=after_name)
    else:
        text = "\n".join(_text_lines(difference))
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


def _document(url: str, before: Version, after: Version, difference: Difference, *, raw: bool) -> dict[str, Any]:
    return {
        "url": url,
        "from": iso_or_none(before.visit.at),
        "to": iso_or_none(after.visit.at),
        "layer": "raw" if raw else "text",
        "diff": _lines(difference.unified),
        "links": difference.links,
        "triples": difference.triples,
        "table": difference.table,
        "json": difference.json,
    }


def _text_lines(difference: Difference) -> Iterator[str]:
    """For display: the triples, cells or values of data, else a unified diff; then the links."""
    if difference.triples is not None:
        yield from _set_lines("triples", difference.triples)
    elif difference.table is not None:
        yield from _table_lines(difference.table)
    elif difference.json is not None:
        yield from (_edit(edit) for edit in difference.json)
    else:
        yield from _lines(difference.unified)
    if difference.links is not None:
        yield from _set_lines("links", difference.links)


def _set_lines(name: str, difference: SetDifference) -> Iterator[str]:
    if difference.added or difference.removed:
        yield f"@@ {name}: {difference.added_count} added, {difference.removed_count} removed @@"
    yield from (f"-{member}" for member in difference.removed)
    yield from (f"+{member}" for member in difference.added)


def _table_lines(difference: TableDifference) -> Iterator[str]:
    if difference == TableDifference(key=difference.key):
        return
    yield (
        f"@@ table: {difference.rows_added_count} rows added, {difference.rows_removed_count} removed, "
        f"{difference.cells_count} cells changed @@"
    )
    yield from (f"-column {name}" for name in difference.columns_removed)
    yield from (f"+column {name}" for name in difference.columns_added)
    yield from (f" {cell.key} {cell.column}: {cell.before} → {cell.after}" for cell in difference.cells)
    yield from (f"-{' | '.join(row)}" for row in difference.rows_removed)
    yield from (f"+{' | '.join(row)}" for row in difference.rows_added)


def _edit(edit: JsonEdit) -> str:
    before, after = (json.dumps(value, ensure_ascii=False) for value in (edit.before, edit.after))
    if edit.change == "changed":
        return f" {edit.path}: {before} → {after}"
    return f"+{edit.path}: {after}" if edit.change == "added" else f"-{edit.path}: {before}"


def _lines(text: str) -> list[str]:
    """The lines, split at line feeds only: other line separators belong to the text of the page."""
    return text.removesuffix("\n").split("\n") if text else []
