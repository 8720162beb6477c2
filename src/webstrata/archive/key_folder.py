"""The folder of the private keys that sign packages. Only its owner can read it."""

from __future__ import annotations

import os
from pathlib import Path

from webstrata.archive.warc.growing import sync_folder
from webstrata.errors import HomeError


class KeyFolder:
    """Satisfies `ports.KeyFiles`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, name: str) -> bytes | None:
        try:
            return (self.path / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise _unusable(self.path / name, problem) from None

    def write(self, name: str, data: bytes) -> None:
        file, part = self.path / name, self.path / f".{name}.part"
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            part.unlink(missing_ok=True)
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
                opened.write(data)
                opened.flush()
                os.fsync(opened.fileno())
            part.rename(file)
            sync_folder(self.path)
        except OSError as problem:
            raise _unusable(file, problem) from None


def _unusable(file: Path, problem: OSError) -> HomeError:
    return HomeError(f"{file} cannot be used: {problem.strerror}. Correct its permissions.")
