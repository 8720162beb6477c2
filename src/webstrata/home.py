"""The home folder: where everything of one archiver lives, and the lock that only one crawler holds.

webstrata.toml     settings
webstrata.db       SQLite (unless the settings name another database)
archive/           WARC files; a growing one ends in `.open`
index/             one sorted CDXJ segment per WARC
captures/          of each capture of a site its journal and its WACZ
readings/          pages of datasets whose reading was interrupted; for a day
signing.key        the private key that signs certificates of captures
node               this archiver's name: who holds a lease
lock               held while a crawl runs
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import platformdirs

from webstrata.errors import HomeError

TEMPLATE = """\
# Webstrata settings. `webstrata settings` lists every key, what it means and where its value comes from.

[polite]
# Who can a site's owner write to? An address or URL; it becomes part of the user agent.
contact = ""

[budget]
# Visits or bytes of all pages together, as "500/day" or "2GB/day"; empty: one visit per page and day on average.
total = ""

[schedule]
policy = "value"
"""


class Home:
    """Paths of one home; `create` makes them, `open` insists on them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.settings_file = path / "webstrata.toml"
        self.database = path / "webstrata.db"
        self.archive = path / "archive"
        self.index = path / "index"
        self.captures = path / "captures"
        self.readings = path / "readings"

    @classmethod
    def default(cls) -> Path:
        """Where the platform keeps such data."""
        return platformdirs.user_data_path("webstrata")

    @classmethod
    def open(cls, path: Path) -> Home:
        home = cls(path)
        if not home.settings_file.exists():
            raise HomeError(f"{path} is not a Webstrata home. Make one with `webstrata --home {path} init`.")
        return home

    @classmethod
    def create(cls, path: Path, settings: str = TEMPLATE) -> tuple[Home, bool]:
        """Make a home, or complete an existing one; what is there stays. Returns it and whether it is new."""
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
            raise HomeError(f"cannot make a home in {path}: {problem.strerror}. Choose another with --home.") from None
        return home, new

    @property
    def node_name(self) -> str:
        try:
            return (self.path / "node").read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            raise HomeError(
                f"{self.path} has lost its name (the file `node`). `webstrata --home {self.path} init` gives it one."
            ) from None

    def signing_key(self, make: Callable[[], bytes]) -> bytes:
        """The key that signs certificates of captures; made when first needed, readable by its owner only."""
        file = self.path / "signing.key"
        try:
            if not file.exists():
                part = file.with_suffix(".part")
                part.unlink(missing_ok=True)
                with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
                    opened.write(make())
                    opened.flush()
                    os.fsync(opened.fileno())
                part.rename(file)
            return file.read_bytes()
        except OSError as problem:
            raise HomeError(f"{file} cannot be used: {problem.strerror}. Mend its permissions.") from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the home for a crawl; a second one is told who has it."""
        with self._lock_file() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                holder = file.read().strip() or "another process"
                raise HomeError(
                    f"{self.path} is in use by {holder}. Wait for it, stop it, or use another --home."
                ) from None
            file.truncate(0)
            file.write(f"process {os.getpid()}")
            file.flush()
            try:
                yield
            finally:
                file.truncate(0)

    def _lock_file(self) -> TextIO:
        try:
            return (self.path / "lock").open("a+", encoding="ascii", errors="replace")
        except OSError as problem:
            raise HomeError(
                f"cannot write in {self.path}: {problem.strerror}. Mend its permissions, or use another --home."
            ) from None

    def disk_bytes(self) -> dict[str, int]:
        """What the parts of the home take on the disk."""
        return {
            "archive": _size(self.archive),
            "index": _size(self.index),
            "database": sum(_size(file) for file in self.path.glob("webstrata.db*")),
        }


def _size(path: Path) -> int:
    if path.is_dir():
        return sum(_size(child) for child in path.iterdir())
    return path.stat().st_size if path.exists() else 0
