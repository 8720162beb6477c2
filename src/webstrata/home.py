"""The home folder, which contains all data of one archiver, and its lock, which only one crawler can hold.

webstrata.toml     settings
webstrata.db       SQLite database (unless the settings name another database)
archive/           WARC files; the name of a file that is still written ends in `.open`
index/             one sorted CDXJ segment per WARC file
captures/          the journal and the WACZ file of each capture of a site, and the log of their certificates
readings/          rows of datasets whose reading was interrupted; kept for one day
model.json         the classifier of pages at first sight that `train` has learned from this home
keys/              the private keys that sign packages of captures, and what is known about them
node               the name of this archiver, which identifies its leases
database           for which database the home was made; written when the database is created
writing            there while a crawl writes to the database
lock               locked while a crawl runs
fault              the present fault of this machine, as the last crawl met it

Only the owner can enter the folder (mode 0700), and read settings, keys and database (0600), whatever the umask is.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import stat
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


FOLDER_MODE = 0o700
FILE_MODE = 0o600


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
        self.model = path / "model.json"
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
            home.path.mkdir(parents=True, exist_ok=True)
            if not any(home.path.iterdir()):  # a folder with other files may be there for others as well
                home.path.chmod(FOLDER_MODE)
            for folder in (home.archive, home.index):
                folder.mkdir(parents=True, exist_ok=True)
            if new:
                _write_private(home.settings_file, settings)  # the address of the database may contain a password
            if not (name := path / "node").exists():
                _write_private(name, f"node-{secrets.token_hex(4)}\n")
        except OSError as problem:
            raise HomeError(
                f"cannot create a home in {path}: {problem.strerror}. Choose another folder with --home."
            ) from None
        return home, new

    @classmethod
    @contextmanager
    def creating(cls, path: Path, settings: str) -> Iterator[Home]:
        """Create a home for the block. If the block fails, everything that was created in the folder is removed."""
        folders = [path, *path.parents]
        missing = [folder for folder in folders if not folder.exists()]
        before = set(path.iterdir()) if path.is_dir() else set()
        try:
            home, _ = cls.create(path, settings)
            yield home
        except BaseException:
            created = [child for child in path.iterdir() if child not in before] if path.is_dir() else []
            for child in created:
                if child.is_dir():
                    shutil.rmtree(child)
                else:
                    child.unlink()
            for folder in missing:
                with suppress(OSError):
                    folder.rmdir()
            raise

    def open_to_others(self) -> list[tuple[Path, int, int]]:
        """What other users may enter, read or write: (path, its mode, the mode it should have)."""
        keys = (self.keys, *self.keys.glob("*")) if self.keys.is_dir() else ()
        database = self.path.glob("webstrata.db*")
        wide = []
        for path in (self.path, self.settings_file, *keys, *database):
            with suppress(OSError):  # SQLite may delete its side files at any time
                mode = stat.S_IMODE(path.stat().st_mode)
                wanted = FOLDER_MODE if path.is_dir() else FILE_MODE
                if mode & ~FOLDER_MODE and not mode & stat.S_ISVTX:  # sticky: a folder for everybody, like /tmp
                    wide.append((path, mode, wanted))
        return wide

    def close_to_others(self) -> list[Path]:
        """Correct the modes of what is open to other users; returns what was changed."""
        changed = []
        for path, _, wanted in self.open_to_others():
            with suppress(OSError):  # it belongs to another user, or to a file system without modes
                path.chmod(wanted)
                changed.append(path)
        return changed

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

    def has_captures(self) -> bool:
        """Whether anything is archived: then the home must not get an empty database."""
        return self.archive.is_dir() and any(
            ".warc" in file.name or ".arc" in file.name for file in self.archive.iterdir()
        )

    def recorded_database(self) -> str | None:
        """What `remember_database` has stored; None in a home that never had a database."""
        try:
            return self._database_name.read_text(encoding="utf-8", errors="replace").strip()
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise HomeError(f"{self._database_name} cannot be read: {problem}. Correct its permissions.") from None

    def remember_database(self, name: str) -> None:
        """Store for which database the home was made, unless it is stored already, or the home may not be written."""
        if self.recorded_database() == name or not self.is_writable:
            return
        try:
            _write_private(self._database_name, f"{name}\n")
        except OSError as problem:
            raise HomeError(f"{self._database_name} cannot be written: {problem}. Correct its permissions.") from None

    @contextmanager
    def writing(self) -> Iterator[None]:
        """While the database is open for a crawl, which holds the lock: see `require_log`."""
        self._writing.touch(mode=FILE_MODE)
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
                _write_private(self._fault, json.dumps({"what": what, "at": at}))
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
            return open(self.path / "lock", "a+", encoding="ascii", errors="replace", opener=_open_private)
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


def _write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read. A file that exists keeps its mode."""
    with open(path, "w", encoding="utf-8", opener=_open_private) as file:
        file.write(text)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, FILE_MODE)


def _size(path: Path) -> int:
    if path.is_dir():
        return sum(_size(child) for child in path.iterdir())
    return path.stat().st_size if path.exists() else 0
