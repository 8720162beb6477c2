"""A WARC file that grows: whole batches are written and synced, and the file is renamed when it is finished."""

from __future__ import annotations

import os
from pathlib import Path

from webstrata.archive.warc.file_name import warc_name
from webstrata.archive.warc.walk import OPEN_SUFFIX
from webstrata.errors import ArchiveError


class GrowingFile:
    """The file `NAME.open` in a folder. `size` counts only bytes that were written and synced."""

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
            self.close()
            raise unwritable(self._path, error) from error

    def append(self, data: bytes) -> None:
        """Write and sync. If that fails, close the file and raise ArchiveError.

        After a failed sync the state of the disk is unknown: the kernel may drop the pages whose write failed and
        report success at the next sync, so a sync is never repeated. The file keeps the suffix `.open` and is
        truncated to the bytes that were synced before; the repair at the next start finishes it.
        """
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._fd, view) :]
            if self._fsync:
                os.fdatasync(self._fd)
        except OSError as error:
            self._discard_unsynced()
            raise unwritable(self._path, error) from error
        self.size += len(data)

    def finish(self) -> None:
        """Sync the file and rename it to its final name."""
        try:
            if self._fsync:
                os.fsync(self._fd)
            self.close()
            self._path.rename(self._folder / self.name)
            sync_folder(self._folder, self._fsync)
        except OSError as error:
            raise unwritable(self._path, error) from error

    def close(self) -> None:
        """Close the file without renaming it; the repair at the next start finishes it."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def _discard_unsynced(self) -> None:
        """Truncate the file to its synced bytes, remove it if it has none, and close it."""
        try:
            os.ftruncate(self._fd, self.size)
            if not self.size:
                self._path.unlink()
        except OSError:
            pass  # the repair at the next start cuts the torn end
        finally:
            self.close()


def create_growing_file(
    folder: Path, at: float, serial: int, node_name: str, *, fsync: bool
) -> tuple[GrowingFile, int]:
    """A new file with a name that is not used in the folder, and the serial number in that name."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    while True:
        name = warc_name(at, serial, node_name)
        if not (folder / name).exists() and not (folder / (name + OPEN_SUFFIX)).exists():
            return GrowingFile(folder, name, fsync=fsync), serial
        serial += 1


def sync_folder(folder: Path, fsync: bool = True) -> None:
    """Sync the entries of a folder: a synced file is lost if the entry with its name is not."""
    if not fsync:
        return
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def write_atomically(path: Path, data: bytes, *, fsync: bool = True) -> None:
    """Replace a file atomically: after a crash it has the old content or the new one, never a part."""
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
        raise unwritable(path, error) from error


def unwritable(path: Path, error: OSError) -> ArchiveError:
    """The error of a file of the archive that cannot be written, with what to do."""
    return ArchiveError(
        f"cannot write {path}: {error.strerror or error}. Free some space or repair the disk. Captures archived "
        "before are safe; visits that were not written will be repeated."
    )
