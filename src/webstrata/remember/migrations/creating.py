"""Creating tables and indexes in migrations: only those of the wanted part, on SQLite with checksums of the rows."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import context, op

_POLITENESS = ("addresses", "host_leases", "hosts", "politeness_clocks", "robots")
"""Tables that the homes of a PostgreSQL database share; they are in a schema of their own."""

row_id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def create_table(name: str, *parts: Any, **options: Any) -> None:
    """On SQLite every row has a checksum of its other columns (`webstrata.remember.integrity.row_checksums`)."""
    if not _is_wanted(name):
        return
    if op.get_context().dialect.name == "sqlite":
        names = ", ".join(f'"{part.name}"' for part in parts if isinstance(part, sa.Column))
        computed = sa.Computed(f"row_checksum({names})", persisted=True)
        parts = (*parts, sa.Column("checksum", sa.BigInteger(), computed))
    op.create_table(name, *parts, **options)


def create_index(name: str, table: str, columns: list[str], **options: Any) -> None:
    """An index of a table of the wanted part."""
    if _is_wanted(table):
        op.create_index(name, table, columns, **options)


def _is_wanted(table: str) -> bool:
    """Whether the present migration is for the part of the tables to which this one belongs."""
    part: str = context.config.attributes["part"]
    return part == "all" or (table in _POLITENESS) == (part == "politeness")
