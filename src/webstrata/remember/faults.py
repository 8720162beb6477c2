"""What a database error means: worth another try, or a text that says what to do."""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy.exc import DBAPIError

from webstrata.errors import StoreError

_SQLITE_TRANSIENT = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_SQLITE_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}

# Serialization failure, deadlock, lock and statement timeouts, too many connections, server going down or up.
_POSTGRES_TRANSIENT = {"40001", "40P01", "55P03", "57014", "53300", "57P01", "57P02", "57P03"}
_POSTGRES_FULL = {"53100"}
_STARTING_OR_STOPPING = ("starting up", "shutting down", "recovery mode", "too many clients")


def is_transient(error: DBAPIError) -> bool:
    """The same transaction may succeed if tried again."""
    if error.connection_invalidated:
        return True
    if isinstance(error.orig, sqlite3.Error):
        return _sqlite_code(error.orig) in _SQLITE_TRANSIENT
    state = getattr(error.orig, "sqlstate", None)
    if state is not None:
        return state in _POSTGRES_TRANSIENT or state.startswith("08")
    return _is_lost_connection(str(error.orig))


def explained(error: DBAPIError, where: str, tried_s: float) -> StoreError:
    """The error for people; `where` names the database without its password."""
    cause = str(error.orig).strip().partition("\n")[0]
    if isinstance(error.orig, sqlite3.Error):
        return StoreError(_sqlite_text(_sqlite_code(error.orig), cause, where, tried_s))
    if getattr(error.orig, "sqlstate", None) in _POSTGRES_FULL:
        return StoreError(f"no space left for the database {where} ({cause}). Free some, then start again.")
    if is_transient(error):
        return StoreError(
            f"the database {where} did not answer for {tried_s:.0f} s ({cause}). Nothing half-written is kept. "
            "See that the server runs and can be reached, then start again."
        )
    return StoreError(f"the database {where} refused: {cause}. See its address, user and rights in the settings.")


def _sqlite_code(error: Any) -> int:
    # The low byte is the kind, the rest says where it happened. Python's own complaints have no code.
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def _sqlite_text(code: int, cause: str, where: str, tried_s: float) -> str:
    if code in _SQLITE_DAMAGED:
        return (
            f"the database {where} is damaged ({cause}). The archive is not affected. Stop every webstrata process, "
            "run `webstrata check` for the extent, then restore a backup, or move the file away and run "
            "`webstrata reindex` to rebuild what the WARC files hold."
        )
    if code in _SQLITE_TRANSIENT:
        return (
            f"the database {where} was locked by another process for {tried_s:.0f} s ({cause}). "
            "Stop the other process, or wait until it is done."
        )
    if code == sqlite3.SQLITE_FULL:
        return f"no space left for the database {where} ({cause}). Free some, then start again."
    if code in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}:
        return f"the database {where} cannot be opened for writing ({cause}). See that its folder exists and is yours."
    return f"the database {where} failed ({cause}). See the disk and the rights of the file, then start again."


def _is_lost_connection(cause: str) -> bool:
    """Of errors without a code (no session yet, or no more): all but a server that clearly says no."""
    return "FATAL" not in cause or any(phrase in cause for phrase in _STARTING_OR_STOPPING)
