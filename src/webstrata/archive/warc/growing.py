"""A WARC file while it grows: written in whole batches, synced, renamed when it is finished."""

from __future__ import annotations

import os
from pathlib import Path

from webstrata.archive.warc.walk import OPEN_SUFFIX
from webstrata.errors import ArchiveError


class GrowingFile:
    """`NAME.open` in a folder; `size` counts only bytes that were written and synced."""

    def __init__(self, folder: Path, name: str, *, fsync: bool) -> None:
        self.name = name
        self.size = 0
        self._folder = folder
        self._path = folder / (name + OPEN_SUFFIX)
        self._fsync = fsync
        self._fd = -1
        try:
            self._fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
            sync_folder(folder, fsync)
        except OSError as error:
            self.abandon()
            raise _unwritable(self._path, error) from error

    def append(self, data: bytes) -> None:
        """Write and sync, or give the file up: after a failed sync nobody knows what is on the disk.

        The kernel may drop the pages whose write failed and report success the next time, so a sync is never
        tried again. The file stays `.open`, cut to what was synced before; the next start finishes it.
        """
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._fd, view) :]
            if self._fsync:
                os.fdatasync(self._fd)
        except OSError as error:
            self._give_up()
            raise _unwritable(self._path, error) from error
        self.size += len(data)

    def finish(self) -> None:
        """Final name; the file does not grow any more."""
        try:
            if self._fsync:
                os.fsync(self._fd)
            self.abandon()
            self._path.rename(self._folder / self.name)
            sync_folder(self._folder, self._fsync)
        except OSError as error:
            raise _unwritable(self._path, error) from error

    def abandon(self) -> None:
        """Let go of it as it is: `.open`, for the repair at the next start."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def _give_up(self) -> None:
        try:
            os.ftruncate(self._fd, self.size)
            if not self.size:
                self._path.unlink()
        except OSError:
            pass  # the tail stays torn: the repair at the next start cuts it
        finally:
            self.abandon()


def create(folder: Path, stem: str, serial: int, *, fsync: bool) -> tuple[GrowingFile, int]:
    """A file with a name that nothing in the folder has, and the serial number that made it so."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error
    while True:
        name = f"{stem}-{serial:05d}.warc.gz"
        if not (folder / name).exists() and not (folder / (name + OPEN_SUFFIX)).exists():
            return GrowingFile(folder, name, fsync=fsync), serial
        serial += 1


def sync_folder(folder: Path, fsync: bool = True) -> None:
    """Make names in a folder last: a synced file that no folder lists is lost."""
    if not fsync:
        return
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def write_atomically(path: Path, data: bytes, *, fsync: bool = True) -> None:
    """The whole file or the old one, never a part."""
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            if fsync:
                os.fsync(file.fileno())
        part.rename(path)
        sync_folder(path.parent, fsync)
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> ArchiveError:
    return ArchiveError(
        f"cannot write {path}: {error.strerror or error}. Make room or mend the disk; what was archived before "
        "is safe, and the visits that were not written will be made again."
    )
