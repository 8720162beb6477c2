"""`Checkpoint`: the pages of a dataset fetched so far, in a file until the dataset is complete.

A file has a header and the response bodies, each with its length and a checksum, so that an incomplete write is
detected. `whole_dataset.py` decides whether the pages are still valid. Old files are deleted, and no file grows above
a limit.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from struct import Struct as Layout

import msgspec
from msgspec import Struct

from webstrata.clock import DAY_S

MAX_AGE_S = DAY_S
"""Older pages are not used."""
MAX_BYTES = 256_000_000
"""Size of a file, compressed."""
_FRAME = Layout("<II")
_MAX_HEADER = 65_536
_SUFFIX = ".pages"

PageBody = tuple[bytes, str]
"""Body and media type of a response."""


class _Header(Struct, frozen=True):
    endpoint: str
    begun_at: float


class Checkpoints:
    """A folder with one checkpoint for each endpoint."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, endpoint: str, now: float) -> Checkpoint:
        """The checkpoint of an endpoint. Checkpoints of all endpoints that are too old are deleted."""
        for path in self._folder.glob(f"*{_SUFFIX}"):
            header = _header(path)
            if header is None or not 0 <= now - header.begun_at <= MAX_AGE_S:
                _delete(path)
        name = hashlib.sha256(endpoint.encode("utf-8", "replace")).hexdigest()[:32]
        return Checkpoint(self._folder / f"{name}{_SUFFIX}", endpoint)


class Checkpoint:
    """The checkpoint of one endpoint. If it cannot be written, it is given up without an error."""

    def __init__(self, path: Path, endpoint: str) -> None:
        self._path = path
        self._endpoint = endpoint
        self._size = 0
        """Size of the valid part of the file."""
        self._given_up = False

    def pages(self) -> list[PageBody]:
        """The saved pages, in order."""
        try:
            content = self._path.read_bytes()
        except OSError:
            return []
        frames = list(_frames(content))
        self._size = sum(_FRAME.size + len(frame) for frame in frames)
        parts = [frame.partition(b"\n") for frame in frames[1:]]
        return [(zlib.decompress(body), media_type.decode("ascii")) for media_type, _, body in parts]

    def add(self, page: PageBody, now: float) -> None:
        """Save another page."""
        if self._given_up:
            return
        body, media_type = page
        frame = _framed(media_type.encode("ascii", "replace") + b"\n" + zlib.compress(body, 1))
        if not self._size:
            frame = _framed(msgspec.json.encode(_Header(self._endpoint, now))) + frame
        if self._size + len(frame) > MAX_BYTES:
            self.give_up()
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("r+b" if self._size else "wb") as file:
                file.seek(self._size)
                file.truncate()
                file.write(frame)
            self._size += len(frame)
        except OSError:
            self.give_up()

    def give_up(self) -> None:
        """Delete the file and save no further pages."""
        self.remove()
        self._given_up = True

    def remove(self) -> None:
        self._size = 0
        _delete(self._path)


def _delete(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _framed(content: bytes) -> bytes:
    return _FRAME.pack(len(content), zlib.crc32(content)) + content


def _frames(content: bytes) -> Iterator[bytes]:
    """The frames up to the first that is incomplete or damaged."""
    offset = 0
    while len(content) >= offset + _FRAME.size:
        length, crc = _FRAME.unpack_from(content, offset)
        offset += _FRAME.size + length
        frame = content[offset - length : offset]
        if len(frame) != length or zlib.crc32(frame) != crc:
            return
        yield frame


def _header(path: Path) -> _Header | None:
    try:
        with path.open("rb") as file:
            header = next(_frames(file.read(_MAX_HEADER)), b"")
        return msgspec.json.decode(header, type=_Header)
    except (OSError, msgspec.MsgspecError):
        return None
