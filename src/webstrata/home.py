"""The home folder, which contains all data of one archiver, and its lock, which only one crawler can hold.

webstrata.toml     settings
webstrata.db       SQLite database (unless the settings name another database)
archive/           WARC files; the name of a file that is still written ends in `.open`
index/             one sorted CDXJ segment per WARC file
captures/          the journal and the WACZ file of each capture of a site, and the log of their certificates
readings/          rows of datasets whose reading was interrupted; kept for one day
keys/              the private keys that sign packages of captures, and what is known about them
node               the name of this archiver, which identifies its leases
database           which database the home uses; written when the database is created
writing            there while a crawl writes to the database
lock               locked while a crawl runs
fault              the present fault of this machine, as the last crawl met it
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

import platformdirs

from webstrata.errors import DamagedStore, HomeError

TEMPLATE = """\
# Webstrata settings. `webstrata settings` lists every key with its value, source and description.

[polite]
# E-mail address or URL where site owners can reach you; part of the User-Agent header.
contact = ""

[budget]
# Budget for all visits, like "500/day" or "2GB/day". Empty: six visits per page and day,
# at most 600 for all pages, but at least one per page and day.
total = ""

[schedule]
policy = "value"
"""


class Home:
    """The paths of a home folder. `create` creates them; `open` requires that they exist."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.settings_file = path / "webstrata.toml"
        self.database = path / "webstrata.db"
        self.archive = path / "archive"
        self.index = path / "index"
        self.captures = path / "captures"
        self.keys = path / "keys"
        self.readings = path / "readings"
        self._fault = path / "fault"
        self._database_name = path / "database"
        self._writing = path / "writing"

    @classmethod
    def default(cls) -> Path:
        """The platform's folder for application data."""
        return platformdirs.user_data_path("webstrata")

    @classmethod
    def open(cls, path: Path) -> Home:
        home = cls(path)
        if not home.settings_file.exists():
            raise HomeError(f"{path} is not a Webstrata home. Create it with `webstrata --home {path} init`.")
        return home

    @classmethod
    def create(cls, path: Path, settings: str = TEMPLATE) -> tuple[Home, bool]:
        """Create a home, or add what an existing one lacks; existing files are kept. Returns (home, is new)."""
        home = cls(path)
        new = not home.settings_file.exists()
        try:
            for folder in (home.path, home.archive, home.index):
                folder.mkdir(parents=True, exist_ok=True)
            if new:
                home.settings_file.write_text(settings, encoding="utf-8")
            if not (name := path / "node").exists():
                name.write_text(f"node-{secrets.token_hex(4)}\n", encoding="ascii")
        except OSError as problem:
            raise HomeError(
                f"cannot create a home in {path}: {problem.strerror}. Choose another folder with --home."
            ) from None
        return home, new

    @property
    def node_name(self) -> str:
        try:
            return (self.path / "node").read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            raise HomeError(
                f"the file `node` of {self.path} is missing or damaged. `webstrata --home {self.path} init` creates it."
            ) from None

    @property
    def is_writable(self) -> bool:
        """Whether this process may create files in the home."""
        return os.access(self.path, os.W_OK)

    def require_writable(self) -> None:
        """Raise HomeError if this process may not create files in the home."""
        if not self.is_writable:
            raise HomeError(
                f"the home {self.path} is read-only, and this command writes to it. Make the folder and its files "
                "writable, or copy the home to another folder and name the copy with --home."
            )

    def uses_database(self, name: str) -> bool:
        """Whether this home has had this database, or has archived anything: then it must not get an empty one."""
        try:
            if self._database_name.read_text(encoding="utf-8").strip() == name:
                return True
        except (OSError, UnicodeDecodeError):
            pass
        return self.archive.is_dir() and any(
            ".warc" in file.name or ".arc" in file.name for file in self.archive.iterdir()
        )

    def remember_database(self, name: str) -> None:
        """Store which database the home uses, unless it is stored already, or the home may not be written."""
        if not self.is_writable:
            return
        try:
            if not self._database_name.exists() or self._database_name.read_text(encoding="utf-8").strip() != name:
                self._database_name.write_text(f"{name}\n", encoding="utf-8")
        except (OSError, UnicodeDecodeError) as problem:
            raise HomeError(f"{self._database_name} cannot be written: {problem}. Correct its permissions.") from None

    @contextmanager
    def writing(self) -> Iterator[None]:
        """While the database is open for a crawl, which holds the lock: see `require_log`."""
        self._writing.touch()
        try:
            yield
        finally:
            self._writing.unlink(missing_ok=True)

    def require_log(self, database: Path, *, locked: bool) -> None:
        """Raise DamagedStore if a crawl was killed while it wrote to this SQLite file, and the file's log is gone.

        SQLite would open the database without the commits that only the log had. After a normal end there is no log.
        `locked`: the caller holds the lock of the home.
        """
        if not self._writing.exists() or not (locked or self._is_free()):
            return
        log = database.with_name(database.name + "-wal")
        if not log.exists():
            raise DamagedStore(
                f"the write-ahead log {log} is missing: the last crawl was killed, and its latest commits were only "
                "there",
                "The archive is not affected. Put the file back, restore a backup, or run `webstrata rebuild "
                "--replace` to make the database again from the archive. To go on without these commits, delete "
                f"{self._writing}.",
            )
        if self.is_writable:
            self._writing.unlink(missing_ok=True)

    def database_replaced(self) -> None:
        """The log of the last crawl belongs to a database that is not used any more."""
        self._writing.unlink(missing_ok=True)

    def _is_free(self) -> bool:
        try:
            with self.undisturbed():
                return True
        except HomeError:
            return False

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Keep crawls away while the home is only read. A home that may not be written is locked without writing."""
        if self.is_writable:
            with self.locked():
                yield
            return
        try:
            file = (self.path / "lock").open("rb")
        except FileNotFoundError:  # it was never crawled, or it is a copy without the file
            yield
            return
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                raise self._in_use(file.read().decode("ascii", "replace")) from None
            yield

    def note_fault(self, what: str, at: float) -> None:
        """Store a fault of this machine for `status`; an empty text if it is over.

        Errors are ignored: the disk may be full.
        """
        with suppress(OSError):
            if what:
                self._fault.write_text(json.dumps({"what": what, "at": at}), encoding="utf-8")
            else:
                self._fault.unlink(missing_ok=True)

    def fault(self) -> tuple[str, float] | None:
        """The fault of this machine that the last crawl met, and its time."""
        try:
            found = json.loads(self._fault.read_text(encoding="utf-8"))
            return str(found["what"]), float(found["at"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the home for a crawl. If it is locked, raise HomeError with the id of the process that holds it."""
        with self._lock_file() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                raise self._in_use(file.read()) from None
            file.truncate(0)
            file.write(f"process {os.getpid()}")
            file.flush()
            try:
                yield
            finally:
                file.truncate(0)

    def _in_use(self, holder: str) -> HomeError:
        by = holder.strip() or "another process"
        return HomeError(f"{self.path} is in use by {by}. Wait for it, stop it, or use another --home.")

    def _lock_file(self) -> TextIO:
        self.require_writable()
        try:
            return (self.path / "lock").open("a+", encoding="ascii", errors="replace")
        except OSError as problem:
            raise HomeError(
                f"cannot write in {self.path}: {problem.strerror}. Correct its permissions, or use another --home."
            ) from None

    def disk_bytes(self) -> dict[str, int]:
        """The sizes of the parts of the home on disk."""
        return {
            "archive": _size(self.archive),
            "index": _size(self.index),
            "database": sum(_size(file) for file in self.path.glob("webstrata.db*")),
        }


def _size(path: Path) -> int:
    if path.is_dir():
        return sum(_size(child) for child in path.iterdir())
    return path.stat().st_size if path.exists() else 0
