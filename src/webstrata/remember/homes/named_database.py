"""`NamedDatabase`: the database that the settings of a home name; the home keeps the one for which it was made.

A home never changes its database by itself: if a variable of the environment is missing, or a line of the settings was
deleted, a command must fail and not open an empty database.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from webstrata.errors import HomeError
from webstrata.remember.engine import sqlite_file, without_password
from webstrata.remember.homes.store_home import StoreHome, is_schema_name, own_schema


class NamedDatabase(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which database, without its password."""

    kind: Literal["home", "sqlite", "postgresql"]
    """`home`: the SQLite file in the home folder."""
    url: str = ""
    schema: str = ""
    shares: bool = False
    """Whether the schema is one that the settings name, so that several homes may use it."""

    def __str__(self) -> str:
        """For messages."""
        if self.kind == "home":
            return "webstrata.db in its folder"
        return f"{self.url} (schema {self.schema})" if self.schema else self.url

    def as_json(self) -> dict[str, str | None]:
        """For the JSON output of commands."""
        return {"kind": self.kind, "url": self.url or None, "schema": self.schema or None}

    def encoded(self) -> str:
        """The content of the file `database` of a home."""
        return msgspec.json.encode(self).decode()

    def store_home(self, node: str) -> StoreHome:
        return StoreHome(node=node, schema=self.schema, shares=self.shares, is_inside=self.kind == "home")

    def require_same(self, recorded: NamedDatabase, home: Path) -> None:
        """Raise HomeError if the home was made for a database of another kind, or for another schema."""
        if (self.kind, self.schema, self.shares) == (recorded.kind, recorded.schema, recorded.shares):
            return
        raise HomeError(
            f"the home {home} was made for the database {recorded}, and the settings name {self}. "
            f"{recorded.remedy(home)}"
        )

    def remedy(self, home: Path) -> str:
        """What to do if the settings name another database than this one, for which the home was made."""
        if self.kind == "home":
            do = "Remove store.url and store.schema from webstrata.toml and from the environment (WEBSTRATA_STORE_URL)."
        else:
            schema = f', store.schema to "{self.schema}"' if self.shares else ""
            do = f'Set store.url to "{self.url}"{schema} in {home / "webstrata.toml"} (or WEBSTRATA_STORE_URL).'
        return (
            f"{do} To use another database, create another home; or, to make the database again from the archive, "
            f"delete {home / 'database'} and run `webstrata rebuild`."
        )


def decoded(text: str, home: Path) -> NamedDatabase:
    """The content of the file `database` of a home."""
    try:
        found = msgspec.json.decode(text, type=NamedDatabase)
        if found.schema and not is_schema_name(found.schema):
            raise ValueError(found.schema)
    except (msgspec.MsgspecError, ValueError):
        raise HomeError(
            f"{home / 'database'}, which says for which database the home was made, is damaged. Restore it from a "
            "backup; or delete it, if you are sure that the settings name the right database."
        ) from None
    return found


def named_database(
    url: str, schema: str, *, node: str, own_file: Path, recorded: NamedDatabase | None
) -> NamedDatabase:
    """The database that these settings name. A home that shares its tables with no other one keeps its schema."""
    if not url:
        return NamedDatabase(kind="home")
    if file := sqlite_file(url):
        if file.absolute() == own_file.absolute():
            return NamedDatabase(kind="home")
        return NamedDatabase(kind="sqlite", url=without_password(url))
    own = recorded.schema if recorded is not None and recorded.schema and not recorded.shares else own_schema(node)
    return NamedDatabase(kind="postgresql", url=without_password(url), schema=schema or own, shares=bool(schema))
