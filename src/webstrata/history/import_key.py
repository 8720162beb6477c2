"""What an import reads, so that it can continue: the same file again has the same key."""

from __future__ import annotations

import hashlib
from pathlib import Path

_SHOWN = 16


def file_key(kind: str, path: Path, size: int, beginning: bytes, *options: str) -> str:
    """The key of a file: its path, its size, a digest of its beginning, and options that change what is read."""
    digest = hashlib.sha256(beginning).hexdigest()[:_SHOWN]
    return " ".join((kind, str(path.resolve()), str(size), digest, *options))


def archive_name(path: Path) -> str:
    """The name of the archive of a file that tells none: its name without the endings."""
    return path.name.partition(".")[0] or path.name
