"""How far imports have read their sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, select

from webstrata.records import ImportProgress
from webstrata.remember import statements
from webstrata.remember.tables import imports
from webstrata.remember.text import named, packed, required

_skipped = msgspec.json.Decoder(dict[str, int])
_COLUMNS = [
    imports.c.key, imports.c.position, imports.c.read, imports.c.kept, imports.c.skipped, imports.c.at,
    imports.c.is_finished,
]  # fmt: skip


def put(connection: Connection, progress: ImportProgress) -> None:
    """Replace the stored progress of an import."""
    values = {
        "key": named(progress.key, "name of an import"),
        "position": required(progress.position),
        "read": progress.read,
        "kept": progress.kept,
        "skipped": packed(progress.skipped),
        "at": progress.at,
        "is_finished": progress.is_finished,
    }
    statements.put(connection, imports, "key", [values])


def progress_of(connection: Connection, key: str) -> ImportProgress | None:
    """The stored progress of an import."""
    row = connection.execute(select(*_COLUMNS).where(imports.c.key == required(key))).first()
    return None if row is None else _progress(row)


def all_imports(connection: Connection) -> list[ImportProgress]:
    """All imports, latest first."""
    found = connection.execute(select(*_COLUMNS).order_by(imports.c.at.desc(), imports.c.key))
    return [_progress(row) for row in found]


def _progress(row: Sequence[Any]) -> ImportProgress:
    key, position, read, kept, skipped, at, is_finished = row
    return ImportProgress(
        key=key,
        position=position,
        read=read,
        kept=kept,
        skipped=_skipped.decode(skipped),
        at=at,
        is_finished=is_finished,
    )
