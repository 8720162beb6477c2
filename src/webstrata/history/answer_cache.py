"""`AnswerCache`: answers of archives' servers in a folder, so that an import that is repeated does not ask again.

An answer is a gzip file, of which the first line is a JSON object with the request. A file that cannot be read is as
good as missing.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import zlib
from pathlib import Path

import msgspec
from msgspec import Struct

from webstrata.records import ServerAnswer

MAX_BYTES = 500 * 10**6
"""Size of all answers together: the oldest are removed."""
_MAX_ANSWER_BYTES = 50 * 10**6
"""A larger answer, as it was sent, is not kept."""
_FOLDER_MODE = 0o700
_FILE_MODE = 0o600
_LEVEL = 1


class _AnswerHeader(Struct, kw_only=True):
    request: str
    url: str
    status: int
    until: float
    at: float


class AnswerCache:
    """Keeps answers (`ports.AnswerStore`). Several processes may use a folder."""

    def __init__(self, folder: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self._folder = folder
        self._max_bytes = max_bytes

    def get(self, url: str, now: float) -> ServerAnswer | None:
        """The answer to a request that is not too old."""
        try:
            with gzip.open(self._file(url), "rb") as file:
                header = msgspec.json.decode(file.readline(1 << 16), type=_AnswerHeader)
                # A time before the answer: the clock was set back, and the age of the answer is not known.
                if header.request != url or not header.at <= now < header.until:
                    return None
                return ServerAnswer(url=header.url, status=header.status, body=file.read(_MAX_ANSWER_BYTES + 1))
        except (OSError, EOFError, zlib.error, msgspec.DecodeError):
            return None

    def put(self, url: str, answer: ServerAnswer, *, now: float, until: float) -> None:
        """Keep an answer until then, or until newer answers need its room. A full disk is no error."""
        if len(answer.body) > _MAX_ANSWER_BYTES:
            return
        header = _AnswerHeader(request=url, url=answer.url, status=answer.status, at=now, until=until)
        data = gzip.compress(msgspec.json.encode(header) + b"\n" + answer.body, _LEVEL)
        file = self._file(url)
        part = file.with_name(f"{file.name}.{os.getpid()}.part")
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            with open(part, "wb", opener=_open_private) as written:
                written.write(data)
            part.replace(file)
            self._make_room()

    def _make_room(self) -> None:
        """Remove the oldest files until the rest is small enough."""
        files = [(entry.stat(), entry.path) for entry in os.scandir(self._folder)]
        known = sorted((file.st_mtime, file.st_size, path) for file, path in files)
        total = sum(size for _, size, _ in known)
        for _, size, path in known:
            if total <= self._max_bytes:
                break
            Path(path).unlink(missing_ok=True)
            total -= size

    def _file(self, url: str) -> Path:
        return self._folder / f"{hashlib.sha256(url.encode()).hexdigest()[:40]}.gz"


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, _FILE_MODE)
