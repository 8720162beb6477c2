"""`webstrata diff URL`: the differences between two versions of a page, or all changes of a period."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from webstrata.cli.history.difference_text import ShownAs, move_json, write_html, write_text
from webstrata.cli.history.visit_text import warn_of_cuts
from webstrata.cli.options import HomeOption, JsonOption, UrlArgument
from webstrata.cli.output import date_time, iso_or_none, print_json
from webstrata.cli.session import instant_or_ago, open_node, run_async, time_range
from webstrata.errors import UsageError
from webstrata.flows.versions import Version, read_version, two_versions, watched_page
from webstrata.records import Page

if TYPE_CHECKING:
    from webstrata.detect.diff.difference import Difference


def command(
    address: UrlArgument,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="TIME",
            help="All changes since this time or in this duration before now (30d), newest first.",
            show_default=False,
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME", help="Old version: the one at this time.", show_default=False),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="TIME", help="New version: the one at this time. Default: the newest.", show_default=False
        ),
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Compare the source instead of the useful text.")] = False,
    words: Annotated[
        bool,
        typer.Option(
            "--words", help="Print both versions of a changed line in one line, with [-removed-] and {+added+} words."
        ),
    ] = False,
    lines: Annotated[
        int | None,
        typer.Option(
            "--lines",
            metavar="N",
            min=1,
            help="Maximum number of lines of each change. Default: 40 with --since, otherwise all.",
            show_default=False,
        ),
    ] = None,
    noise: Annotated[
        bool,
        typer.Option(
            "--noise", help="Also show what differs in places that are learned as noise (see `noise`), after the rest."
        ),
    ] = False,
    html: Annotated[bool, typer.Option("--html", help="Print a self-contained HTML page.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write to this file instead of stdout.", show_default=False)
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the differences between two versions of a page. Without times, show its last change.

    On a terminal the changed words of each line are marked. With --since, show all changes of a period, each with its
    time, kind, significance, reasons and difference.
    """
    from webstrata.detect.diff.html_page import as_html
    from webstrata.flows.tag_rules import with_tag_rules
    from webstrata.flows.version_content import version_difference
    from webstrata.flows.version_noise import learned_noise

    first, last = time_range(start, until)
    shown = ShownAs(words=words, html=html, json=as_json, out=out, max_lines=lines, noise=noise)
    node = open_node(home)
    if since is not None:
        if start is not None or raw:
            raise UsageError("--since shows the changes that count: leave out --from and --raw.")
        from webstrata.cli.history.diff_story import show_story

        show_story(node, address, instant_or_ago(since, node.clock.now()), last, shown)
        return

    async def read() -> tuple[Version, Version, Page]:
        async with node.store() as store:
            page = await watched_page(store, address)
            (page,) = with_tag_rules([page], await store.pages.tag_rules())
            before, after = await two_versions(store, page, first, last, raw=raw)
            read, limit = node.reader().read, node.settings.fetch.max_decoded
            return read_version(read, before, limit), read_version(read, after, limit), page

    before, after, page = run_async(read)
    url = after.visit.url
    warn_of_cuts([before.visit, after.visit])
    names = [f"{url} {date_time(version.visit.at)}" for version in (before, after)]
    difference = version_difference(
        before,
        after,
        page.page_rules,
        raw=raw,
        before_name=names[0],
        after_name=names[1],
        noise=learned_noise(page),
    )
    if as_json:
        print_json(_document(url, before, after, difference, raw=raw))
    elif html:
        write_html([as_html(difference, title=url)], out)
    elif difference.empty and out is None:
        typer.echo("No difference." if difference.noise is None else "No difference but learned noise.")
        write_text(shown.text(difference), out)
    else:
        write_text(shown.text(difference), out)


def _document(url: str, before: Version, after: Version, difference: Difference, *, raw: bool) -> dict[str, Any]:
    return {
        "url": url,
        "from": iso_or_none(before.visit.at),
        "to": iso_or_none(after.visit.at),
        "layer": "raw" if raw else "text",
        "move": move_json(difference),
        **_forms(difference),
        "noise": None if difference.noise is None else _forms(difference.noise),
    }


def _forms(difference: Difference) -> dict[str, Any]:
    binary = difference.binary
    return {
        "diff": _lines(difference.unified),
        "outside": _lines(difference.outside_unified),
        "attributes": difference.attributes,
        "links": difference.links,
        "triples": difference.triples,
        "table": difference.table,
        "json": difference.json,
        "feed": difference.feed,
        "sheets": difference.sheets,
        "binary": binary and {name: getattr(binary, name) for name in ("before", "after", "pixels", "sentence")},
    }


def _lines(text: str) -> list[str]:
    """The lines, split at line feeds only: other line separators belong to the text of the page."""
    return text.removesuffix("\n").split("\n") if text else []
