"""Opening an SQLite file that may not be written, without creating files beside it.

SQLite reads a database with a write-ahead log through a file `-shm`, which it creates if there is none. So there are
three cases:

1. There is no log, or an empty one, and no `-shm`: no process has the database open, and the file is complete. It is
   opened as immutable.
2. There are a log and a `-shm`: another process writes to the database, or one was killed. SQLite reads both files.
3. There is a log, but no `-shm`: a process was killed, and the files were copied. They are copied once more, to a
   temporary folder where SQLite may work, and this copy is read.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sqlite3
import tempfile
from pathlib import Path
from urllib.parse import quote

from webstrata.errors import StoreError


def is_writable(path: Path) -> bool:
    """Whether the file can be changed: SQLite writes its log to the same folder."""
    return os.access(path.parent, os.W_OK) and os.access(path, os.W_OK)


def readable_uri(path: Path) -> str:
    """The SQLite URI by which the file can be read."""
    log, shared = (path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))
    if not shared.exists() and not (log.exists() and log.stat().st_size):
        return _uri(path, "mode=ro&immutable=1")
    uri = _uri(path, "mode=ro")
    return uri if _can_be_opened(uri) else _uri(_copied(path, log), "mode=rw")


def _uri(path: Path, options: str) -> str:
    return f"file:{quote(str(path.absolute()))}?{options}"


def _can_be_opened(uri: str) -> bool:
    connection = sqlite3.connect(uri, uri=True)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema")
    except sqlite3.OperationalError as error:
        return error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
    except sqlite3.DatabaseError:
        return True  # it is damaged, which is told when it is used
    finally:
        connection.close()
    return True


def _copied(path: Path, log: Path) -> Path:
    """A copy of the file and its log, deleted when the program ends."""
    folder = Path(tempfile.mkdtemp(prefix="webstrata-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        shutil.copyfile(path, folder / path.name)
        if log.exists():
            shutil.copyfile(log, folder / log.name)
    except OSError as problem:
        raise StoreError(
            f"the database {path} has commits in its log {log.name}, which can be read only in a copy, and it cannot "
            f"be copied to {folder} ({problem.strerror}). Name another folder in TMPDIR, or make the home writable."
        ) from None
    return folder / path.name
