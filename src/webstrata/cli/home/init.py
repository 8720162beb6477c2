"""`webstrata init`: make a home."""

from __future__ import annotations

from typing import Annotated

import typer

from webstrata import settings as settings_file
from webstrata.cli.output import print_json
from webstrata.cli.session import HomeOption, JsonOption, home_path, run_async
from webstrata.home import Home
from webstrata.node import Node


def command(
    home: HomeOption = None,
    contact: Annotated[
        str, typer.Option(help="Address or URL for the user agent, so that site owners can reach you.")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Make a home folder: settings, database, archive. An existing one is completed, never overwritten."""
    path = home_path(home)
    made, new = Home.create(path)
    if contact and new:
        text = made.settings_file.read_text(encoding="utf-8")
        made.settings_file.write_text(text.replace('contact = ""', f"contact = {_quoted(contact)}"), encoding="utf-8")
    settings, _ = settings_file.load(path)

    async def open_database() -> None:
        async with Node(made, settings).store():
            pass

    run_async(open_database)
    if as_json:
        print_json({"home": str(path), "new": new})
    elif new:
        typer.echo(f"Made a home in {path}. Next: `webstrata watch URL`, then `webstrata run`.")
        if not settings.polite.contact:
            typer.echo(f"Please set polite.contact in {made.settings_file}: site owners should be able to reach you.")
    else:
        typer.echo(f"{path} is a home already; nothing was changed.")
        if contact and contact != settings.polite.contact:
            typer.echo(f"To change the contact, set polite.contact in {made.settings_file}.", err=True)


def _quoted(text: str) -> str:
    """A TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if char.isprintable() else " " for char in escaped) + '"'
