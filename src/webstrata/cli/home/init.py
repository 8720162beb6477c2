"""`webstrata init`: create a home folder."""

from __future__ import annotations

from typing import Annotated

import typer

from webstrata import settings as settings_file
from webstrata.cli.options import HomeOption, JsonOption
from webstrata.cli.output import print_json
from webstrata.cli.session import home_path, run_async
from webstrata.home import Home


def command(
    home: HomeOption = None,
    contact: Annotated[
        str,
        typer.Option(
            help="E-mail address or URL where site owners can reach you; part of the User-Agent header.",
            show_default=False,
        ),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Create a home folder with settings, database and archive. Files of an existing home are not overwritten."""
    from webstrata.node import Node

    path = home_path(home)
    created, new = Home.create(path)
    file = created.settings_file
    if contact and new:
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace('contact = ""', f"contact = {_quoted(contact)}"), encoding="utf-8")
    settings, _ = settings_file.load(path)

    async def open_database() -> None:
        async with Node(created, settings).store():
            pass

    run_async(open_database)
    if as_json:
        print_json({"home": str(path), "new": new})
    elif new:
        typer.echo(f"Created a home in {path}. Next: `webstrata watch URL`, then `webstrata run`.")
        if not settings.polite.contact:
            typer.echo(f"Please set polite.contact in {file}, so that site owners can reach you.")
    else:
        typer.echo(f"{path} is already a home; nothing was changed.")
        if contact and contact != settings.polite.contact:
            typer.echo(f"To change the contact, set polite.contact in {file}.", err=True)


def _quoted(text: str) -> str:
    """A TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if char.isprintable() else " " for char in escaped) + '"'
