"""What is checked whenever an SQLite database is opened, because SQLite itself would notice it late or never: that the
file has its full length, and that no table is missing. `check` examines everything else."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection

from webstrata.remember.db_thread import damaged, shown
from webstrata.remember.tables import metadata

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100


def require_whole_file(path: Path) -> None:
    """Raise StoreError if the file is shorter than its header says. While there is a log, its end may be there."""
    log = path.with_name(path.name + "-wal")
    if not path.exists() or (log.exists() and log.stat().st_size):
        return
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        return  # SQLite says what is wrong
    page_bytes, pages = int.from_bytes(header[16:18]), int.from_bytes(header[28:32])
    wanted = pages * (65_536 if page_bytes == 1 else page_bytes)
    size = path.stat().st_size  # after the header was read: a file that another process extends only grows
    if size < wanted:
        raise damaged(f"the file has {size} of {wanted} bytes", str(path))


def require_tables(connection: Connection) -> None:
    """Raise StoreError if a table is missing. PostgreSQL is not asked: it says so when the table is used."""
    if connection.dialect.name != "sqlite":
        return
    found = set(connection.exec_driver_sql("SELECT name FROM sqlite_schema WHERE type = 'table'").scalars())
    if missing := sorted(metadata.tables.keys() - found):
        raise damaged(f"missing tables: {', '.join(missing)}", shown(connection.engine.url))
