"""`StoreHome`: the home for which a database is opened."""

from __future__ import annotations

import re

from msgspec import Struct

POLITENESS_SCHEMA = "webstrata_politeness"
"""The schema of a PostgreSQL database with the tables that all its homes share."""

_LONGEST = 40
"""PostgreSQL cuts names at 63 bytes; a rebuild adds a suffix with a date."""
_NAME = re.compile(rf"[a-z_][a-z0-9_]{{0,{_LONGEST - 1}}}")


class StoreHome(Struct, frozen=True, kw_only=True):
    """Who opens a database, and where its tables are."""

    node: str
    """The name of the archiver."""
    schema: str = ""
    """The schema of its tables on PostgreSQL; the politeness is then in `POLITENESS_SCHEMA`. Empty: all tables are
    where the connection creates tables."""
    shares: bool = False
    """Whether other homes may use the same tables."""
    is_inside: bool = False
    """Whether the database is a file in the folder of the home: then it belongs to it, whoever created it."""


def own_schema(node: str) -> str:
    """The schema of a home that shares its tables with no other one."""
    return f"webstrata_{re.sub('[^a-z0-9]', '_', node.lower())}"[:_LONGEST]


def is_schema_name(name: str) -> bool:
    """Whether a schema may have this name: one that needs no quotes, and is not PostgreSQL's or that of politeness."""
    return _NAME.fullmatch(name) is not None and not name.startswith("pg_") and name != POLITENESS_SCHEMA
