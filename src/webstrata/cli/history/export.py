"""`webstrata export`: write archived captures to a WACZ, WARC or CDXJ file, or tables of visits, for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from webstrata import urls
from webstrata.cli.history.export_tables import add_table_commands
from webstrata.cli.options import FromOption, HomeOption, JsonOption, ToOption
from webstrata.cli.output import counted, print_json, progress_bar, size
from webstrata.cli.session import open_node, time_range
from webstrata.clock import digits14
from webstrata.errors import UsageError

app = typer.Typer(
    help="Write a file for other tools: archived captures (WACZ, WARC, CDXJ), or a table of visits, changes or "
    "forecasts (Parquet, CSV).",
    no_args_is_help=True,
)

Kind = Literal["wacz", "warc", "cdxj"]
_ENDINGS: dict[Kind, str] = {"wacz": ".wacz", "warc": ".warc.gz", "cdxj": ".cdxj"}

OutArgument = Annotated[Path, typer.Argument(metavar="FILE", show_default=False, help="The file to write.")]
UrlOption = Annotated[
    str | None, typer.Option("--url", help="Only captures that match this URL (see --match).", show_default=False)
]
MatchOption = Annotated[
    Literal["exact", "prefix", "host", "domain"],
    typer.Option(
        "--match", help="Captures of exactly --url, of URLs that begin with it, of its host, or of its domain."
    ),
]


def _add_command(kind: Kind, description: str) -> None:
    """Add the command that writes files of this kind; all have the same options."""

    @app.command(name=kind, help=description)
    def export(
        out: OutArgument,
        url: UrlOption = None,
        match: MatchOption = "prefix",
        since: FromOption = None,
        until: ToOption = None,
        home: HomeOption = None,
        as_json: JsonOption = False,
    ) -> None:
        if not out.name.endswith(_ENDINGS[kind]):
            raise UsageError(f"the name of the file must end in {_ENDINGS[kind]}: {out}.")
        start, end = time_range(since, until)
        with progress_bar(f"writing {out.name}") as on_progress:
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
            typer.echo("webstrata: no archived capture matches; the file is empty.", err=True)
        if as_json:
            print_json({"file": str(out), "captures": count, "bytes": out.stat().st_size})
        else:
            typer.echo(f"{counted(count, 'capture')}, {size(out.stat().st_size)}: {out}")


_add_command("wacz", "Write a WACZ file with the records, their index and the list of pages, for replay tools.")
_add_command(
    "warc", "Write a WARC file with the captures, and with the original records to which revisit records refer."
)
_add_command("cdxj", "Write the index lines of the captures, sorted.")
add_table_commands(app)
