"""`webstrata export`: captures for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from webstrata import urls
from webstrata.cli.output import bar, counted, print_json, size
from webstrata.cli.session import HomeOption, JsonOption, open_node, window
from webstrata.clock import digits14
from webstrata.errors import UsageError

app = typer.Typer(help="Write captures for other tools: WARC, WACZ, CDXJ.", no_args_is_help=True)

Kind = Literal["wacz", "warc", "cdxj"]
_ENDINGS: dict[Kind, str] = {"wacz": ".wacz", "warc": ".warc.gz", "cdxj": ".cdxj"}

OutArgument = Annotated[Path, typer.Argument(metavar="FILE", show_default=False, help="The file to write.")]
UrlOption = Annotated[str | None, typer.Option("--url", help="Only captures below this address.")]
MatchOption = Annotated[
    Literal["exact", "prefix", "host", "domain"], typer.Option("--match", help="How --url is meant.")
]
FromOption = Annotated[str | None, typer.Option("--from", metavar="T", help="Not before this time.")]
ToOption = Annotated[str | None, typer.Option("--to", metavar="T", help="Not after this time.")]


@app.command()
def wacz(
    out: OutArgument,
    url: UrlOption = None,
    match: MatchOption = "prefix",
    since: FromOption = None,
    until: ToOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """One WACZ file: records, index and pages, ready for a replay tool."""
    _export("wacz", out, url, match, since, until, home, as_json)


@app.command()
def warc(
    out: OutArgument,
    url: UrlOption = None,
    match: MatchOption = "prefix",
    since: FromOption = None,
    until: ToOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """One WARC file with the captures and the originals that they refer to."""
    _export("warc", out, url, match, since, until, home, as_json)


@app.command()
def cdxj(
    out: OutArgument,
    url: UrlOption = None,
    match: MatchOption = "prefix",
    since: FromOption = None,
    until: ToOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """The index lines, sorted."""
    _export("cdxj", out, url, match, since, until, home, as_json)


def _export(
    kind: Kind,
    out: Path,
    url: str | None,
    match: Literal["exact", "prefix", "host", "domain"],
    since: str | None,
    until: str | None,
    home: Path | None,
    as_json: bool,
) -> None:
    if not out.name.endswith(_ENDINGS[kind]):
        raise UsageError(f"{out} should end in {_ENDINGS[kind]}.")
    start, end = window(since, until)
    with bar(f"writing {out.name}") as on_progress:
        count = open_node(home).export(
            kind,
            out,
            url=urls.canonical(url) if url else None,
            match=match,
            since=digits14(start) if start is not None else "",
            until=digits14(end) if end is not None else "",
            on_progress=on_progress,
        )
    if not count:
        typer.echo("webstrata: nothing that is archived fits; the file is empty.", err=True)
    if as_json:
        print_json({"file": str(out), "captures": count, "bytes": out.stat().st_size})
    else:
        typer.echo(f"{counted(count, 'capture')}, {size(out.stat().st_size)}: {out}")
