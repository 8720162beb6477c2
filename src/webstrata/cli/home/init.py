"""`webstrata init`: create a home folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webstrata.cli.options import HomeOption, JsonOption
from webstrata.cli.output import print_json, printable
from webstrata.cli.session import home_path, load_settings, run_async
from webstrata.errors import HomeError, UsageError
from webstrata.home import TEMPLATE, Home

if TYPE_CHECKING:
    from webstrata.settings import Settings


def command(
    home: HomeOption = None,
    contact: Annotated[
        str,
        typer.Option(
            help="E-mail address or URL where site owners can reach you; part of the User-Agent header.",
            show_default=False,
        ),
    ] = "",
    store: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The database of the home, like postgresql+psycopg://webstrata@/webstrata; it is written to the settings "
            "file. Default: an SQLite file in the home.",
            show_default=False,
        ),
    ] = None,
    flags: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Write store.url or store.schema to the settings file. May be repeated.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Create a home folder with settings, database and archive. Files of an existing home are not overwritten."""
    from webstrata.node import Node

    path = home_path(home)
    options = _store_options(flags or [], store)
    checked = [*options, *([f"polite.contact={contact}"] if contact else [])]
    load_settings(path, checked)  # first: nothing is created if a value cannot be used
    new = not Home(path).settings_file.exists()
    settings = _create(path, contact, options) if new else _complete(path, options)
    closed = Home(path).close_to_others() if not new else []
    database = Node(Home.open(path), settings).database()
    if as_json:
        print_json(
            {
                "home": str(path),
                "new": new,
                "database": database.as_json(),
                "closed": [str(file) for file in closed],
            }
        )
    elif new:
        typer.echo(f"Created a home in {path}. Next: `webstrata watch URL`, then `webstrata run`.")
        if database.kind != "home":
            typer.echo(f"Its database is {printable(str(database))}.")
        if not settings.polite.contact:
            typer.echo(f"Please set polite.contact in {Home(path).settings_file}, so that site owners can reach you.")
    else:
        changed = "" if closed else "; nothing was changed"
        typer.echo(f"{path} is already a home{changed}.")
        if closed:
            names = ", ".join(str(file.relative_to(path)) if file != path else "the folder" for file in closed)
            typer.echo(f"Other users can no longer read: {names}.")
        if contact and contact != settings.polite.contact:
            typer.echo(f"To change the contact, set polite.contact in {Home(path).settings_file}.", err=True)


def _store_options(flags: list[str], store: str | None) -> list[str]:
    """The settings of the store that the command line names, as `--set` writes them."""
    for flag in flags:
        if not flag.strip().startswith("store."):
            raise UsageError(
                f"init --set takes store.url and store.schema, not {flag!r}. Set others in webstrata.toml."
            )
    return [*flags, *([f"store.url={store}"] if store is not None else [])]


def _create(path: Path, contact: str, options: list[str]) -> Settings:
    """A new home with its database. If the database cannot be created, nothing is left behind."""
    from webstrata.node import store_address

    wanted, _ = load_settings(path, options)  # there is no file yet: from the environment and the options
    text = TEMPLATE
    if contact:
        text = text.replace('contact = ""', f"contact = {_quoted(contact)}")
    if wanted.store.url:
        text += f"\n[store]\nurl = {_quoted(store_address(wanted.store.url))}\n"
        if wanted.store.schema:
            text += f"schema = {_quoted(wanted.store.schema)}\n"
    elif wanted.store.schema:
        raise UsageError("store.schema needs a PostgreSQL database. Name one with --store.")
    with Home.creating(path, text) as created:
        settings, _ = load_settings(path)
        _open_database(created, settings)
    return settings


def _complete(path: Path, options: list[str]) -> Settings:
    """Add what an existing home lacks. Its database is not changed."""
    from webstrata.node import Node, store_address

    settings, _ = load_settings(path)
    asked, _ = load_settings(path, options)
    there, wanted = settings.store, asked.store
    if options and (store_address(wanted.url), wanted.schema) != (store_address(there.url), there.schema):
        raise HomeError(
            f"{path} is already a home, and `init` does not change its database ({Node(Home(path), settings).database()}). "
            "Create another home for the other database with --home. If it is the same database with another address, set "
            f"store.url in {Home(path).settings_file}."
        )
    home, _ = Home.create(path)
    _open_database(home, settings)
    return settings


def _open_database(home: Home, settings: Settings) -> None:
    from webstrata.node import Node

    async def open_and_close() -> None:
        async with Node(home, settings).store():
            pass

    run_async(open_and_close)


def _quoted(text: str) -> str:
    """A TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if char.isprintable() else " " for char in escaped) + '"'
